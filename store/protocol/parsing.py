"""Parse a stored message: its kind, its body, its fields, however its writer spelt them, and the plans of a sprint.

First the sprint message that the text of a plain message carries: `NAME: {json}`, and forms that come near to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import Struct
from team_console.store.model.errors import Problem
from team_console.store.model.json_object import refuse_constant, refuse_repeated_keys
from team_console.store.model.json_text import json_trouble, value_words
from team_console.store.model.message import Fields, Message, nonempty, per_message
from team_console.store.model.names import canonical
from team_console.store.protocol.kinds import DECIDED_BY_LEAD, KINDS, UNKNOWN, Family, MessageKind, RequestKind, kind_of

T = TypeVar("T")

CARRIERS = frozenset({"message", "broadcast"})
"""Types whose content may carry a sprint message."""

PREFIX = re.compile(r"\s*([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\s*:\s*")
"""The name as the protocol writes it, up to its JSON (requirement 124)."""

_NAMES = {kind.name for kind in KINDS.values() if kind.family is Family.SPRINT}


@cache
def _near_pattern() -> re.Pattern[str]:
    """Return a name in another form in front of a brace; many names take long to compile."""
    # Each run of signs is one class, with nothing beside it that could take the same signs: time stays linear.
    return re.compile(
        r"(?:^|(?<=[\s\ufeff*_`#~(]))("
        + "|".join(name.replace("_", r"[_ \-]") for name in sorted(_NAMES, key=len, reverse=True))
        + r")[\s*_`~:：=>–—\-]*(?:json\s*)?(?=\{)",
        re.IGNORECASE,
    )


_MARKS = " \t\r\n*_`~\ufeff\u200b"
"""What may stand around a message in another form: blanks, marks of Markdown, a byte order mark."""
_BEGINNING = 4000
"""Characters in which a name in another form is looked for: it stands behind a greeting, not behind a chapter."""
_NOTHING: Fields = MappingProxyType({})


class Carried(Struct, frozen=True):
    """A sprint message found in a plain message.

    Attributes:
        name: The name of its kind, in the spelling of the protocol.
        body: Its JSON, values unchecked; empty where it cannot be read.
        trouble: Why the JSON cannot be read; empty where it can.
        is_near: Whether it is in another form than `NAME: {json}`.
        counts: Whether it is taken for a message of its kind. A near form is, where a human or the lead has to decide
            on it: whoever asked would wait for ever. Any other near form stays a plain text, and its sender is told.
    """

    name: str
    body: Fields
    trouble: str = ""
    is_near: bool = False
    counts: bool = True


def carried_name(type: str, payload: Mapping[str, Any]) -> str | None:
    """Return the name of the sprint message that a plain message is taken for; None for any other."""
    if type not in CARRIERS:
        return None
    name = _prefix_of(payload.get("content"))
    if name is not None:
        return name
    near = _found_near(payload)
    return near.name if near is not None and near.counts else None


def carried_in(type: str, payload: Mapping[str, Any]) -> Carried | None:
    """Return the sprint message that a plain message carries, in the form of the protocol or near to it; else None."""
    if type not in CARRIERS:
        return None
    content = payload.get("content")
    name = _prefix_of(content)
    if name is None:
        return _found_near(payload)
    try:
        return Carried(name, parse_carried(content)[1])  # type: ignore[arg-type]
    except ValueError as error:
        fenced = _found_near(payload)
        return fenced if fenced is not None and fenced.counts else Carried(name, _NOTHING, str(error))


def _prefix_of(content: Any) -> str | None:
    """Return the name with which a content begins as a sprint message does; None where it begins otherwise."""
    match = PREFIX.match(content) if isinstance(content, str) else None
    if match is None:
        return None
    name = match.group(1)
    return name if content.startswith("{", match.end()) or kind_of(name).family is Family.SPRINT else None


def parse_carried(content: str) -> tuple[str, Fields]:
    """Split `NAME: {json}`.

    Raises:
        ValueError: What stands there is not one JSON object with distinct keys; the text says where.
    """
    match = PREFIX.match(content)
    if match is None:
        raise ValueError("no name before a colon")
    body, end = _object_at(content, match.end())
    if content[end:].strip():
        found = json.JSONDecodeError("Extra data", content[match.end() :], end - match.end())
        raise ValueError(json_trouble(found))
    return match.group(1), body


def _object_at(text: str, begin: int) -> tuple[dict[str, Any], int]:
    """Return the JSON object that begins at `begin`, and where it ends.

    Raises:
        ValueError: There is none, or one that names a key twice; the text says where, counted from `begin`.
    """
    text = text[begin:] if begin else text
    decoder = json.JSONDecoder(object_pairs_hook=refuse_repeated_keys, parse_constant=refuse_constant)
    try:
        body, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(json_trouble(error)) from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(body, dict):
        raise ValueError("not a JSON object")
    return body, begin + end


# Forms near to `NAME: {json}`, as models write them: bold, a heading, a full-width colon, small letters, a greeting
# before it, all of it in a fence, the JSON alone, a mapping in place of the text.


def _found_near(payload: Mapping[str, Any]) -> Carried | None:
    """Return the sprint message in another form that a payload carries; None where it carries none."""
    content = payload.get("content")
    if isinstance(content, str):
        return _found_near_in_text(content)
    if isinstance(content, Mapping):
        body = content
    elif content is None:
        body = payload
    else:
        body = _NOTHING
    name = _kind_stated(body)
    return None if name is None else _carried_near(name, body)


def _carried_near(name: str, body: Fields, *, is_clear: bool = True) -> Carried:
    if _kind_stated(body) == name and "msg_type" in body:
        body = {**body, "msg_type": name}
    return Carried(name, body, is_near=True, counts=is_clear and kind_of(name).opens in DECIDED_BY_LEAD)


def _found_near_in_text(content: str) -> Carried | None:
    """Return the sprint message in another form that a text carries; None where it carries none."""
    if "{" not in content:
        return None
    beginning = content[:_BEGINNING]
    found = [match for match in _near_pattern().finditer(beginning) if not _is_quoted(beginning, match.start())]
    if not found:
        return _json_alone(content)
    name = _as_protocol_spells(found[0].group(1))
    try:
        body, end = _object_at(content, found[0].end())
    except ValueError as error:
        return Carried(name, _NOTHING, str(error), is_near=True, counts=False)
    # Two of them, something behind the JSON, or another name in it: nobody can tell what is asked for.
    is_clear = len(found) == 1 and not content[end:].strip(_MARKS) and _kind_stated(body) in (None, name)
    return _carried_near(name, body, is_clear=is_clear)


def _json_alone(content: str) -> Carried | None:
    """Return what a JSON object by itself, perhaps in a fence, says to be."""
    text = content.strip(_MARKS)
    text = text.removeprefix("json").lstrip()
    if not text.startswith("{") or "type" not in text:
        return None
    try:
        body, end = _object_at(text, 0)
    except ValueError:
        return None
    name = _kind_stated(body)
    if name is None or text[end:].strip(_MARKS):
        return None
    return _carried_near(name, body)


def _is_quoted(text: str, at: int) -> bool:
    """Return whether the line is a quotation of somebody else's words."""
    return text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith(">")


def _kind_stated(body: Mapping[str, Any]) -> str | None:
    """Return the sprint kind that a JSON says it is, in the spelling of the protocol; None where it says none."""
    value = body.get("msg_type", body.get("type"))
    name = _as_protocol_spells(value) if isinstance(value, str) else ""
    return name if name in _NAMES else None


def _as_protocol_spells(name: str) -> str:
    return name.strip().upper().replace(" ", "_").replace("-", "_")


# Any message.

_WITH_REQUEST_ID = frozenset({Family.SENDMESSAGE, Family.CLIENTS})
"""Families whose questions and answers share a `request_id` in their payload; what is neither may quote one too."""
_ID_KEYS = {RequestKind.DEBUG: ("debug_id",), RequestKind.BROWSER: ("request_id",)}
"""Requests whose questions and answers say their id in the JSON, and under which key."""
_SUBJECTS = {
    RequestKind.CREATE: "agent_type",
    RequestKind.DESTROY: "agent_name",
    RequestKind.RESEARCH: "story_key",
}
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


class ParsedMessage(Struct, frozen=True, eq=False, gc=False):
    """One message, understood.

    Attributes:
        kind: Its kind; `UNKNOWN` for an unknown name, and for a sprint message whose prefix, `msg_type` and JSON do not
            fit together: what is ambiguous neither opens nor answers anything.
        name: The kind's name as written (the prefix of a sprint message, else the type).
        carried: The JSON of a sprint message, None for any other; values are unchecked.
        request_id: The id an answer quotes: for a question its own (the message id where the source has none), for
            an answer the quoted one, None when it quotes none.
        frame_problems: What is wrong with the frame (prefix, JSON); `checks.problems_of` adds the fields.
        message: The message read.
    """

    kind: MessageKind
    name: str
    carried: Fields | None
    request_id: str | None
    frame_problems: tuple[Problem, ...]
    message: Message

    @property
    def body(self) -> Fields:
        """The JSON of a sprint message, the payload of any other; values are unchecked."""
        return self.message.payload if self.carried is None else self.carried

    @property
    def opens(self) -> RequestKind | None:
        """The request this message opens."""
        return self.kind.opens

    @property
    def answers(self) -> RequestKind | None:
        """The request this message answers by its kind (a plain message may answer by `in_reply_to`)."""
        return self.kind.answers

    @property
    def subject(self) -> str | None:
        """The part that question and answer of a sprint kind share where neither quotes an id (002-c).

        The agent type of a creation, the agent to be ended, the story of a research.
        """
        if self.name == "SLAVE_BATCH_COMPLETE":
            return self.message.sender
        key = _SUBJECTS.get(self.kind.request_kind) if self.kind.request_kind else None
        return canonical(key_in(self.body, key)) or None if key else None

    @property
    def approve(self) -> bool | None:
        """The verdict this message carries, None when it carries none.

        `approve` and `approved` count when they are booleans or the words true, yes, false, no, and do not disagree;
        an AGENT_CREATED or AGENT_DESTROYED agrees by being there.
        """
        if self.answers in (RequestKind.CREATE, RequestKind.DESTROY):
            return True
        payload = self.message.payload
        said = {_verdict(payload[key]) for key in ("approve", "approved") if payload.get(key) is not None}
        return said.pop() if len(said) == 1 else None


def parse_message(message: Message) -> ParsedMessage:
    """Read `message`; what it says is worked out once for each message object."""
    return ParsedMessage(*_parsed(message), message)


def as_key(value: object) -> str:
    """Return an id or key as text, empty when the value is none (missing, a list or a mapping)."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def _verdict(value: object) -> bool | None:
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return value if isinstance(value, bool) else None


_Parsed = tuple[MessageKind, str, Fields | None, str | None, tuple[Problem, ...]]
"""The fields of a reading but its message."""


@per_message
def _parsed(message: Message) -> _Parsed:
    """Return the fields of a message that was parsed, but for the message itself."""
    carried = carried_in(message.type, message.payload)
    if carried is None:
        return _parsed_plain(message, ())
    name, place = carried.name, f"{message.message_id} content"
    hint = f"Send it again as '{name}: ' followed by one JSON object."
    if carried.is_near and not carried.counts:
        why = f" (its JSON cannot be read: {carried.trouble})" if carried.trouble else ""
        text = f"it looks like {name} and stays a plain text{why}: only '{name}: {{json}}' is one"
        return _parsed_plain(message, (Problem("NEAR_FORM", "warning", place, text, hint),))
    if carried.trouble:
        text = f"{name}: the JSON after the colon cannot be read: {carried.trouble}"
        return UNKNOWN, name, _NOTHING, None, (Problem("BODY_INVALID", "error", place, text, hint),)
    if not carried.is_near:
        return _parsed_carried(message, name, carried.body, place)
    text = f"it is taken for {name}, though it is not in the form '{name}: {{json}}'"
    problem = Problem("NEAR_FORM", "warning", place, text, hint)
    return kind_of(name), name, carried.body, _request_id_of(message, kind_of(name), carried.body), (problem,)


def _parsed_plain(message: Message, odd: tuple[Problem, ...]) -> _Parsed:
    """Return the same of a message that carries no sprint message, with what is wrong with its frame."""
    kind = kind_of(message.type)
    if kind.family is Family.SPRINT:
        text = f"{message.type} does not travel as a plain message"
        hint = f"Send it as type message with the content '{message.type}: ' and its JSON."
        odd = (*odd, Problem("BODY_INVALID", "warning", f"{message.message_id} type", text, hint))
    return kind, message.type, None, _request_id_of(message, kind, message.payload), odd


def _parsed_carried(message: Message, name: str, body: Fields, place: str) -> _Parsed:
    """Return the same of a message in the form `NAME: {json}`, whose JSON has to state the same name."""
    stated = body.get("msg_type", body.get("type"))  # later revisions of the protocol say `type`
    kind = kind_of(name)
    if stated == name:
        return kind, name, body, _request_id_of(message, kind, body), ()
    hint = "Prefix and msg_type must be the same name; send it again."
    if stated is None:
        problem = Problem("PREFIX_MISMATCH", "warning", f"{place}.msg_type", f"{name}: msg_type is missing", hint)
        return kind, name, body, _request_id_of(message, kind, body), (problem,)
    text = f"the prefix says {name}, msg_type says {value_words(stated)}"
    problem = Problem("PREFIX_MISMATCH", "error", f"{place}.msg_type", text, hint)
    return UNKNOWN, name, body, None, (problem,)


def _request_id_of(message: Message, kind: MessageKind, body: Fields) -> str | None:
    """Return the id that an answer has to quote, or quotes; None where it quotes none."""
    keys: tuple[str, ...] = ()
    if kind.request_kind and kind.family not in _WITH_REQUEST_ID:
        keys = _ID_KEYS.get(kind.request_kind, ())
    elif kind.family not in (Family.SPRINT, Family.UNKNOWN):
        keys = ("request_id", "requestId")
    quoted = next((found for key in keys if (found := key_in(body, key))), None)
    if kind.opens is not None:
        return quoted or message.message_id
    carried = body.get("in_reply_to", message.payload.get("in_reply_to"))
    return quoted or as_key(carried) or None


def carries(message: Message, request_id: str) -> bool:
    """Return whether `message` belongs to the thread `request_id`: by its own id, its payload or its sprint body."""
    return request_id in (message.message_id, message.request_id) or parse_message(message).request_id == request_id


def asks(message: Message, request_id: str | None) -> bool:
    """Return whether `message` is a request under this id."""
    read = parse_message(message)
    return read.opens is not None and read.request_id == request_id


# Fields of what others wrote, payloads and JSON: of the type that is expected, else as if they were not there.


def text_in(data: Fields, key: str) -> str:
    """Return the text under a key; empty for anything else."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def key_in(data: Fields, key: str) -> str:
    """Return the id under a key as text (`as_key`)."""
    return as_key(data.get(key))


def texts_in(data: Fields, key: str) -> tuple[str, ...]:
    """Return the texts of the list under a key; none for anything else."""
    return tuple(item for item in items_in(data, key) if isinstance(item, str))


def items_in(data: Fields, key: str) -> tuple[Any, ...]:
    """Return the items of the list under a key; none for anything else."""
    value = data.get(key)
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def mapping_in(data: Fields, key: str) -> Fields:
    """Return the object under a key; empty for anything else."""
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def mappings_in(data: Fields, key: str) -> tuple[Fields, ...]:
    """Return the objects of the list under a key; none for anything else."""
    return tuple(item for item in items_in(data, key) if isinstance(item, dict))


# Entry: a message at its place among others, with its reading.

EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for a missing or unreadable time: oldest (000-n)."""
_FACTUAL = frozenset({Family.SPRINT, Family.CLIENTS})
Order = tuple[datetime, float]
"""When it was created, then its place in the store."""


def when_created(message: Message) -> datetime:
    """Return the creation time to sort by; a message without a readable time comes first.

    As texts, `12:00+02:00` would come after `10:45Z`, and what is no time after everything.
    """
    return message.created_at or EARLIEST


def newest_first(stored: Iterable[T], when: Callable[[T], datetime]) -> list[T]:
    """Return what stands in stored order with the newest first; of one moment, what came last comes first."""
    return sorted(stored, key=when)[::-1]


def thread_of(question: Message) -> str:
    """Return the id an answer must quote: debug, browser, research have one of their source's own."""
    return parse_message(question).request_id or question.message_id


class PlacedMessage(Struct, frozen=True, eq=False, gc=False):
    """One message at its place.

    Attributes:
        place: Grows along the stored order.
        when: When the message was created; `EARLIEST` when that is unknown.
        read: The parsed message.
    """

    message: Message
    place: float
    when: datetime
    read: ParsedMessage

    @classmethod
    def of(cls, message: Message, place: float) -> PlacedMessage:
        """Return the entry of a message at a place."""
        return cls(message, place, when_created(message), parse_message(message))

    @classmethod
    def each(cls, messages: Iterable[Message], first: float = 0) -> list[PlacedMessage]:
        """Return the entries of messages in stored order, of which the first has the place `first`."""
        return [cls.of(message, first + place) for place, message in enumerate(messages)]

    @property
    def order(self) -> Order:
        """By time, then by place, so that equal times keep the stored order."""
        return self.when, self.place

    @property
    def moment(self) -> datetime | None:
        """The creation time; None when unknown."""
        return None if self.when is EARLIEST else self.when

    @property
    def is_fact(self) -> bool:
        """Whether requests, rosters or a sprint rest on it, so that it counts after it left the queue."""
        read = self.read
        return read.request_id is not None or read.kind.family in _FACTUAL


# Plans of a sprint: which stories each batch of a session has, by plan, correction and dispatch (seed 002).

PLAN, CORRECTION, BATCH_REPORT = "BATCH_PLAN_READY", "COURSE_CORRECTION", "SLAVE_BATCH_COMPLETE"
DISPATCH, COMPLETE = "AGENT_DISPATCH_REQUEST", "AGENT_COMPLETE"
"""Asks for an agent together with its task: it stands for the first five steps, and the residents are told nothing."""
Plan = tuple[tuple[str, tuple[str, ...]], ...]
"""Batch id and stories of each batch of a session."""


def plans_of(reads: Iterable[ParsedMessage]) -> dict[str, Plan]:
    """Return session -> its batches by all plans and corrections; what a batch was first planned with counts."""
    sessions: dict[str, dict[str, list[str]]] = {}
    for read in reads:
        if read.name in (PLAN, CORRECTION):
            name = key_in(read.body, "session_id")
            now = sessions.setdefault(name, {})
            sessions[name] = planned(read.body.get("batches")) if read.name == PLAN else replanned(now, read.body, ())
    return {name: tuple((key, tuple(stories)) for key, stories in now.items()) for name, now in sessions.items()}


def planned(batches: Any) -> dict[str, list[str]]:
    """Return batch id -> stories, as a plan lists them; of batches that share an id the stories of all."""
    found: dict[str, dict[str, None]] = {}
    for item in batches if isinstance(batches, list) else ():
        if isinstance(item, Mapping) and batch_key(item.get("batch_id")):
            stories = texts_of(item.get("stories") or item.get("story_keys"))
            found.setdefault(batch_key(item.get("batch_id")), {}).update(dict.fromkeys(stories))
    return {key: list(stories) for key, stories in found.items()}


def replanned(now: Mapping[str, list[str]], body: Fields, begun: Collection[str]) -> dict[str, list[str]]:
    """Return the batches after a correction: new ones take their stories over, and only what is dropped is dropped.

    Args:
        begun: Stories that somebody works on; they stay in their batch.
    """
    new = planned(body.get("new_batches") or body.get("new_batch_plan"))
    dropped = {story for story in texts_of(body.get("dropped_stories")) if story not in begun}
    moved = {story for stories in new.values() for story in stories}
    kept = {
        key: [
            story
            for story in stories
            if story not in dropped and (story in begun or (story not in moved and key not in new))
        ]
        for key, stories in now.items()
    }
    there = {story for stories in kept.values() for story in stories}
    for key, stories in new.items():
        kept[key] = kept.get(key, []) + [story for story in stories if story not in there]
    return nonempty(kept)


def dispatched_name(read: ParsedMessage) -> str:
    """Return the name of the agent that a dispatch asks for: its type and its story, as the protocol names agents."""
    body = read.body
    return f"{key_in(body, 'agent_type')}-{key_in(body, 'story_key')}"


def batch_key(value: Any) -> str:
    """Return a batch id, `1` or `batch-1`, as text."""
    return as_key(value).removeprefix("batch-")


def texts_of(value: Any) -> list[str]:
    """Return the texts of a list."""
    return [text for item in value if (text := as_key(item))] if isinstance(value, list) else []
