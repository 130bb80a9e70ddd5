"""Read permissions and questions that agents' clients put to the human: what their messages say, and when they end.

A permission asks whether a tool may be used; a question offers options. Shapes are those of the clients themselves
(Claude Code and Codex hooks, MCP), read leniently: what a foreign writer left out is empty, never an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from io import StringIO
from itertools import islice
from types import MappingProxyType
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from team_console.store.model.clock import from_text
from team_console.store.model.message import Fields, nonempty, without
from team_console.store.model.safe import fenced, safe_line
from team_console.store.protocol.foreign_fields import items_in, mapping_in, mappings_in, text_in
from team_console.store.protocol.kinds import RequestKind

TIMED_OUT = "timed out"
"""The reason of a request that nobody answered before it expired."""
ONCE, ALWAYS = "once", "always"
"""How far a permission goes: this call alone, or every call that a suggestion of the client covers."""
NOTES = "annotations"
"""Field of an answer to a question that holds words beside what was chosen, by question, in the form of clients."""
FURTHER = "further_input"
"""Field of a plan or question of a client that holds what its tool was called with beside that."""
_EXPIRING = frozenset({RequestKind.PERMISSION, RequestKind.QUESTION, RequestKind.PLAN})
_MOST_LINES = 1_000_000
"""Lines that may be left out of an excerpt in one place."""
_NOTHING: Fields = MappingProxyType({})


class Option(Struct, frozen=True):
    """One thing that may be chosen.

    Attributes:
        preview: A text to compare with those of the others: code, a drawing; empty for none.
        rest: Every other field of it, by name.
    """

    label: str
    description: str = ""
    preview: str = ""
    rest: Fields = _NOTHING


class Question(Struct, frozen=True):
    """One question of a request, which may hold several.

    Attributes:
        text: The question itself; answers are kept under it.
        header: A word or two that name it among others; empty when the asker gave none.
        several: Whether more than one option may be chosen.
        rest: Every other field of it, by name, and options that cannot be read as one.
    """

    text: str
    header: str = ""
    options: tuple[Option, ...] = ()
    several: bool = False
    rest: Fields = _NOTHING


class Permission(Struct, frozen=True):
    """A tool that is to be used, and how.

    Attributes:
        input: What the tool is called with, as the client gives it.
        suggestions: What the client itself offers to allow from now on; handed back untouched when chosen.
        before: The file that the tool changes as it was when asked; None when there was none, UNSET when unknown. Of
            the lines that are not on record it has those of the input, or empty ones.
        is_private: Whether it is not on record because others than its owner may not read it.
    """

    tool: str
    input: Fields
    suggestions: tuple[Any, ...] = ()
    before: str | UnsetType | None = UNSET
    is_private: bool = False


class FileExcerpt(Struct, frozen=True):
    """The lines of a file that show what a change does.

    Attributes:
        hunks: For each stretch of them its first line, from 0, and their number, in the old file and in the new one.
    """

    text: str
    hunks: tuple[tuple[int, int, int, int], ...]

    @property
    def as_recorded(self) -> dict[str, Any]:
        """The fields of a permission that keep it."""
        return {"before": self.text, "before_at": [list(hunk) for hunk in self.hunks]}


class Origin(Struct, frozen=True):
    """Where a request comes from: the program, its session and the folder it works in; empty when not said."""

    client: str = ""
    session: str = ""
    directory: str = ""


def permission_of(payload: Fields) -> Permission:
    """Return the permission that a `permission_request` asks for."""
    before, known = payload.get("before", UNSET), mapping_in(payload, "input")
    if isinstance(before, str) and "before_at" in payload:
        before = _restore_file(before, payload["before_at"], known)
    return Permission(
        text_in(payload, "tool"),
        known,
        items_in(payload, "suggestions"),
        before if before is None or isinstance(before, str) else UNSET,
        payload.get("before_private") is True,
    )


def _restore_file(excerpt: str, hunks: Any, given: Fields) -> str | UnsetType:
    """Return the file of which `excerpt` keeps some lines, each in its place; UNSET for places that cannot be.

    Args:
        hunks: As `FileExcerpt.hunks`, of which anybody may have written anything.
        given: The input of the tool. Where it is the whole new file, lines between hunks are the same in both and are
            taken from it; else they are empty.
    """
    content = given.get("content") if given.keys().isdisjoint(("old_string", "edits")) else None
    # Read as files: lines end with a line feed alone, and keep it.
    new = list(StringIO(content, newline="\n")) if isinstance(content, str) else None
    lines = iter(StringIO(excerpt, newline="\n"))
    found: list[str] = []  # the lines of the old file so far
    taken = 0  # lines of the new file that are behind us
    for hunk in hunks if isinstance(hunks, list) else [None]:
        if not isinstance(hunk, list) or len(hunk) != 4 or any(type(number) is not int for number in hunk):
            return UNSET
        old_start, old_count, new_start, new_count = hunk
        gap = old_start - len(found)  # lines of the old file before this hunk that are not on record
        if not (0 <= gap <= _MOST_LINES and old_count >= 0 and new_count >= 0):
            return UNSET
        if new is not None and new_start - gap != taken:  # as many lines lie before the hunk in both files
            return UNSET
        found += ["\n"] * gap if new is None else new[taken:new_start]
        found += islice(lines, min(old_count, _MOST_LINES))
        taken = new_start + new_count
    return "".join(found if new is None else [*found, *new[taken:]])


def questions_of(payload: Fields) -> tuple[Question, ...]:
    """Return the questions of a `question_request`; what cannot be read as one is left out (`rest_of_questions`)."""
    return tuple(_read_question(item) for item in mappings_in(payload, "questions") if text_in(item, "question"))


def rest_of_questions(payload: Fields) -> list[Any]:
    """Return what stands among the questions and can be read as none, so that nobody answers it."""
    given = payload.get("questions")
    if given is None:
        return []
    items = given if isinstance(given, (list, tuple)) else [given]
    return [item for item in items if not isinstance(item, Mapping) or not text_in(item, "question")]


def _read_question(item: Fields) -> Question:
    """Return a question; options that cannot be read as one are kept among its further fields."""
    options, unread = _read_options(item.get("options"))
    told = {"question", "options"}
    if isinstance(item.get("header"), str):
        told.add("header")
    if isinstance(item.get("multiSelect"), bool):
        told.add("multiSelect")
    rest = without(item, told)
    if unread:
        rest["options"] = unread
    return Question(text_in(item, "question"), text_in(item, "header"), options, item.get("multiSelect") is True, rest)


def answers_of(payload: Fields) -> Mapping[str, tuple[str, ...]]:
    """Return question text -> labels or own words, of a `question_response`; empty when it answers nothing."""
    answers = {str(text): tuple(_one_or_more_texts(words)) for text, words in mapping_in(payload, "answers").items()}
    return nonempty(answers)


def answers_text(payload: Fields) -> str:
    """Return the answers of a `question_response` for people: a line for each question, of a single one its answer.

    Words beside an answer stand behind it.
    """
    return answers_in_words(answers_of(payload), notes_of(payload))


def answers_in_words(answers: Mapping[str, Sequence[str]], notes: Mapping[str, str]) -> str:
    """Return answers by question, with the words beside them, as `answers_text` does."""
    told = {
        text: join_answers(words) + (f" ({notes[text]})" if text in notes else "") for text, words in answers.items()
    }
    if len(told) == 1:
        return next(iter(told.values()))
    return "\n".join(f"{text} {words}" for text, words in told.items())


def notes_of(payload: Fields) -> Mapping[str, str]:
    """Return question text -> the human's words beside what was chosen, of a `question_response`."""
    given = mapping_in(payload, NOTES).items()
    notes = {str(text): text_in(each, "notes") for text, each in given if isinstance(each, Mapping)}
    return {text: words for text, words in notes.items() if words.strip()}


def join_answers(words: Sequence[str]) -> str:
    """Return several answers as one text, as clients take them; where a comma stands in one, each in quotes."""
    if len(words) > 1 and any("," in word for word in words):
        return ", ".join(f'"{word}"' for word in words)
    return ", ".join(words)


def rest_of_input(payload: Fields) -> Fields:
    """Return what the tool that hands in a plan or asks a question was called with beside that."""
    return mapping_in(payload, FURTHER)


def origin_of(payload: Fields) -> Origin:
    """Return the origin of a client's request."""
    return Origin(text_in(payload, "client"), text_in(payload, "session"), text_in(payload, "directory"))


def asker_of(payload: Fields) -> str:
    """Return the name under which the process that waits for the answer is present; empty when none was announced."""
    return text_in(payload, "asker")


def denial_of(payload: Fields) -> str:
    """Return why the client itself denied the call; empty when it did not, and waits."""
    return text_in(payload, "denied")


def modes_of(payload: Fields) -> tuple[str, ...]:
    """Return the modes in which a client offers to go on once its plan is approved."""
    return tuple(_one_or_more_texts(items_in(payload, "modes")))


def expiry_of(kind: RequestKind | None, payload: Fields) -> datetime | None:
    """Return when a request expires because its asker waits no longer; None when it does not."""
    value = payload.get("expires")
    return from_text(value) if kind in _EXPIRING and isinstance(value, str) else None


def _read_options(given: Any) -> tuple[tuple[Option, ...], list[Any]]:
    """Return the options, and what stands among them, or in their place, and is none."""
    if not isinstance(given, (list, tuple)):
        return (), [] if given is None else [given]
    options: list[Option] = []
    unread: list[Any] = []
    for item in given:
        if isinstance(item, Mapping) and text_in(item, "label"):
            options.append(_read_option(item))
        elif isinstance(item, str) and item.strip():
            options.append(Option(item))
        else:
            unread.append(item)
    return tuple(options), unread


def _read_option(item: Fields) -> Option:
    """Return an option; what is told of it is none of its further fields."""
    preview = next((key for key in ("preview", "markdown") if text_in(item, key)), "")
    told = {key for key in ("label", "description", preview) if isinstance(item.get(key), str)}
    rest = without(item, told)
    return Option(text_in(item, "label"), text_in(item, "description"), text_in(item, preview), rest)


def _one_or_more_texts(value: Any) -> Iterator[str]:
    """Yield the texts of a list, or the one that stands in its place; blank ones are left out."""
    items = value if isinstance(value, (list, tuple)) else (value,)
    yield from (item for item in items if isinstance(item, str) and item.strip())


# Why a request was made: the extract of its client's transcript that the hook stored with it.

WHY = "why"
"""Field of a request's payload that holds the extract; part of what `digest_of` covers, and so of what is signed."""
MOST_BYTES = 16_384
"""Bytes of one extract as JSON, at most."""


class ToolCall(Struct, frozen=True):
    """A tool that the agent used before it asked.

    Attributes:
        subject: The command, the file, the page; one line.
        state: How it ended: `ok`, `failed`, `exit 1`, or `no result yet`.
    """

    tool: str
    subject: str = ""
    state: str = ""


class Why(Struct, frozen=True):
    """What was said and done before a request; empty where the transcript does not say.

    Attributes:
        user: The last words of the user of the session.
        agent: The last words of the agent before the call.
        calls: Its last tool calls, oldest first, without the one that it asks about.
        missing: Why there is no extract; empty where there is one.
    """

    user: str = ""
    agent: str = ""
    calls: tuple[ToolCall, ...] = ()
    missing: str = ""


def why_in(payload: Fields) -> Why | None:
    """Return the extract of a request; None where nobody stored one."""
    given = payload.get(WHY)
    if not isinstance(given, Mapping):
        return None
    listed = mappings_in(given, "calls")
    calls = [ToolCall(*(text_in(item, key) for key in ("tool", "subject", "state"))) for item in listed]
    return Why(text_in(given, "user"), text_in(given, "agent"), tuple(calls), text_in(given, "missing"))


def why_lines(why: Why | None) -> Iterator[str]:
    """Yield safe lines for people: what is known, and what is not."""
    if why is None or why.missing:
        yield safe_line(f"not known: {why.missing if why is not None else 'it was not asked by the hook of a client'}")
        return
    for head, words in (("the user said last", why.user), ("the agent said last", why.agent)):
        yield f"{head}:" if words else f"{head}: nothing is in the part of the transcript that was read"
        yield from fenced(words) if words else ()
    yield "its last tool calls:" if why.calls else "its last tool calls: none"
    for call in why.calls:
        yield safe_line(
            f"  {call.tool}: {call.subject} · {call.state}" if call.subject else f"  {call.tool} · {call.state}"
        )
