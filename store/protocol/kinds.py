"""List every kind of message of the four sources: name, family, direction, priority, what it opens and answers.

Last, tell which fields of a payload are missing, or of another form than its kind needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.json_text import value_words
from team_console.store.model.message import Priority
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.settings.team_config import TeamConfig


class Family(StrEnum):
    """The sources a kind can come from: the four of the field, and the clients that real agents run in."""

    SENDMESSAGE = "SendMessage"
    MESSENGER = "Messenger"
    SPRINT = "Sprint"
    ROUTER = "Router"
    CLIENTS = "Clients"
    UNKNOWN = "unknown"


class RequestKind(StrEnum):
    """What a request asks for; the `kind` of the requests ledger."""

    PLAN = "plan"
    SHUTDOWN = "shutdown"
    CREATE = "create"
    DESTROY = "destroy"
    ESCALATION = "escalation"
    CLARIFICATION = "clarification"
    DEBUG = "debug"
    BROWSER = "browser"
    RESEARCH = "research"
    PERMISSION = "permission"
    QUESTION = "question"

    @property
    def noun(self) -> str:
        """The open thing in words: `plan`, `question`, and `create request` for a kind whose name is no thing."""
        return str(self) if self in (RequestKind.PLAN, RequestKind.QUESTION) else f"{self} request"


DECIDED_BY_LEAD = frozenset(
    {RequestKind.PLAN, RequestKind.CREATE, RequestKind.DESTROY, RequestKind.PERMISSION, RequestKind.QUESTION}
)
"""Requests that only the lead answers, whomever they name."""
FOR_CLIENTS = frozenset({RequestKind.PERMISSION, RequestKind.QUESTION})
"""Requests of clients, which a message of another kind never answers: a program acts on the answer by itself."""
VERDICT_ONLY = FOR_CLIENTS | {RequestKind.PLAN, RequestKind.SHUTDOWN}
"""Requests that only a message of their own kind with a clear yes or no decides."""
IN_WORDS = frozenset({RequestKind.ESCALATION, RequestKind.CLARIFICATION})
"""Requests that ordinary messages answer, also by neither yes nor no: saying more is no second answer."""
REUSED_IDS = frozenset({RequestKind.DEBUG, RequestKind.BROWSER})
"""Requests whose ids the asker makes, so that `DBG-001` may come again in another session."""
RESULTS = REUSED_IDS | {RequestKind.RESEARCH}
"""Requests whose answers are results of agents' work, not decisions that somebody could forge."""


class FieldForm(StrEnum):
    """What a field of a payload must hold; the text is what an error says."""

    TEXT = "a text"
    ANY_TEXT = "a text, which may be empty"
    TEXT_OR_NULL = "a text or null"
    WISH = "a text of at most 2,000 characters"
    TEXTS = "a list of texts"
    NUMBER = "a whole number"
    KEY = "a number or a text"
    LIST = "a list that is not empty"
    OBJECT = "an object"
    OBJECT_OR_NULL = "an object or null"
    LOOSE = "an object, a list or a text"
    LOOSE_OR_NULL = "an object, a list, a text or null"
    QUESTIONS = "a list of questions, each with its text in question"
    MOMENT = "an ISO 8601 time such as 2026-02-24T10:30:00Z"


Form = Any
"""A `FieldForm`; `[form]` for a list of such; a mapping of field to form, where `field?` need not be there, or `EACH`
to form for an object whose values all have it."""
EACH = "*"


class MessageKind(Struct, frozen=True):
    """One kind of message.

    Attributes:
        family: Source it comes from.
        name: The word in `type`, or before the colon for sprint messages.
        direction: Who writes it to whom, as the source says (`Slave -> Master`).
        entry_point: The command line verb that sends it.
        priority: Default priority (decision D5).
        opens: The request it opens, if any.
        answers: The request it answers, if any.
        withdraws: Whether it takes back an open request of its own sender, with a reason.
        needs: Fields of the payload, or of the JSON of a sprint kind, without which it is refused
            (`docs/contributing/requirements.md` B.1, seed 002, decision D20).
        usual: Fields the source carries (requirement 205); a lack is a warning.
        talks: Whether it is only said about a request, which stays as open as it was.
    """

    family: Family
    name: str
    direction: str
    entry_point: str
    priority: Priority = Priority.MEDIUM
    opens: RequestKind | None = None
    answers: RequestKind | None = None
    withdraws: bool = False
    needs: Mapping[str, Form] = MappingProxyType({})
    usual: tuple[str, ...] = ()
    talks: bool = False

    @property
    def request_kind(self) -> RequestKind | None:
        """The request it opens or answers."""
        return self.opens or self.answers

    @property
    def is_by_lead(self) -> bool:
        """Whether only the lead (the sprint's Master) may send it."""
        return self.direction.startswith(("Lead", "Master")) and self.entry_point != READ_ONLY

    @property
    def is_to_lead(self) -> bool:
        """Whether it goes to the lead and to nobody else."""
        return self.opens is not None and self.direction == "Agent -> Lead"


# Every kind of message of the four sources by name; what is not listed here travels untouched as unknown.

SEND = "send"
VERDICT = "approve, reject, sendmessage"
HOOK = "hook"
READ_ONLY = ""
"""The door of kinds that are understood on reading and never written by us."""

ASKBACK, ASKED_BACK = "request_askback", "askback_response"
"""Kinds by which whoever may answer a request asks back, and by which its asker answers that."""
REPLACES = "replaces"
"""Field of a plan: the id of the request that it is a new version of."""
SHUTDOWN_REQUEST, SHUTDOWN_RESPONSE = "shutdown_request", "shutdown_response"
"""Kinds by which the lead asks an agent to stop, and by which the agent answers that."""
AGENT_DESTROYED = "AGENT_DESTROYED"
"""The kind by which the end of an agent is confirmed."""
WITHDRAWN = "request_withdrawn"
"""The kind by which an asker takes back a request."""

_HIGH, _LOW, _CRITICAL = Priority.HIGH, Priority.LOW, Priority.CRITICAL
_TEXT, _ANY_TEXT, _TEXT_OR_NULL, _TEXTS = FieldForm.TEXT, FieldForm.ANY_TEXT, FieldForm.TEXT_OR_NULL, FieldForm.TEXTS

_sendmessage = partial(MessageKind, Family.SENDMESSAGE)
_messenger = partial(MessageKind, Family.MESSENGER, entry_point=SEND)
_sprint = partial(MessageKind, Family.SPRINT, entry_point=SEND)
_client = partial(MessageKind, Family.CLIENTS, priority=_HIGH)
_router = partial(MessageKind, Family.ROUTER, entry_point="route, send")

_ALL = (
    _sendmessage("message", "Any -> Any", "send, sendmessage"),
    _sendmessage("broadcast", "Any -> All", "broadcast, sendmessage"),
    _sendmessage(
        SHUTDOWN_REQUEST, "Lead -> Agent", "shutdown, sendmessage", priority=_HIGH, opens=RequestKind.SHUTDOWN
    ),
    _sendmessage(SHUTDOWN_RESPONSE, "Agent -> Lead", VERDICT, priority=_HIGH, answers=RequestKind.SHUTDOWN),
    _sendmessage("plan_approval_request", "Agent -> Lead", "plan", priority=_HIGH, opens=RequestKind.PLAN),
    _sendmessage("plan_approval_response", "Lead -> Agent", VERDICT, priority=_HIGH, answers=RequestKind.PLAN),
    _sendmessage(WITHDRAWN, "Any -> Any", "withdraw", withdraws=True),
    _messenger(
        "handoff",
        "Any -> Any",
        priority=_HIGH,
        needs={"artifact_path": _TEXT, "context_summary": _TEXT, "next_actions": FieldForm.LIST},
    ),
    _messenger("review", "Any -> Any", needs={"artifact_path": _TEXT, "review_type": _TEXT}),
    _messenger(
        "clarify",
        "Any -> Any",
        priority=_HIGH,
        opens=RequestKind.CLARIFICATION,
        needs={"question": _TEXT, "context": _TEXT},
    ),
    _messenger(
        "escalate",
        "Any -> User",
        priority=_CRITICAL,
        opens=RequestKind.ESCALATION,
        needs={"issue": _TEXT, "severity": _TEXT, "recommendation": _TEXT},
    ),
    _messenger("notify", "Any -> Group", priority=_LOW, needs={"message": _TEXT}),
    _messenger("collaborate", "Any -> Group", needs={"topic": _TEXT, "deadline": FieldForm.MOMENT}),
    _sprint(
        "AGENT_CREATE_REQUEST",
        "Slave -> Master",
        priority=_HIGH,
        opens=RequestKind.CREATE,
        needs={"agent_type": _TEXT, "role_hint": _TEXT, "requested_by": _TEXT},
    ),
    _sprint(
        "AGENT_CREATED",
        "Master -> Slave",
        entry_point="approve",
        priority=_HIGH,
        answers=RequestKind.CREATE,
        needs={"agent_name": _TEXT, "agent_type": _TEXT},
    ),
    _sprint("AGENT_DESTROY_REQUEST", "Slave -> Master", opens=RequestKind.DESTROY, needs={"agent_name": _TEXT}),
    _sprint(
        AGENT_DESTROYED,
        "Master -> Slave",
        entry_point="approve",
        answers=RequestKind.DESTROY,
        needs={"agent_name": _TEXT},
    ),
    _sprint(
        "AGENT_ROSTER_BROADCAST",
        "Master -> Residents",
        entry_point="approve, send",
        needs={"session_id": _ANY_TEXT, "roster": {"residents": _TEXTS, "slaves": _TEXTS, "temps": _TEXTS}},
    ),
    _sprint(
        "TASK_ASSIGNMENT",
        "Slave -> Temp",
        priority=_HIGH,
        needs={
            **dict.fromkeys(("story_key", "story_path", "mode", "session_id", "report_to"), _TEXT),
            "resident_contacts": {EACH: _ANY_TEXT},
            "config_overrides": FieldForm.OBJECT,
        },
    ),
    _sprint(
        "SLAVE_BATCH_COMPLETE",
        "Slave -> Master",
        opens=RequestKind.DESTROY,
        needs={
            "batch_id": FieldForm.KEY,
            "session_id": _TEXT,
            "stories_completed": _TEXTS,
            "stories_failed": _TEXTS,
            "batch_report": _ANY_TEXT,
        },
    ),
    _sprint(
        "BATCH_PLAN_READY",
        "SM -> Master",
        needs={
            "session_id": _TEXT,
            "total_stories": FieldForm.NUMBER,
            "batches": [{"batch_id": FieldForm.KEY, "stories": _TEXTS}],
            "dependency_graph": {EACH: {"depends_on": _TEXTS}},
        },
    ),
    _sprint(
        "COURSE_CORRECTION",
        "SM -> Master",
        needs={"session_id?": _ANY_TEXT, "reason?": _ANY_TEXT, "status?": _ANY_TEXT},
    ),
    _sprint(
        "CC_TRIGGER",
        "Master -> SM",
        priority=_HIGH,
        needs={"reason?": _TEXT, "user_input?": FieldForm.WISH, "current_batch_id?": FieldForm.KEY},
    ),
    _sprint(
        "DEBUG_REQUEST",
        "Any -> Debugger",
        opens=RequestKind.DEBUG,
        needs={
            "debug_id": _TEXT,
            "story_key": _ANY_TEXT,
            "agent_type": _ANY_TEXT,
            "error_summary": _TEXT,
            "stack_trace": _TEXT_OR_NULL,
            "test_output": _TEXT_OR_NULL,
            "severity_hint": _ANY_TEXT,
        },
    ),
    _sprint(
        "DEBUG_RESULT",
        "Debugger -> Requester",
        answers=RequestKind.DEBUG,
        needs={
            "debug_id": _TEXT,
            "story_key": _ANY_TEXT,
            "root_cause": _TEXT,
            "fix_suggestion": _ANY_TEXT,
            "severity": _ANY_TEXT,
            "confidence": _ANY_TEXT,
            "journal_entry_id": _TEXT_OR_NULL,
        },
    ),
    _sprint(
        "BROWSER_REQUEST",
        "Any -> E2E Live",
        opens=RequestKind.BROWSER,
        needs={
            "request_id": _TEXT,
            "operation": _TEXT,
            "url": _TEXT_OR_NULL,
            "selector": _TEXT_OR_NULL,
            "input_value": _TEXT_OR_NULL,
            "screenshot_path": _TEXT_OR_NULL,
        },
    ),
    _sprint(
        "BROWSER_RESULT",
        "E2E Live -> Requester",
        answers=RequestKind.BROWSER,
        needs={
            "request_id": _TEXT,
            "status": _TEXT,
            "result_data": FieldForm.OBJECT_OR_NULL,
            "screenshot_path": _TEXT_OR_NULL,
            "error": FieldForm.LOOSE_OR_NULL,
        },
    ),
    _sprint("AGENT_COMPLETE", "Temp -> Slave", needs={"status": _TEXT, "results": FieldForm.LOOSE}),
    _sprint(
        "RESEARCH_REQUEST",
        "Any -> KR",
        opens=RequestKind.RESEARCH,
        needs={"story_key": _ANY_TEXT, "requesting_agent": _ANY_TEXT, "queries": [{"query": _TEXT}]},
    ),
    _sprint(
        "RESEARCH_RESULT",
        "KR -> Requester",
        answers=RequestKind.RESEARCH,
        needs={"story_key": _ANY_TEXT, "results": [{"query": _ANY_TEXT, "status": _ANY_TEXT}]},
    ),
    _sprint(
        "AGENT_DISPATCH_REQUEST", "Slave -> Master", entry_point=READ_ONLY, priority=_HIGH, opens=RequestKind.CREATE
    ),
    *(
        _sprint(name, direction, entry_point=READ_ONLY)
        for name, direction in (
            ("SM_PLANNING_REQUEST", "Master -> SM"),
            ("SM_SUMMARY_REQUEST", "Master -> SM"),
            ("SM_READY_ACK", "SM -> Master"),
            ("CC_REQUEST", "Master -> SM"),
            ("CC_REJECTED", "SM -> Master"),
            ("STATUS_WRITE_REQUEST", "Slave -> Master"),
            ("BATCH_ASSIGNMENT", "Master -> Slave"),
            ("SHUTDOWN_CONFIRMED", "Any -> Master"),
        )
    ),
    _router("task_assignment", "orchestrator -> code_developer", usual=("task_id", "spec_id", "priority")),
    _router("task_complete", "code_developer -> orchestrator"),
    _router("spec_ready", "architect -> code_developer"),
    _router("error_report", "code_developer -> orchestrator", priority=_HIGH),
    _router("dependency_unblocked", "orchestrator -> code_developer", usual=("task_id", "unblocked_by")),
    _client(
        "permission_request",
        "Agent -> Lead",
        HOOK,
        opens=RequestKind.PERMISSION,
        needs={"tool": _TEXT, "input": FieldForm.OBJECT},
    ),
    _client("permission_response", "Lead -> Agent", "approve, reject", answers=RequestKind.PERMISSION),
    _client(
        "question_request", "Agent -> Lead", "ask", opens=RequestKind.QUESTION, needs={"questions": FieldForm.QUESTIONS}
    ),
    _client("question_response", "Lead -> Agent", "answer, reject", answers=RequestKind.QUESTION),
    _client(ASKBACK, "Any -> Any", "askback", talks=True),
    _client(ASKED_BACK, "Any -> Any", "answer", talks=True),
    _client("grant", "Lead -> itself", "grant", priority=_LOW),
    _client("grant_recalled", "Lead -> itself", "grants", priority=_LOW),
    _client("session_state", "Agent -> itself", HOOK, priority=_LOW),
)

KINDS: Mapping[str, MessageKind] = MappingProxyType({kind.name: kind for kind in _ALL})
"""Kind by name, in the order of the sources; names are compared exactly (`task_assignment`, `TASK_ASSIGNMENT`)."""

UNKNOWN = MessageKind(Family.UNKNOWN, "", "Any -> Any", READ_ONLY)
"""Stands for a kind of another program, which opens, answers and needs nothing."""


def kind_of(name: str) -> MessageKind:
    """Return the kind of this name; `UNKNOWN` where there is none."""
    return KINDS.get(name, UNKNOWN)


RESPONSES: Mapping[RequestKind, str] = {
    kind.answers: kind.name for kind in _ALL if kind.answers is not None and kind.answers in VERDICT_ONLY
}
"""The kind of message that decides a request, where only one does."""

SUPERSEDING = frozenset({RequestKind.PLAN, RequestKind.SHUTDOWN})
"""Requests of which an author has one open at a time: a later one replaces it."""


def default_priority(name: str, config: TeamConfig) -> str:
    """Return the priority of a message sent without one: the team's for this kind, else the kind's, else medium
    (D5).
    """
    return config.priorities.get(name) or str(kind_of(name).priority)


# Which parts of a value are missing, or of another form than the table asks for.

_LONGEST_WISH = 2000
"""Characters, as `FieldForm.WISH` says."""
_LISTS = (list, tuple)


_FITS: Mapping[FieldForm, Callable[[Any], bool]] = {
    FieldForm.TEXT: lambda value: isinstance(value, str) and bool(value.strip()),
    FieldForm.ANY_TEXT: lambda value: isinstance(value, str),
    FieldForm.TEXT_OR_NULL: lambda value: isinstance(value, str | None),
    FieldForm.WISH: lambda value: isinstance(value, str) and len(value) <= _LONGEST_WISH,
    FieldForm.TEXTS: lambda value: isinstance(value, _LISTS) and all(isinstance(item, str) for item in value),
    FieldForm.NUMBER: lambda value: type(value) is int,
    FieldForm.KEY: lambda value: type(value) in (int, str) and value != "",
    FieldForm.LIST: lambda value: isinstance(value, _LISTS) and bool(value),
    FieldForm.OBJECT: lambda value: isinstance(value, Mapping),
    FieldForm.OBJECT_OR_NULL: lambda value: isinstance(value, Mapping | None),
    FieldForm.LOOSE: lambda value: isinstance(value, (Mapping, str, *_LISTS)),
    FieldForm.LOOSE_OR_NULL: lambda value: value is None or isinstance(value, (Mapping, str, *_LISTS)),
    FieldForm.QUESTIONS: lambda value: (
        isinstance(value, _LISTS)
        and bool(value)
        and all(isinstance(item, dict) and bool(text_in(item, "question")) for item in value)
    ),
    FieldForm.MOMENT: lambda value: isinstance(value, str) and from_text(value) is not None,
}
"""Form -> whether a value is of it; `type` is asked where true and false are no numbers."""


def wrong_parts(value: Any, form: Form, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield each part of `value` that is missing or not of its form: its place (`batches.0.stories`), and what is
    wrong.

    Args:
        place: Where the value itself stands; empty for a whole payload or body.
    """
    if isinstance(form, FieldForm):
        if not _FITS[form](value):
            yield place, f"must be {form}, not {value_words(value)}"
    elif isinstance(form, list):
        if not isinstance(value, _LISTS):
            yield place, f"must be a list, not {value_words(value)}"
            return
        for number, item in enumerate(value):
            yield from wrong_parts(item, form[0], f"{place}.{number}")
    elif not isinstance(value, Mapping):
        yield place, f"must be an object, not {value_words(value)}"
    elif EACH in form:
        for name, item in value.items():
            yield from wrong_parts(item, form[EACH], f"{place}.{name}")
    else:
        for key, inner in form.items():
            name = key.removesuffix("?")
            path = f"{place}.{name}".removeprefix(".")
            is_optional = name != key
            if name not in value:
                if not is_optional:
                    yield path, "is missing"
            elif value[name] is not None or not is_optional:
                yield from wrong_parts(value[name], inner, path)
