"""Types of what is inside the JSON of verbs: a request, an agent, a verdict; the whole is in `json_results.py`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""A time in UTC, as 2026-02-24T10:30:15.123Z."""
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
    """who wrote it"""
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
    """the text of that line"""
    text: str
    """the remark"""


class VerdictJson(Result):
    """the state of one request, and its answer"""

    request_id: str
    """the request"""
    state: Literal["approved", "rejected", "answered", "withdrawn", "superseded", "open"]
    """its state; `open` covers overdue"""
    approve: bool | None
    """true: approved; false: rejected; null: neither"""
    reason: str | None
    """the words of the answer, or the reason of a withdrawal"""
    message_id: str | None
    """the answer that counts"""
    answered_by: str | None
    """who answered; null while it is open"""
    answered_at: Moment | None
    """when it was answered"""
    asked_back: str | None
    """a question back to the asker, who has not answered it yet"""
    trust: NotRequired[str]
    """what is wrong with the answer: `unverified`, `by another program`; `changed`: it was given on other words"""
    remarks: NotRequired[list[RemarkJson]]
    """remarks on single lines"""
    answers: NotRequired[dict[str, Any]]
    """by question, the options that were chosen or the words that were typed"""
    annotations: NotRequired[dict[str, dict[str, str]]]
    """by question, `notes`: words that were added to the choice"""
    scope: NotRequired[Literal["once", "always"]]
    """`once`: this call only; `always`: by the rule in `suggestion` from now on"""
    suggestion: NotRequired[Any]
    """what is allowed always, as the client suggested it"""
    mode: NotRequired[str]
    """the mode in which the asker of a plan continues"""
    updated_plan: NotRequired[str]
    """the plan as it was edited before it was approved"""
    updated_input: NotRequired[dict[str, Any]]
    """the tool's input as it was edited before it was approved"""


class MemberJson(Result):
    name: str
    """its name"""
    role: Literal["master", "resident", "slave", "temp", "member"]
    """`master` is the lead"""
    plan_mode_required: bool
    """it starts work only once its plan is approved"""
    deliver: list[str]
    """command for pushed messages; empty: its inbox file"""
    deliver_timeout: float
    """seconds"""
    may_message: list[str] | None
    """whom it may write to; null: everybody"""
    may_send: list[str] | None
    """which kinds it may send; null: all"""
    ask_for: list[str] | None
    """actions that need your answer; null: as the team's settings say"""


class ClientFileJson(Result):
    path: str
    """the file"""
    change: Literal["created", "changed", "removed", "unchanged"]
    """what happened to it, or would happen"""
    diff: str
    """the change as a unified diff; empty for none"""


class ScopeJson(Result):
    agent: str
    """the agent whose permissions it answers"""
    tool: str
    """the tool, in the client's word"""
    directory: str
    """the folder in which the tool runs"""
    client: str
    """the client that asks"""
    inputs: list[dict[str, Any]]
    """the inputs of the tool that it covers"""


class GrantJson(Result):
    id: str
    """the grant, for `grants recall`"""
    by: str
    """the human who gave it"""
    scope: dict[str, Any]
    """what it answers, as in `grant`"""
    ends: Moment | None
    """when it ends; null: after its last answer"""
    uses: int | None
    """the number of answers it may give; null: any number until it ends"""
    used: int
    """number of answers it has given"""
    over: str | None
    """why it answers no more; null: it does"""


class ProofJson(Result):
    message_id: str
    """the message that was signed"""
    signer: str
    """the human who signed"""
    time: Moment
    """when it was signed"""
    verdict: Literal["approve", "reject", "answer", "askback", "shutdown"]
    """what was decided"""
    stands: bool
    """this is the answer that counts"""
    trouble: str | None
    """why it decides nothing"""
    statement: str
    """the text that was signed"""
    signature: str | None
    """SSHSIG, armoured"""
    allowed_signers: list[str]
    """the keys that may sign it, as ssh-keygen reads them"""
    command: str | None
    """a shell command that checks the signature"""


class TalkJson(Result):
    by: str
    """who wrote it"""
    at: str
    """when it was written"""
    content: str
    """the text"""
    asks: bool
    """true: a question back to the asker; false: the asker's reply"""


_Asked = TypedDict("_Asked", {"from": Annotated[str, Field(description="who asked")]})


class RequestJson(Result, _Asked):
    to: str
    """who is asked"""
    request_id: str
    """the request, for `approve`, `reject`, `answer`, `show`"""
    kind: str
    """plan, shutdown, create, destroy, permission, question, escalation, clarification, ..."""
    message_id: str
    """the message that asks"""
    state: str
    """open, overdue, approved, rejected, answered, superseded or withdrawn"""
    asked_at: Moment | None
    """when it was asked"""
    waiting_seconds: float
    """how long it waits or waited"""
    answered_at: Moment | None
    """when it was answered; null while it is open"""
    answered_by: str | None
    """who answered; null while it is open"""
    reason: str | None
    """the reason of a rejection, or the note of an approval"""
    flags: list[str]
    """what is unusual about it, a word each"""
    forged: dict[str, Annotated[str, Field(description="what is wrong with the signature")]]
    """by message id, answers that decide nothing because a signature is missing or wrong"""
    title: str
    """what is asked, in one line"""
    seen_at: Moment | None
    """when whoever is asked read it"""
    due_at: Moment | None
    """when it becomes overdue"""
    expires_at: str | None
    """when it ends by itself, as timed out"""
    withdrawn_at: str | None
    """when it was taken back or timed out"""
    answers: list[str]
    """the messages that answer it, the first one first"""
    supersedes: str | None
    """the earlier request that it replaces"""
    cause: str
    """equal for similar requests: the same input, or simple commands that differ in one word"""
    talk: list[TalkJson]
    """questions back to the asker and the replies, the oldest first"""
    superseded_by: str | None
    """the later request that replaces it"""
    content: NotRequired[str | None]
    """what is asked"""


class AgentJson(Result):
    name: str
    """its name"""
    role: str
    """master, resident, slave, temp or member"""
    state: str
    """what it does, in the words of the store; see `reason`"""
    plan_mode_required: bool
    """it starts work only once its plan is approved"""
    unread: int
    """messages in its inbox that it has not read"""
    oldest_unread_seconds: float | None
    """how long the oldest of them waits"""
    oldest_unread: Moment | None
    """when the oldest of them was written"""
    total: int
    """messages in its inbox"""
    session: str | None
    """the session that `heard_at` and `mode` are of, by its client's id"""
    last_seen: Moment | None
    """when it last wrote, read or was heard"""
    reason: str
    """why it is in that state"""
    stranger: bool
    """it is no member"""
    addressable: bool
    """messages can be sent to this name"""
    looks_like: str | None
    """another agent's name that looks the same and has other letters"""
    reported: str | None
    """the state that it last reported itself"""
    reported_at: Moment | None
    """when it reported that"""
    dropped: int
    """messages for it in `drop/`, not yet in the queue"""
    unanswered: int
    """messages to it alone that it read and did not answer"""
    source: Literal["hook", "queue"] | None
    """what `state` comes from: its client's hook, or its messages"""
    heard_at: Moment | None
    """when its client's hook was last heard"""
    mode: str | None
    """the client's permission mode, in the client's word"""


class LockJson(Result):
    """who holds the lock at this moment"""

    pid: int | None
    """its process; null: not known"""
    host: str
    """its machine"""
    since: str
    """when it took the lock"""
    action: str
    """what it does"""
    alive: bool | None
    """the process runs; null: not known, on another machine"""


class ReasonJson(Result):
    state: str
    """as in condition"""
    text: str
    """what is wrong, as a sentence"""
    hint: str
    """the next step"""


class WaitedJson(Result):
    total: float
    """seconds in which at least one request waited"""
    median: float | None
    """seconds that a request waited, the median"""
    now: float | None
    """seconds that the oldest open request has waited"""
    requests: int
    """number of requests"""


class BlockedJson(Result):
    """how long agents waited for a human"""

    team: WaitedJson
    """of all agents together"""
    agents: dict[str, WaitedJson]
    """by name, of each agent"""


class CallJson(Result):
    tool: str
    """the tool, in the client's word"""
    subject: str
    """what it was called with, in one line"""
    state: str
    """ok, failed, exit 1, no result yet"""


class WhyJson(Result):
    """the words and tool calls before the request, from its client's transcript"""

    user: str
    """the last words of the user of the session"""
    agent: str
    """the last words of the agent before the call"""
    calls: list[CallJson]
    """the last calls of tools before it, the oldest first"""
    missing: str
    """why there is no transcript; empty if there is one"""


class RemarkThenJson(RemarkJson):
    now: int | None
    """the number of that line in this version; null: it is gone"""


class TryJson(Result):
    message_id: str
    """the message"""
    recipient: str
    """who gets it"""
    status: str
    """pending, claimed, retry, delivered, read, failed, expired or recalled"""
    at: str | None
    """since when"""
    tries: int
    """deliveries that were tried"""
    most_tries: int
    """after how many it counts as failed"""
    next_try: str | None
    """when it is tried again"""
    error: str | None
    """why the last one failed"""


class HappeningJson(Result):
    group: str
    """asked, decided, withdrawn, answered elsewhere, failed, refused, done, stopped"""
    at: Moment | None
    """when it happened"""
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
    """the request that was decided"""
    kind: str
    """plan, permission, question, shutdown, create, destroy, clarification or escalation"""
    verdict: Literal["approved", "rejected", "answered"]
    """what was decided"""
    by: str
    """who decided"""
    asked_by: str | None
    """who asked"""
    asked_at: Moment | None
    """when it was asked"""
    at: Moment | None
    """when it was decided"""
    after_seconds: float | None
    """seconds from request to decision"""
    title: str | None
    """what was asked"""
    words: str | None
    """the reason or note of the decision"""
    request_sha256: str | None
    """digest of the question as it was decided on"""
    shown_sha256: str | None
    """digest of all that was shown to whoever decided; null: not known"""
    evidence: list[str]
    """what was shown beside the question, one line a piece"""
    shown_by: str | None
    """which part of the program showed it, and how much of it; null: not known"""
    proof: Literal["signed", "by grant", "recorded", "unverified", "not known"]
    """what proves it; `unverified`: a signature is needed and there is none that fits"""
    message_id: str | None
    """the message that decided"""
    audit_line: int | None
    """the line of the audit trail that records it"""
    gaps: list[str]
    """what cannot be proved or is not known, as sentences"""


class FindingJson(Result):
    code: str
    """a stable word, such as DAMAGED_ENTRY"""
    severity: Literal["error", "warning", "notice"]
    """`error`: lost or wrong; `warning`: likely to go wrong; `notice`: good to know"""
    place: str
    """file and line, message, agent or request"""
    message: str
    """what is wrong, as a sentence"""
    hint: str
    """the next step"""


class SummaryJson(Result):
    recipient: str
    """who gets the messages"""
    delivered: int
    """messages that were delivered in this pass"""
    failed: int
    """messages that failed in this pass"""


class SkippedMessageJson(Result):
    message_id: str
    """the message"""
    recipient: str
    """who gets it"""
    reason: str
    """why it was not tried"""


class FailedTryJson(Result):
    message_id: str
    """the message"""
    recipient: str
    """who gets it"""
    status: str
    """`retry`, or `failed` after the last try"""
    error: str
    """why it failed"""
    next_attempt_at: Moment | None
    """when it is tried again; null: never"""


class RefusedMessageJson(Result):
    message_id: str
    """the message"""
    recipient: NotRequired[str]
    """who gets it"""
    reason: str
    """why its row could not be changed"""


class FailureJson(Result):
    message_id: str
    """the message, for `retry`, `redirect`, `discard`"""
    status: str
    """`retry`: tried again; `failed`: given up; `expired`: too old"""
    sender: str
    """who wrote it"""
    recipient: str
    """who gets it"""
    message_type: str
    """kind of message"""
    attempts: int
    """deliveries that were tried"""
    max_attempts: int
    """after how many it counts as failed"""
    error_message: str | None
    """why the last one failed"""
    next_attempt_at: Moment | None
    """when it is tried again"""
    expires_at: Moment | None
    """when it becomes too old to deliver"""
    created_at: str
    """when it was written"""


class PolledJson(Result):
    message_id: str
    """the message"""
    sender: str
    """who wrote it"""
    message_type: str | None
    """kind of message"""
    payload: dict[str, Any]
    """everything in it but its envelope"""
    created_at: str
    """when it was written"""


class RoutingJson(Result):
    sender: str
    """who wrote it"""
    target: str
    """who gets it, with an `@` before the name"""
    summary: NotRequired[str]
    """its summary"""
    content: NotRequired[str]
    """its content"""


class MistakeJson(Result):
    line: int
    """the line of the file, from 1; 0: of no single line"""
    message: str
    """what is wrong, as a sentence"""
    hint: str
    """the next step"""


class SettingOfJson(Result):
    path: str
    """its name, with dots between tables"""
    value: str
    """what it takes"""
    default: str
    """what applies without it"""
    meaning: str
    """what it does"""
    also: list[str]
    """other names that are read for it"""
