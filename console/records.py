"""What results of verbs hold, a type for each: a request, an agent, a verdict, a decision; `results.py` has results."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

Moment = Annotated[str, Field(description="time as 2026-02-24T10:30:15.123Z")]
Stored = Annotated[dict[str, Any], Field(description="a record as it is stored: envelope and payload")]
Condition = Annotated[
    str,
    Field(description="ok, empty, polling, settings, locked, doubt, stale, vanished, unreadable or reading"),
]


@with_config(ConfigDict(use_attribute_docstrings=True))
class Result(TypedDict):
    """An object of JSON."""


class EnvelopeJson(Result):
    message_id: str
    """id of the record that was written"""
    sender: str
    message_type: str
    """kind of message"""
    status: str
    """pending, claimed, retry, delivered, read, failed, expired or recalled"""
    created_at: str
    """when it was created, as the record says it"""
    request_id: NotRequired[str]
    """the request opened or answered"""


class DeliveryJson(EnvelopeJson):
    recipient: str
    """one name, or several after commas for a record of others"""


class RemarkJson(Result):
    line: int
    """from 1"""
    quote: str
    """what stands there"""
    text: str
    """what is said to it"""


class VerdictJson(Result):
    """how one request stands"""

    request_id: str
    state: Literal["approved", "rejected", "answered", "withdrawn", "superseded", "open"]
    approve: bool | None
    """the yes or no; null without one"""
    reason: str | None
    """the words of the answer, or why it was withdrawn"""
    message_id: str | None
    """the answer that stands"""
    answered_by: str | None
    answered_at: Moment | None
    asked_back: str | None
    """what the asker is asked before there is an answer"""
    remarks: NotRequired[list[RemarkJson]]
    """what is said to single lines"""
    answers: NotRequired[dict[str, Any]]
    annotations: NotRequired[dict[str, dict[str, str]]]
    """by question, `notes`: words beside what was chosen"""
    scope: NotRequired[Literal["once", "always"]]
    suggestion: NotRequired[Any]
    """what is allowed always, as the client suggested it"""
    mode: NotRequired[str]
    """in which the asker of a plan goes on"""
    updated_plan: NotRequired[str]
    """the plan as it was edited before it was approved"""
    updated_input: NotRequired[dict[str, Any]]


class MemberJson(Result):
    name: str
    role: Literal["master", "resident", "slave", "temp", "member"]
    plan_mode_required: bool
    """it works only after its plan was approved"""
    deliver: list[str]
    """command for pushed messages; empty: its inbox file"""
    deliver_timeout: float
    """seconds"""
    may_message: list[str] | None
    """whom it may write to; null: everybody"""
    may_send: list[str] | None
    """which kinds it may send; null: all"""
    ask_for: list[str] | None
    """which of its actions come to the human's desk; null: the team's"""


class ClientFileJson(Result):
    path: str
    change: Literal["created", "changed", "removed", "unchanged"]
    diff: str
    """the change as a unified diff; empty for none"""


class ScopeJson(Result):
    agent: str
    tool: str
    directory: str
    client: str
    inputs: list[dict[str, Any]]


class GrantJson(Result):
    id: str
    by: str
    scope: dict[str, Any]
    ends: Moment | None
    uses: int | None
    used: int
    """answers it has given"""
    over: str | None
    """why it gives no answer any more"""


class ProofJson(Result):
    message_id: str
    signer: str
    time: Moment
    verdict: Literal["approve", "reject", "answer", "askback", "shutdown"]
    stands: bool
    """it is the one that decides"""
    trouble: str | None
    """why it decides nothing"""
    statement: str
    """the text that is signed"""
    signature: str | None
    """SSHSIG, armoured"""
    allowed_signers: list[str]
    """the keys that may sign it, as ssh-keygen reads them"""
    command: str | None
    """what a shell runs to check it"""


class TalkJson(Result):
    by: str
    at: str
    content: str
    asks: bool
    """it asks back; else it answers that"""


_Asked = TypedDict("_Asked", {"from": Annotated[str, Field(description="who asked")]})


class EndsJson(Result, _Asked):
    to: str
    """who is asked"""


class RequestJson(EndsJson):
    request_id: str
    kind: str
    """plan, shutdown, create, destroy, permission, question, escalation, clarification, ..."""
    message_id: str
    """the message that asks"""
    state: str
    """open, overdue, approved, rejected, answered, superseded or withdrawn"""
    asked_at: Moment | None
    waiting_seconds: float
    answered_at: Moment | None
    answered_by: str | None
    reason: str | None
    """why not, or the note of the answer"""
    flags: list[Annotated[str, Field(description="what is unusual about it")]]
    forged: dict[str, Annotated[str, Field(description="why it decides nothing")]]
    """by id, answers that are not signed as they must be"""
    title: str
    seen_at: Moment | None
    due_at: Moment | None
    expires_at: str | None
    """when it ends by itself, as timed out"""
    withdrawn_at: str | None
    """when it was taken back or timed out"""
    answers: list[Annotated[str, Field(description="ids of messages that answer it")]]
    supersedes: str | None
    """the request it takes the place of"""
    cause: str
    """the same for those that are alike: equal ones, and simple commands that differ in one word"""
    talk: list[TalkJson]
    """what was asked back about it, and what its asker said, the oldest first"""
    superseded_by: str | None
    content: NotRequired[str | None]
    """what is asked"""


class AgentJson(Result):
    name: str
    role: str
    """master, resident, slave, temp or member"""
    state: str
    plan_mode_required: bool
    unread: int
    oldest_unread_seconds: float | None
    oldest_unread: Moment | None
    total: int
    """messages in its inbox"""
    session: str | None
    """its client's id of the session that tells"""
    last_seen: Moment | None
    reason: str
    """why it is in that state"""
    stranger: bool
    """it is on no roster"""
    addressable: bool
    """its name is one that can be written to"""
    looks_like: str | None
    """the agent its name is easily taken for, written with other letters"""
    reported: str | None
    """what it last said of its own state"""
    reported_at: Moment | None
    dropped: int
    """messages for it that wait beside the queue to be taken in"""
    unanswered: int
    """messages to it alone that it read and did not answer"""
    source: Literal["hook", "queue"] | None
    heard_at: Moment | None
    mode: str | None
    """in which its client decides on tools, in the client's word"""


class LockJson(Result):
    """who holds the lock at this moment"""

    pid: int | None
    host: str
    since: str
    action: str
    alive: bool | None


class ReasonJson(Result):
    state: str
    """as in condition"""
    text: str
    hint: str
    """the next step"""


class WaitedJson(Result):
    total: float
    """seconds in which at least one of its requests waited"""
    median: float | None
    """seconds that a request waited"""
    now: float | None
    """seconds for which its oldest open request waits"""
    requests: int
    """how many it put"""


class BlockedJson(Result):
    """how long agents waited for a human"""

    team: WaitedJson
    agents: dict[str, WaitedJson]


class CallJson(Result):
    tool: str
    subject: str
    state: str
    """ok, failed, exit 1, no result yet"""


class WhyJson(Result):
    """what was said and done before it asked, from its client's transcript"""

    user: str
    """the last words of the user of the session"""
    agent: str
    """the last words of the agent before the call"""
    calls: list[CallJson]
    missing: str
    """why nothing is known; empty where it is"""


class RemarkThenJson(RemarkJson):
    now: int | None
    """its line in this version; null: it is gone"""


class TryJson(Result):
    message_id: str
    recipient: str
    status: str
    """as of the record for this recipient"""
    at: str | None
    """when that became so"""
    tries: int
    most_tries: int
    next_try: str | None
    error: str | None


class HappeningJson(Result):
    group: str
    """asked, decided, withdrawn, answered elsewhere, failed, refused, done, stopped"""
    at: Moment | None
    who: str
    """the agent it is about"""
    what: str
    """one line"""
    by: str | None
    """who decided"""
    ref: str
    """id of the request or message"""


class DecisionJson(Result):
    request_id: str
    kind: str
    """plan, permission, question, shutdown, create, destroy, clarification or escalation"""
    verdict: Literal["approved", "rejected", "answered"]
    by: str
    """who decided"""
    asked_by: str | None
    asked_at: Moment | None
    at: Moment | None
    after_seconds: float | None
    """from question to decision"""
    title: str | None
    """what was asked"""
    words: str | None
    """of the decision"""
    request_sha256: str | None
    """digest of the question as it was decided on"""
    shown_sha256: str | None
    """digest of all that was shown to whoever decided; null: not known"""
    evidence: list[str]
    """what was shown beside the question, one line a piece"""
    shown_by: str | None
    """what showed it, and how much of it, in words; null: not known"""
    proof: Literal["signed", "by grant", "recorded", "unverified", "not known"]
    message_id: str | None
    """the message that decided"""
    audit_line: int | None
    """its line in the audit trail"""
    gaps: list[str]
    """what cannot be proved or is not known, as sentences"""


class FindingJson(Result):
    code: str
    """a stable word, such as DAMAGED_ENTRY"""
    severity: Literal["error", "warning", "notice"]
    place: str
    """file and line, message, agent or request"""
    message: str
    hint: str
    """the next step"""


class SummaryJson(Result):
    recipient: str
    delivered: int
    failed: int


class SkippedMessageJson(Result):
    message_id: str
    recipient: str
    reason: str


class FailedTryJson(Result):
    message_id: str
    recipient: str
    status: str
    error: str
    next_attempt_at: Moment | None


class RefusedMessageJson(Result):
    message_id: str
    recipient: NotRequired[str]
    reason: str


class FailureJson(Result):
    message_id: str
    status: str
    sender: str
    recipient: str
    message_type: str
    attempts: int
    max_attempts: int
    error_message: str | None
    next_attempt_at: Moment | None
    expires_at: Moment | None
    created_at: str


class PolledJson(Result):
    message_id: str
    sender: str
    message_type: str | None
    payload: dict[str, Any]
    created_at: str


class RoutingJson(Result):
    sender: str
    target: str
    summary: NotRequired[str]
    content: NotRequired[str]


class MistakeJson(Result):
    line: int
    message: str
    hint: str


class SettingOfJson(Result):
    path: str
    value: str
    default: str
    meaning: str
    also: list[str]
