"""Check one message by itself, before it is written and on reading: its frame, its fields, its body, its summary.

Numbers such as 69, and `000-c` for what was settled where a source leaves a choice, are those of
`docs/contributing/requirements.md`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from unicodedata import category

from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import (
    ADDRESS_KEYS,
    UNADDRESSED,
    Fields,
    Message,
    per_message,
    without,
    without_none,
)
from team_console.store.model.names import hint_with_nearest
from team_console.store.model.safe import is_blank
from team_console.store.protocol.client_requests import answers_of, expiry_of, questions_of
from team_console.store.protocol.kinds import (
    FOR_CLIENTS,
    KINDS,
    RESPONSES,
    SEND,
    UNKNOWN,
    Family,
    MessageKind,
    RequestKind,
    kind_of,
    wrong_parts,
)
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.sprint_bodies import check_carried, sprint_content, sprint_problems
from team_console.store.protocol.sprint_in_text import CARRIERS, carried_in


def default_recipients(type: str, to: Sequence[str]) -> tuple[str, ...]:
    """Return the recipients, or the human when an escalation names none (000-c)."""
    return tuple(to) if to or type != "escalate" else UNADDRESSED[type]


_SENDABLE = tuple(
    kind.name for kind in KINDS.values() if SEND in kind.entry_point.split(", ") or kind.name == "broadcast"
)


def as_written(type: str, payload: Fields) -> tuple[str, Fields]:
    """Return the type and payload to store: a sprint kind given by name travels as `NAME: {json}` in a plain
    message.

    Raises:
        TeamError: `INVALID_TYPE` for a sprint kind with a door of its own, `INVALID_FIELD` for a wrong body.
    """
    if kind_of(type).family is not Family.SPRINT:
        return type, payload
    _sendable(type)
    body = without(payload, ("summary", "content"))
    return "message", {"summary": payload.get("summary") or f"{type} for you", "content": sprint_content(type, body)}


def check_outgoing(
    *,
    type: str,
    to: Sequence[str],
    payload: Fields,
    own_kinds: Collection[str] = (),
) -> None:
    """Refuse a message of `send` that would break its protocol.

    `type` is a kind whose door is `send`, one of the team's `own_kinds`, or `broadcast`: questions with an id made by
    us, and verdicts, have verbs of their own. A plain message that carries `NAME: {json}` is checked as that
    sprint message too.

    Raises:
        TeamError: `INVALID_TYPE` (with the nearest kind or the right door), `MISSING_RECIPIENT`, `MISSING_CONTENT`,
            `MISSING_SUMMARY`, `FORBIDDEN_FIELD` or `INVALID_FIELD`, naming the field and the next step.
    """
    kind = _sendable(type, own_kinds)
    if not default_recipients(type, to):
        raise missing_recipient(type)
    for name in ("approve", "approved"):
        # Kinds of seed 003 have payloads of their own, in which it may be any key of the task.
        if kind.family is not Family.ROUTER and payload.get(name) is not None:
            raise forbidden_field(type, name)
    if type in CARRIERS:
        check_text_fields(type, payload)
        carried = carried_in(type, payload)
        if carried is not None and carried.counts and kind_of(carried.name).entry_point:
            check_carried(carried)
    if kind.family is not Family.SPRINT:
        _check_needs(kind, payload)


def check_asked(type: str, payload: Fields) -> None:
    """Refuse a request of a client without what it is about, with an option that has no label, or with two questions,
    or two options of one, that answers could not tell apart.

    Raises:
        TeamError: `INVALID_FIELD`.
    """
    _check_needs(KINDS[type], payload)
    questions = questions_of(payload)
    if any(is_blank(question.text) for question in questions):
        raise TeamError(Code.INVALID_FIELD, f"{type}: a question says nothing", "Ask something.")
    twice = _repeated([question.text for question in questions])
    if twice is not None:
        text = f"{type}: two questions ask {value_words(twice)}"
        raise TeamError(Code.INVALID_FIELD, text, "Ask each once: answers are kept under the question's text.")
    for question in questions:
        # guard: options-told-apart
        twice = _repeated([option.label.strip() for option in question.options])
        if twice is not None:
            text = f"{type}: two options of {value_words(question.text)} are {value_words(twice)}"
            raise TeamError(Code.INVALID_FIELD, text, "Give each its own label: it is what the answer says.")
        if question.rest.get("options") or any(is_blank(option.label) for option in question.options):
            text = f"{type}: an option of {value_words(question.text)} has no label"
            raise TeamError(Code.INVALID_FIELD, text, "Give each a label: it is what the answer says.")


def _repeated(texts: Sequence[str]) -> str | None:
    """Return the first of these texts that stands among them again; None when each stands once."""
    return next((text for text, number in Counter(texts).items() if number > 1), None)


def check_verdict(type: str, fields: Fields) -> None:
    """Refuse a verdict that quotes no request, says neither yes nor no, or says no without a reason (69-78, 93).

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `APPROVE_MISSING`, `INVALID_FIELD` or `MISSING_REASON`.
    """
    request_id, approve, content = (fields.get(name) for name in ("request_id", "approve", "content"))
    if not isinstance(request_id, str) or not request_id.strip():
        what = "is missing" if request_id is None else f"{value_words(request_id)} is not the id of a request"
        hint = "Check the request_id: quote it exactly as the request gives it."
        raise TeamError(Code.INVALID_REQUEST_ID, f"{type}: request_id {what}", hint)
    if approve is None:
        raise TeamError(Code.APPROVE_MISSING, f"{type}: approve is missing", "Add approve: true or false.")
    if not isinstance(approve, bool):
        raise TeamError(Code.INVALID_FIELD, f"approve: {value_words(approve)} is not a boolean", "Send true or false.")
    if content is not None and not isinstance(content, str):
        raise no_text("content", content)
    if not approve and is_blank(content or ""):
        hint = "Add content: why not, and what would be accepted instead."
        raise TeamError(Code.MISSING_REASON, f"{type}: a refusal needs its reason in content", hint)


def check_text_fields(type: str, fields: Fields) -> None:
    """Refuse a message or broadcast without content and summary, both texts (requirements 52, 53, 55, 56).

    Raises:
        TeamError: `MISSING_CONTENT`, `MISSING_SUMMARY` or `INVALID_FIELD`.
    """
    for name, code in (("content", Code.MISSING_CONTENT), ("summary", Code.MISSING_SUMMARY)):
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            raise no_text(name, value)
        if is_blank(value or ""):
            wanted = "the full text" if name == "content" else "5-10 words that say the core"
            raise TeamError(code, f"{type}: {name} is missing", f"Add {name}: {wanted}.")


def no_text(name: str, value: object) -> TeamError:
    """Return the error for a field that is another value than a text."""
    return TeamError(Code.INVALID_FIELD, f"{name}: {value_words(value)} is not a text", f"Send {name} as a text.")


def missing_recipient(type: str) -> TeamError:
    """Return the error for a message that names nobody."""
    return TeamError(Code.MISSING_RECIPIENT, f"{type}: recipient is missing", "Add a recipient: the agent's name.")


def forbidden_field(type: str, name: str) -> TeamError:
    """Return the error for a field that seed 001 section 7.1 rules out."""
    return TeamError(Code.FORBIDDEN_FIELD, f"{type}: {name} does not belong here", f"Remove {name}.")


def invalid_type(type: object, allowed: Sequence[str]) -> TeamError:
    """Return the error for an unknown type word, with the kind it was most likely meant to be."""
    hint = hint_with_nearest(
        type if isinstance(type, str) else "", allowed, f"Check the type field; it is one of {', '.join(allowed)}."
    )
    what = "is missing" if type is None else f"{value_words(type)} is not a type of message"
    return TeamError(Code.INVALID_TYPE, f"type: {what}", hint)


def _sendable(type: str, own_kinds: Collection[str] = ()) -> MessageKind:
    """Return the kind that may be sent this way; `UNKNOWN` for one that only the team's settings know."""
    kind = kind_of(type)
    if kind is UNKNOWN and type in own_kinds:
        return kind
    if kind is UNKNOWN:
        raise invalid_type(type, (*_SENDABLE, *own_kinds))
    if type not in _SENDABLE:
        hint = f"Use its own door: {kind.entry_point}." if kind.entry_point else "It is understood on reading only."
        raise TeamError(Code.INVALID_TYPE, f"type: {type} is not sent this way", hint)
    return kind


def _check_needs(kind: MessageKind, payload: Fields) -> None:
    """Refuse a payload that lacks what its kind needs. Raises `TeamError`: `INVALID_FIELD`, naming the first."""
    for name, what in _wrong_fields(kind, payload):
        hint = f"{kind.name} needs {', '.join(kind.needs)} in its payload."
        raise TeamError(Code.INVALID_FIELD, f"payload.{name} {what}", hint)


def _wrong_fields(kind: MessageKind, payload: Fields) -> Iterator[tuple[str, str]]:
    """Yield the place of each field that a kind needs and that is missing, null or wrong, and what is wrong with it."""
    return wrong_parts(without_none(payload), kind.needs)


def problems_of(read: ParsedMessage) -> tuple[Problem, ...]:
    """Return where one message violates its protocol, with place and next step; remembered."""
    return _problems_in(read.message)


@per_message
def _problems_in(message: Message) -> tuple[Problem, ...]:
    """Return the problems of one message, worked out once for each message object."""
    read = parse_message(message)
    if read.kind is UNKNOWN:
        return read.frame_problems
    if read.kind.family is Family.SPRINT:
        return read.frame_problems + sprint_problems(message)
    return (*read.frame_problems, *_record_problems(read, read.kind))


def _record_problems(read: ParsedMessage, kind: MessageKind) -> Iterator[Problem]:
    """Yield what is wrong with the fields of a record of any kind but those of the sprint."""
    message, payload = read.message, read.message.payload
    if message.type in UNADDRESSED and not any(message.record.get(key) for key in ADDRESS_KEYS):
        text = f"{message.type} names no recipient; it is taken as one to {', '.join(message.recipients)}"
        yield Problem("NO_RECIPIENT", "notice", message.message_id, text, "Give it a recipient if another is meant.")
    for name, what in _wrong_fields(kind, payload):
        yield _field_problem(message, name, what, "warning")
    if lacking := [name for name in kind.usual if payload.get(name) is None]:
        what = f"is missing; it usually carries {', '.join(kind.usual)}"
        yield _field_problem(message, ", ".join(lacking), what, "notice")
    if message.type in CARRIERS:
        for name, severity in (("content", "warning"), ("summary", "notice")):
            if not payload.get(name):
                yield _field_problem(message, name, "is missing", severity)
    elif message.type in RESPONSES.values():
        if read.request_id is None:
            yield _field_problem(message, "request_id", "is missing, so it answers nothing", "error")
        if read.approve is None:
            yield _field_problem(message, "approve", "is neither true nor false, so it decides nothing", "error")
        if read.answers is RequestKind.QUESTION and read.approve and not answers_of(payload):
            yield _field_problem(message, "answers", "is missing, so it decides nothing", "error")
        if read.approve is False and not any(payload.get(name) for name in ("content", "reason", "feedback")):
            yield _field_problem(message, "content", "gives no reason for the refusal", "warning")
    elif read.opens in FOR_CLIENTS and payload.get("expires") is not None and expiry_of(read.opens, payload) is None:
        yield _field_problem(message, "expires", "is not a time, so it never ends by itself", "warning")


def self_addressed(message: Message) -> Iterator[Problem]:
    """Yield the problem of a message that goes to its own sender and to nobody else."""
    if message.recipients == (message.sender,):
        text = f"{message.sender} writes to itself"
        yield Problem("SELF_ADDRESSED", "notice", message.message_id, text, "A reaction of one's own needs no message.")


def _field_problem(message: Message, name: str, what: str, severity: str) -> Problem:
    """Make the problem of one field of a stored message."""
    hint = f"Ask {message.sender} to send it again with {name}."
    return Problem(
        "BODY_INVALID", severity, f"{message.message_id} payload.{name}", f"{message.type}: {name} {what}", hint
    )


# Summaries that a list shows badly: length in words of any script, greetings, language.

FEWEST_WORDS, MOST_WORDS = 5, 10
"""Bounds in words."""
_WORDS_OF_SEVEN_HAN = 5
"""Chinese does not part its words, and a dictionary would be needed to count them: most have two characters, those that
join them one. With seven characters for five words the good examples of seed 001 section 4.1 (6 to 11 characters) and
`请查询今天所有任务的状态` (12 characters, 7 words) pass, and its bad one of 15 characters, which has 11 words, is too
long (001-f). Too short is only what has fewer than five characters: each can be a word."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ASCII_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[-'./:@#][A-Za-z0-9])*")
_HAN = f"[{_CJK}]"
_WORD = rf"{_HAN}|[^\W_{_CJK}](?:[^\W_{_CJK}]|[-'’./:@#][^\W_{_CJK}])*"
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
"""Thai, Lao, Burmese and Khmer are written without spaces: how many words a text has cannot be seen from it."""
_JOINERS = "\u200c\u200d"
"""Persian and Hindi write them between the letters of one word."""
_GREETINGS = frozenset(
    (
        *("hi", "hello", "hey", "dear", "greetings", "good", "morning", "afternoon", "evening", "day", "there"),
        *("all", "team", "everyone", "everybody", "thanks", "thank", "you", "please"),
    )
)
_CJK_GREETING = "(?:你好|您好|大家好|早上好|下午好|晚上好|各位|谢谢|嗨|哈喽)[啊呀吗了]?"


def split_words(text: str) -> list[str]:
    """Split `text` into runs of letters and digits (`TASK-001`), and single Han characters and kana.

    Marks upon letters, vowels of Hindi or accents that stand by themselves, belong to the word they are in.
    """
    return _ASCII_WORD.findall(text) if text.isascii() else re.findall(_WORD, _without_marks(text))


def count_words(text: str) -> int:
    """Count the words of `text`; those in Han characters and kana are estimated."""
    parts = split_words(text)
    han = 0 if text.isascii() else sum(re.match(_HAN, part) is not None for part in parts)
    return len(parts) - han - (-han * _WORDS_OF_SEVEN_HAN // 7)


def _without_marks(text: str) -> str:
    """Return a text without accents and vowels that are signs of their own, and without joiners."""
    return "".join(sign for sign in text if sign not in _JOINERS and category(sign)[0] != "M")


def summary_warnings(summary: str, *, language: str) -> list[str]:
    """Return the faults of a summary as a list preview; never a reason to refuse it (decision D9).

    Args:
        language: The team's: `zh` wants Han characters, `en` wants none, `any` takes both.
    """
    has_han = not summary.isascii() and re.search(_HAN, summary) is not None
    words = split_words(summary)
    found = _length_warnings(summary, len(words))
    if words and _only_greets(summary, words):
        found.append("summary: it only greets; say what the message is about")
    if (language == "zh" and not has_han) or (language == "en" and has_han):
        found.append(f"summary: it is not in the team's language ({language})")
    return found


def _length_warnings(summary: str, parts: int) -> list[str]:
    """Return the warning that a summary is too short or too long, where its words can be counted."""
    if not summary.isascii() and re.search(_UNSPACED, summary) is not None:
        return []
    words = count_words(summary)
    if parts < FEWEST_WORDS:
        says = {0: "no words say", 1: "1 word says"}.get(words, f"{words} words say")
        return [f"summary: {says} too little; use {FEWEST_WORDS}-{MOST_WORDS}"]
    return (
        [f"summary: {words} words are too long for a list; use {FEWEST_WORDS}-{MOST_WORDS}"]
        if words > MOST_WORDS
        else []
    )


def _only_greets(summary: str, words: list[str]) -> bool:
    """Return whether every word of a summary belongs to a greeting, in English or Chinese."""
    if not summary.isascii():
        words = split_words(re.sub(_CJK_GREETING, " ", summary))
    return all(word.casefold() in _GREETINGS for word in words)
