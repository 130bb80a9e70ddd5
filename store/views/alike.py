"""Requests that are alike, so that one verdict may answer them, and what was decided on the very same before.

Permissions are alike that use the same tool in the same folder on one simple command each, and differ in one word of it
at most. Everything else is alike only where it is equal.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from team_console.store.model.message import Message, per_message, without
from team_console.store.model.safe import safe_line
from team_console.store.protocol.client_requests import WHY, denial_of, origin_of, permission_of, why_in
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.titles import message_title
from team_console.store.protocol.tool_input import acting_input, command_in, headline_of
from team_console.store.views.rows import RequestRow

MOST_BEFORE = 5
"""Earlier decisions on the same thing that are shown."""
_PLAIN = r"[A-Za-z0-9_@%+=:,./-]"
_WORD = rf"(?:{_PLAIN}++|\"{_PLAIN}++(?: {_PLAIN}++)*+\"|'{_PLAIN}++(?: {_PLAIN}++)*+')++"
_SIMPLE = re.compile(rf"{_WORD}(?: {_WORD})*+")
"""One command that every shell reads as the words it is written in: no variable, pattern, operator, escape or newline,
and between quotes nothing that would be more than words without them."""
_ASSIGNMENT = re.compile(r"\w+=.*")
"""A word before a command that sets a variable for it: `CI=1`."""
_MOST_WORDS, _LONGEST_COMMAND = 40, 1000
"""A longer command is alike only to an equal one: nobody sees one word of it that differs."""
_HOLE = "…"
_FILE_BEFORE = ("before", "before_at", "before_private")
"""Fields of a permission that tell of the file as it was."""
_NOT_ASKED = frozenset({"request_id", "summary", "session", "client", "asker", "expires", "in_reply_to", WHY})
"""Fields of a request that say who asks, until when and why, not what."""


def causes_of(rows: Iterable[RequestRow]) -> dict[str, str]:
    """Return for the key of each request a text that it shares with precisely those of the others that are alike.

    It can be read by people: the title, with `…` in place of a word that differs, and a digest of all that is equal.
    """
    shapes = {row.key: _shapes_of(row.question) for row in rows}
    number = Counter(shape for found in shapes.values() for shape in found)
    return {key: max(found, key=number.__getitem__) for key, found in shapes.items()}


@per_message
def _shapes_of(question: Message) -> tuple[str, ...]:
    """Return what a request may share with others: all of it, and of a simple command all but one word."""
    equal = _with_digest(message_title(question), [_what_is_asked(question), _circumstances_of(question)])
    if parse_message(question).opens is not RequestKind.PERMISSION:
        return (equal,)
    asked = permission_of(question.payload)
    words = simple_words(asked.input.get("command"))
    rest = {key: value for key, value in acting_input(asked.tool, asked.input).items() if key != "command"}
    around = [asked.tool, rest, origin_of(question.payload).directory, _circumstances_of(question)]
    shapes = (_with_digest(f"{asked.tool}: {shape}", [shape, *around]) for shape in _commands_with_a_hole(words))
    return (equal, *shapes)


def simple_words(command: Any) -> tuple[str, ...]:
    """Return the words of one simple command of plain letters; empty for what a shell could read in another way.

    Words between quotes are words of their own, so that no script hides in one of them.
    """
    if not isinstance(command, str) or len(command) > _LONGEST_COMMAND:
        return ()
    # guard: simple-command
    if _SIMPLE.fullmatch(command) is None:
        return ()
    words = tuple(command.split(" "))
    return words if len(words) <= _MOST_WORDS else ()


def spans_that_differ(questions: Sequence[Message]) -> list[tuple[int, int]]:
    """Return for each of some alike permissions where in its command the word stands that not all of them share.

    Returns:
        First character and the one behind the last; the same twice where nothing differs.
    """
    commands = [simple_words(permission_of(question.payload).input.get("command")) for question in questions]
    length = min(map(len, commands), default=0)
    place = next((place for place in range(length) if len({words[place] for words in commands}) > 1), None)
    if place is None:
        return [(0, 0)] * len(commands)
    starts = (len(" ".join((*words[:place], ""))) for words in commands)
    return [(start, start + len(words[place])) for start, words in zip(starts, commands, strict=True)]


def _commands_with_a_hole(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the command once for each word that may differ: none that names the program, and of an option its value."""
    program = next((place for place, word in enumerate(words) if not _ASSIGNMENT.fullmatch(word)), len(words))
    for place, word in enumerate(words[program + 1 :], start=program + 1):
        # guard: options-are-equal
        hole = f"{word.partition('=')[0]}={_HOLE}" if word.startswith("-") else _HOLE
        yield " ".join((*words[:place], hole, *words[place + 1 :]))


def _with_digest(words: str, equal: list[Any]) -> str:
    """Return the words with a digest of all that is equal."""
    return f"{safe_line(words, 200)} #{_digest(equal)[:12]}"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


@per_message
def _what_is_asked(question: Message) -> str:
    """Return what tells the thing that is asked from every other: of a permission tool, whole input and folder."""
    kind, payload = parse_message(question).opens, question.payload
    if kind is RequestKind.PERMISSION:
        asked = permission_of(payload)
        # guard: same-folder
        return _digest([kind, asked.tool, asked.input, origin_of(payload).directory])
    return _digest([kind, without(payload, _NOT_ASKED)])


def _circumstances_of(question: Message) -> list[Any]:
    """Return what is no part of an input and still makes another decision: the file as it is now, and a denial."""
    payload = question.payload
    return [{key: payload[key] for key in _FILE_BEFORE if key in payload}, bool(denial_of(payload))]


def outcome_of(row: RequestRow, rows: Iterable[RequestRow]) -> str:
    """Return the result of an approved permission by the asker's later requests: `ok`, `exit 1`; empty if unknown."""
    asked = permission_of(row.question.payload)
    done = safe_line(command_in(asked.input) or headline_of(asked).partition(": ")[2]).strip()
    if not done or not row.is_approved or row.answered_at is None:
        return ""
    later = (
        why_in(other.question.payload)
        for other in rows
        if other.asker == row.asker and other.asked_at is not None and other.asked_at >= row.answered_at
    )
    calls = (call for why in later if why is not None for call in why.calls)
    return next((call.state for call in calls if call.subject and _is_call_of(call.subject, done)), "")


def _is_call_of(subject: str, done: str) -> bool:
    """Return whether a line of a transcript, which may be cut, is of this call: `ls` is not `ls -la`."""
    beginning = subject.removesuffix(" …")
    return subject == done if beginning == subject else done.startswith(beginning)


def decided_before(row: RequestRow, rows: Iterable[RequestRow]) -> list[RequestRow]:
    """Return earlier decisions on the very same thing, newest first, at most five.

    Args:
        rows: Every request that is known, those decided newest first.
    """
    thing = _what_is_asked(row.question)
    found = (
        other
        for other in rows
        if other.verdict is not None
        and other.key != row.key
        and other.kind is row.kind
        and (row.asked_at is None or other.answered_at is None or other.answered_at <= row.asked_at)
        and _what_is_asked(other.question) == thing
    )
    return list(islice(found, MOST_BEFORE))
