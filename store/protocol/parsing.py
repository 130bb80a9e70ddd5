"""Parse a stored message: its kind, its body, its request id and its verdict, however its writer spelt them."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct
from team_console.store.model.errors import Problem
from team_console.store.model.json_text import value_words
from team_console.store.model.message import Fields, Message, per_message
from team_console.store.model.names import canonical
from team_console.store.protocol.foreign_fields import as_key, key_in
from team_console.store.protocol.kinds import UNKNOWN, Family, MessageKind, RequestKind, kind_of
from team_console.store.protocol.sprint_in_text import NO_FIELDS, carried_in

_WITH_REQUEST_ID = frozenset({Family.SENDMESSAGE, Family.CLIENTS})
"""Families whose questions and answers share a `request_id` in their payload."""
_ID_KEYS = {RequestKind.DEBUG: ("debug_id",), RequestKind.BROWSER: ("request_id",)}
"""Requests whose questions and answers say their id in the JSON, and under which key."""
_SUBJECT_KEYS = {
    RequestKind.CREATE: "agent_type",
    RequestKind.DESTROY: "agent_name",
    RequestKind.RESEARCH: "story_key",
}
"""Requests whose questions and answers share what they are about, and under which key of the JSON."""
_VERDICT_WORDS = {"true": True, "yes": True, "false": False, "no": False}


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

        The agent type of a creation, the agent to be ended, the story of a research; of a finished batch, which names
        nothing else, the agent that reports it.
        """
        if self.name == "SLAVE_BATCH_COMPLETE":
            return self.message.sender
        key = _SUBJECT_KEYS.get(self.kind.request_kind) if self.kind.request_kind else None
        if key is None:
            return None
        return canonical(key_in(self.body, key)) or None

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
    return ParsedMessage(*_read(message), message)


def _verdict(value: object) -> bool | None:
    """Return the yes or no that a boolean or one of the words stands for; None for anything else."""
    if isinstance(value, str):
        return _VERDICT_WORDS.get(value.strip().lower())
    return value if isinstance(value, bool) else None


class _Reading(NamedTuple):
    """The fields of `ParsedMessage` but its message, with which this is remembered: it must not hold it again."""

    kind: MessageKind
    name: str
    carried: Fields | None
    request_id: str | None
    frame_problems: tuple[Problem, ...]


@per_message
def _read(message: Message) -> _Reading:
    """Return what a message says, read as a plain message or as the sprint message that its text carries."""
    carried = carried_in(message.type, message.payload)
    if carried is None:
        return _read_plain(message, ())
    name, place = carried.name, f"{message.message_id} content"
    hint = f"Send it again as '{name}: ' followed by one JSON object."
    if carried.is_near and not carried.counts:
        why = f" (its JSON cannot be read: {carried.trouble})" if carried.trouble else ""
        text = f"it looks like {name} and stays a plain text{why}: only '{name}: {{json}}' is one"
        return _read_plain(message, (Problem("NEAR_FORM", "warning", place, text, hint),))
    if carried.trouble:
        text = f"{name}: the JSON after the colon cannot be read: {carried.trouble}"
        return _Reading(UNKNOWN, name, NO_FIELDS, None, (Problem("BODY_INVALID", "error", place, text, hint),))
    if not carried.is_near:
        return _read_carried(message, name, carried.body, place)
    text = f"it is taken for {name}, though it is not in the form '{name}: {{json}}'"
    problem = Problem("NEAR_FORM", "warning", place, text, hint)
    kind = kind_of(name)
    return _Reading(kind, name, carried.body, _request_id_of(message, kind, carried.body), (problem,))


def _read_plain(message: Message, odd: tuple[Problem, ...]) -> _Reading:
    """Return the reading of a message that carries no sprint message; `odd` is what is wrong with its frame so far."""
    kind = kind_of(message.type)
    if kind.family is Family.SPRINT:
        text = f"{message.type} does not travel as a plain message"
        hint = f"Send it as type message with the content '{message.type}: ' and its JSON."
        odd = (*odd, Problem("BODY_INVALID", "warning", f"{message.message_id} type", text, hint))
    return _Reading(kind, message.type, None, _request_id_of(message, kind, message.payload), odd)


def _read_carried(message: Message, name: str, body: Fields, place: str) -> _Reading:
    """Return the reading of a message in the form `NAME: {json}`, whose JSON has to state the same name."""
    stated = body.get("msg_type", body.get("type"))  # later revisions of the protocol say `type`
    kind = kind_of(name)
    if stated == name:
        return _Reading(kind, name, body, _request_id_of(message, kind, body), ())
    hint = "Prefix and msg_type must be the same name; send it again."
    if stated is None:
        problem = Problem("PREFIX_MISMATCH", "warning", f"{place}.msg_type", f"{name}: msg_type is missing", hint)
        return _Reading(kind, name, body, _request_id_of(message, kind, body), (problem,))
    text = f"the prefix says {name}, msg_type says {value_words(stated)}"
    problem = Problem("PREFIX_MISMATCH", "error", f"{place}.msg_type", text, hint)
    return _Reading(UNKNOWN, name, body, None, (problem,))


def _request_id_of(message: Message, kind: MessageKind, body: Fields) -> str | None:
    """Return the id that an answer has to quote, or quotes; None where it quotes none."""
    keys: tuple[str, ...] = ()
    # A plain message may quote the id of what it is about; one of a sprint has no field for it.
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


def thread_of(question: Message) -> str:
    """Return the id an answer must quote: debug, browser, research have one of their source's own."""
    return parse_message(question).request_id or question.message_id
