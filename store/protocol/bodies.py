"""The typed bodies of the seventeen sprint kinds (seed 002)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from posixpath import normpath
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.json_text import named
from team_console.store.model.message import Message
from team_console.store.protocol.parsing import parse_carried

Text = Annotated[str, StringConstraints(min_length=1)]


def _key(value: Any) -> str:
    if type(value) not in (int, str) or value == "":
        raise PydanticCustomError("key_type", "must be a number or a text")
    return str(value)


Key = Annotated[str, BeforeValidator(_key)]
"""A batch id: a number in the seed, a text such as `batch-1` elsewhere; kept as text."""
Upper = Annotated[str, BeforeValidator(lambda value: value.upper() if isinstance(value, str) else value)]
Lower = Annotated[str, BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)]


def _loose(value: Any) -> Any:
    """Any of three shapes; a union of types would name each of them in Python's words when none fits."""
    if isinstance(value, (dict, list, str)):
        return value
    raise PydanticCustomError("loose_type", "must be an object, a list or a text")


Loose = Annotated[Any, AfterValidator(_loose)]


class Body(BaseModel):
    """What the JSON of every sprint message is: frozen, further keys kept.

    Attributes:
        known: Field -> values the sources name; another value is a warning.
    """

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)
    known: ClassVar[Mapping[str, frozenset[str]]] = {}

    def remarks(self) -> Iterator[tuple[str, str, str]]:
        """(code, field, text) for what is well formed and still odd."""
        for name, values in self.known.items():
            value = getattr(self, name)
            if value is not None and value not in values:
                yield "BODY_INVALID", name, f"{named(value)} is none of {', '.join(sorted(values))}"
        if getattr(self, "session_id", None) == "":
            yield "BODY_INVALID", "session_id", "is empty, so nobody can tell which sprint session is meant"


_LEVELS = frozenset({"HIGH", "MEDIUM", "LOW"})


class AgentCreateRequest(Body):
    """Step 1: a slave asks for a temporary agent; it says nothing about the story (requirements 145, 146)."""

    agent_type: Text
    role_hint: Text
    requested_by: Text

    def remarks(self) -> Iterator[tuple[str, str, str]]:
        yield from super().remarks()
        for name in self.model_extra or {}:
            if _BUSINESS.search(name):
                yield "BUSINESS_IN_CREATE_REQUEST", name, "a creation request carries no business context"


_BUSINESS = re.compile(
    r"story|epic|batch|spec|session|sprint|requirement|acceptance|feature|task(?!_type)", re.IGNORECASE
)


class AgentCreated(Body):
    """Step 3: the Master names the new agent to the slave that asked (147)."""

    agent_name: Text
    agent_type: Text


class AgentDestroyRequest(Body):
    """Step 8: a slave asks for the end of a temporary agent (163)."""

    agent_name: Text


class AgentDestroyed(Body):
    """Step 10: the Master confirms the end (164)."""

    agent_name: Text


class Roster(Body):
    """Who exists now, by class (182)."""

    residents: list[str]
    slaves: list[str]
    temps: list[str]


class AgentRosterBroadcast(Body):
    """Steps 4 and 11: the complete roster for every resident (155)."""

    session_id: str
    roster: Roster


class TaskAssignment(Body):
    """Step 5: a slave gives a temporary agent its story (148-151)."""

    story_key: Text
    story_path: Text
    mode: Text
    session_id: Text
    report_to: Text
    resident_contacts: dict[str, str]
    config_overrides: dict[str, Any]


class AgentComplete(Body):
    """Step 7: a temporary agent reports to its slave (165)."""

    status: Text
    results: Loose


class SlaveBatchComplete(Body):
    """A slave reports its batch (152)."""

    batch_id: Key
    session_id: Text
    stories_completed: list[str]
    stories_failed: list[str]
    batch_report: str

    def remarks(self) -> Iterator[tuple[str, str, str]]:
        yield from super().remarks()
        both = sorted({*self.stories_completed} & {*self.stories_failed})
        if both:
            yield "BODY_INVALID", "stories_failed", f"{', '.join(both)} are reported completed and failed"


class PlannedBatch(Body):
    """One batch of a plan."""

    batch_id: Key
    stories: list[str]


class Dependency(Body):
    """What a story waits for."""

    depends_on: list[str]


class BatchPlanReady(Body):
    """The scrum master's plan (154)."""

    session_id: Text
    total_stories: int
    batches: list[PlannedBatch]
    dependency_graph: dict[str, Dependency]

    def remarks(self) -> Iterator[tuple[str, str, str]]:
        yield from super().remarks()
        listed = [story for batch in self.batches for story in batch.stories]
        if len(listed) != self.total_stories:
            text = f"total_stories says {self.total_stories}, the batches list {len(listed)}"
            yield "STORY_COUNT_MISMATCH", "total_stories", text
        if len({*listed}) != len(listed):
            yield "BODY_INVALID", "batches", "a story stands in it twice"
        twice = [key for key, count in Counter(batch.batch_id for batch in self.batches).items() if count > 1]
        if twice:
            yield "BODY_INVALID", "batches", f"{', '.join(twice)} is the id of several batches"
        needs = {story: self.dependency_graph[story].depends_on for story in self.dependency_graph}
        unknown = sorted({*needs, *chain.from_iterable(needs.values())} - {*listed})
        if unknown:
            yield "BODY_INVALID", "dependency_graph", f"{', '.join(unknown)} is in no batch"
        try:
            TopologicalSorter(needs).prepare()
        except CycleError as error:
            yield "BODY_INVALID", "dependency_graph", f"they wait for each other: {', '.join(error.args[1])}"


class CcTrigger(Body):
    """The user's wish for a course correction (B.4)."""

    reason: Text | None = None
    user_input: Annotated[str, Field(max_length=2000)] | None = None
    current_batch_id: Key | None = None
    known = {"reason": frozenset({"user_request", "repeated_failures", "new_requirements"})}


class CourseCorrection(Body):
    """The scrum master's report of a re-plan; both forms of the field are understood (B.4)."""

    session_id: str | None = None
    reason: str | None = None
    status: str | None = None


class DebugRequest(Body):
    """A failure to analyse (156)."""

    debug_id: Text
    story_key: str
    agent_type: str
    error_summary: Text
    stack_trace: str | None
    test_output: str | None
    severity_hint: Upper
    known = {"severity_hint": _LEVELS}


class DebugResult(Body):
    """Its analysis (157)."""

    debug_id: Text
    story_key: str
    root_cause: Text
    fix_suggestion: str
    severity: Upper
    confidence: Lower
    journal_entry_id: str | None
    known = {"severity": _LEVELS, "confidence": frozenset({"high", "medium", "low"})}


_NEEDED_BY_OPERATION = {
    "navigate": ("url",),
    "click": ("selector",),
    "type": ("selector", "input_value"),
    "screenshot": ("screenshot_path",),
    "read_dom": ("selector",),
    "check_element": ("selector",),
}


_SCREENSHOTS = ".sprint-session/screenshots/"


def _misplaced(path: str | None) -> Iterator[tuple[str, str, str]]:
    """A screenshot anywhere but where the protocol keeps them (requirement 162)."""
    if path is not None and not normpath(path).startswith(_SCREENSHOTS):
        yield "BODY_INVALID", "screenshot_path", f"{named(path)} is not below {_SCREENSHOTS}"


class BrowserRequest(Body):
    """One browser operation; what it does not use is null (159)."""

    request_id: Text
    operation: Text
    url: str | None
    selector: str | None
    input_value: str | None
    screenshot_path: str | None
    known = {"operation": frozenset(_NEEDED_BY_OPERATION)}

    def remarks(self) -> Iterator[tuple[str, str, str]]:
        yield from super().remarks()
        for name in _NEEDED_BY_OPERATION.get(self.operation, ()):
            if getattr(self, name) is None:
                yield "BODY_INVALID", name, f"the operation {self.operation} needs it"
        yield from _misplaced(self.screenshot_path)


class BrowserResult(Body):
    """What the operation gave (160)."""

    request_id: Text
    status: Text
    result_data: dict[str, Any] | None
    screenshot_path: str | None
    error: Loose | None

    def remarks(self) -> Iterator[tuple[str, str, str]]:
        yield from super().remarks()
        yield from _misplaced(self.screenshot_path)


class Query(Body):
    """One question of a research request."""

    query: Text


class ResearchRequest(Body):
    """Questions for the knowledge researcher, in their first form (144)."""

    story_key: str
    requesting_agent: str
    queries: list[Query]


class Finding(Body):
    """The answer to one query."""

    query: str
    status: str


class ResearchResult(Body):
    """Answers, one per query."""

    story_key: str
    results: list[Finding]


BODIES: Mapping[str, type[Body]] = {
    "AGENT_CREATE_REQUEST": AgentCreateRequest,
    "AGENT_CREATED": AgentCreated,
    "AGENT_DESTROY_REQUEST": AgentDestroyRequest,
    "AGENT_DESTROYED": AgentDestroyed,
    "AGENT_ROSTER_BROADCAST": AgentRosterBroadcast,
    "TASK_ASSIGNMENT": TaskAssignment,
    "SLAVE_BATCH_COMPLETE": SlaveBatchComplete,
    "BATCH_PLAN_READY": BatchPlanReady,
    "COURSE_CORRECTION": CourseCorrection,
    "CC_TRIGGER": CcTrigger,
    "DEBUG_REQUEST": DebugRequest,
    "DEBUG_RESULT": DebugResult,
    "BROWSER_REQUEST": BrowserRequest,
    "BROWSER_RESULT": BrowserResult,
    "AGENT_COMPLETE": AgentComplete,
    "RESEARCH_REQUEST": ResearchRequest,
    "RESEARCH_RESULT": ResearchResult,
}
"""The seventeen kinds of seed 002; names that are only recognised have no body of their own."""


# A sprint message as text, `NAME: {json}`: composed, checked before sending, its problems reported on reading.


def compose(name: str, body: Mapping[str, Any]) -> str:
    """The content a sprint message travels as: `NAME: {json}`, `msg_type` first (requirements 124, 125).

    Raises:
        TeamError: `INVALID_FIELD` naming the field that is missing or wrong.
    """
    check_body(name, body)
    said = {"msg_type": name, **{key: value for key, value in body.items() if key != "msg_type"}}
    return f"{name}: {json.dumps(said, ensure_ascii=False, allow_nan=False)}"


def check_body(name: str, body: Mapping[str, Any]) -> None:
    """Refuse a body that we would send and others could not read.

    Raises:
        TeamError: `INVALID_FIELD` naming the first field that is missing, wrong or out of place.
    """
    if name not in BODIES:
        raise TeamError(Code.INVALID_TYPE, f"{name} is understood on reading only", "Send a kind of the source.")
    if body.get("msg_type", name) != name:
        raise _invalid(name, "msg_type", f"says {named(body['msg_type'])}, the message is {name}")
    for code, field, text in _body_problems(name, body):
        if code in (_MALFORMED, "BUSINESS_IN_CREATE_REQUEST"):
            raise _invalid(name, field, text)


def check_carried(content: str) -> None:
    """Refuse a plain message of ours whose `NAME: {json}` is not what it says.

    Raises:
        TeamError: `INVALID_FIELD` naming the place.
    """
    try:
        name, body = parse_carried(content)
    except ValueError as error:
        hint = "After the colon stands one JSON object."
        raise TeamError(Code.INVALID_FIELD, f"content: the JSON cannot be read: {error}", hint) from error
    if body.get("msg_type", body.get("type")) is None:
        raise _invalid(name, "msg_type", "is missing")
    check_body(name, body)


def body_problems(message: Message, name: str, body: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Violations by a stored sprint message of the form of its kind."""
    problems = [
        Problem(
            "BODY_INVALID" if code == _MALFORMED else code,
            "warning",
            f"{message.message_id} {field}",
            f"{name}: {field}: {text}",
            _HINTS.get(code, _RESEND),
        )
        for code, field, text in _body_problems(name, body)
    ]
    problems += _misnamed_sender(message, name, body)
    return tuple(problems)


_OWN_NAME = {
    "AGENT_CREATE_REQUEST": ("requested_by", "the sender gets the answer"),
    "TASK_ASSIGNMENT": ("report_to", "the agent will report to the one named"),
}
"""Fields that hold the sender's own name (requirement 192), and what follows when they do not."""


def _misnamed_sender(message: Message, name: str, body: Mapping[str, Any]) -> Iterator[Problem]:
    field, follows = _OWN_NAME.get(name, ("", ""))
    value = body.get(field)
    if isinstance(value, str) and value != message.sender:
        text = f"{name}: {field} says {value:.80}, the sender is {message.sender}; {follows}"
        yield Problem("BODY_INVALID", "warning", f"{message.message_id} {field}", text, _RESEND)


_MALFORMED = "MALFORMED"
_RESEND = "Ask the sender to send it again in the form of the protocol."
_HINTS = {
    "STORY_COUNT_MISMATCH": "Ask the scrum master which stories are missing.",
    "BUSINESS_IN_CREATE_REQUEST": "The slave gives the context to the new agent in TASK_ASSIGNMENT.",
}


def _body_problems(name: str, body: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    model = BODIES.get(name)
    if model is None:
        return
    try:
        fitting = model.model_validate(dict(body))
    except ValidationError as error:
        for item in error.errors(include_url=False, include_context=False, include_input=False):
            yield _MALFORMED, ".".join(map(str, item["loc"])), _words(item["type"], item["msg"])
    else:
        yield from fitting.remarks()


_SHAPES = {
    "missing": "is missing",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
}
"""What pydantic calls a departure -> what a person calls it; pydantic's own words speak of Python's types."""


def _words(type: str, message: str) -> str:
    return _SHAPES.get(type) or message[:1].lower() + message[1:]


def _invalid(name: str, field: str, text: str) -> TeamError:
    model = BODIES[name]
    return TeamError(Code.INVALID_FIELD, f"{name}: {field}: {text}", f"{name} has {', '.join(model.model_fields)}.")
