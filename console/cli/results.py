"""What every verb prints with `--json`, and what tools of the MCP server return: a type for each.

`python -m tests.schemas` makes the schemas of them that `help json VERB` prints. Keys may be added in later versions;
none is renamed or taken away. The text below a field is its description in the schema. Nothing that a verb runs imports
this module: pydantic would cost each start more than the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
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


class ActedJson(Result):
    success: bool
    action: str
    """the verb"""


class WarnedJson(Result):
    warnings: list[str]
    """what the caller should know, as sentences"""


class DoubtfulJson(Result):
    doubt: str | None
    """why this may not be all; null: nothing is known to be missing"""


class DeliveryJson(Result):
    message_id: str
    """id of the record that was written"""
    sender: str
    recipient: str
    """one name, or several after commas for a record of others"""
    message_type: str
    """kind of message"""
    status: str
    """pending, claimed, retry, delivered, read, failed, expired or recalled"""
    created_at: str
    """when it was created, as the record says it"""
    request_id: NotRequired[str]
    """the request opened or answered"""


class ReportJson(ActedJson, WarnedJson):
    repeated: NotRequired[bool]
    """it was there already"""
    notes: NotRequired[list[str]]
    """what follows from it, as sentences"""


class WrittenJson(ReportJson, DeliveryJson):
    deliveries: NotRequired[list[DeliveryJson]]
    """one for each recipient, when there are several"""


class ForeseenJson(ReportJson):
    dry_run: bool
    """nothing was written"""


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


class AwaitedJson(WrittenJson):
    verdict: NotRequired[VerdictJson]
    """how it stands, with --wait"""


class PlayedJson(ActedJson):
    location: str
    """the folder of the team"""


class MadeJson(ActedJson):
    team: str
    location: str
    lead: str
    agents: list[str]
    """the members, lead first"""


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


class MembersJson(Result):
    team: str
    members: list[MemberJson]


class MembersListedJson(MembersJson):
    """what list found"""

    lead: str
    declared: bool
    """the settings name the members"""


class MembersChangedJson(MembersJson, ActedJson, WarnedJson):
    """what add, set and remove did"""


class ClientFileJson(Result):
    path: str
    change: Literal["created", "changed", "removed", "unchanged"]
    diff: str
    """the change as a unified diff; empty for none"""


class JoiningJson(ActedJson):
    agent: str
    member_changed: bool
    """the member was put into the team's settings, or taken out of them"""
    files: list[ClientFileJson]
    """every file of the client that is concerned"""
    notes: list[str]
    """what the user should know, as sentences"""
    written: bool
    """it was done, and not only shown"""


class InstructedJson(Result):
    agent: str
    team: str
    instructions: str
    """for the agent's model"""


class CopiedJson(ActedJson, WarnedJson):
    location: str
    """the target"""
    live: int
    archived: int
    attachments: int
    audit: int
    updated: int
    already: int
    differing: list[Annotated[str, Field(description="id that the target has in another state")]]


class PreviewJson(ForeseenJson):
    recipients: list[str]
    not_listening: list[Annotated[str, Field(description="member that has stopped or was asked to")]]
    left_out: list[Annotated[str, Field(description="sender or recipient whose name is none, so that it gets nothing")]]


class ReceivedJson(Result):
    """an error has these keys, too"""

    messages: list[Stored]
    count: int
    status_message: str


class ScopeJson(Result):
    agent: str
    tool: str
    directory: str
    client: str
    inputs: list[dict[str, Any]]


class GrantedJson(WrittenJson):
    grant_id: str


class TrialJson(ForeseenJson):
    scope: ScopeJson
    would_have_answered: int
    """of your own decisions"""
    differed: list[str]
    """requests in its scope that you rejected"""


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


class GrantsJson(DoubtfulJson):
    grants: list[GrantJson]


class StoppedJson(ReportJson):
    """with --all or --wait `success` says whether all agreed"""

    approve: bool | None
    """the answer that was waited for"""
    reason: str | None


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


class EvidenceJson(Result):
    request_id: str
    state: str
    """as in `requests`"""
    verdicts: Literal["open", "signed"]
    proven: bool
    """the verdict that stands, or the order to stop, is signed and fits"""
    evidence: list[ProofJson]
    """what humans said, the oldest first"""


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


class RequestsJson(DoubtfulJson):
    requests: list[RequestJson]


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


class RosterJson(DoubtfulJson):
    agents: list[AgentJson]


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


class StatusJson(DoubtfulJson):
    team: str
    location: str
    backend: str
    """yaml, sql, claude or memory"""
    read_only: bool
    condition: Condition
    agents: int
    messages: (
        Annotated[dict[str, int], Field(description="number by status; null while the queue cannot be read")] | None
    )
    needs_you: int | None
    """null while the queue cannot be read"""
    problems: int
    """findings of check"""
    last_change: Moment | None
    missing: int
    """messages known to be missing"""
    damaged: int
    """entries that cannot be read"""
    lock: LockJson | None
    reasons: list[ReasonJson]
    """all that is the matter, worst first"""
    dropped: int
    """messages that wait beside the queue to be taken in"""
    blocked: BlockedJson
    needs: NotRequired[list[dict[str, object]] | None]
    """what waits for you"""


class InboxOfJson(DoubtfulJson):
    agent: str
    messages: list[Stored]
    count: int
    more: NotRequired[int]
    """messages delivered earlier and not acknowledged, of a large table that is read in part"""


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


class ShownJson(Result):
    message: Stored
    live: bool
    """it is in the queue, not in the archive"""
    seen: str | None
    """of an open request: what an answer to exactly this gives with --seen"""
    seen_words: dict[str, Annotated[str, Field(description="what an answer to it gives with --seen")]]
    """by message id, the open requests"""
    why: WhyJson | None
    remarks: list[RemarkThenJson]
    """what was said to lines of it and of its earlier versions"""
    before: list[RequestJson]
    """what was decided on the same before, the newest first, at most five"""
    request: RequestJson | None
    versions: list[RequestJson]
    """the request and those it took the place of"""
    thread: list[Stored]
    """messages that belong together, the oldest first"""
    deliveries: list[TryJson]
    """one for each recipient"""
    doubles: list[Stored]
    """other messages with the same id"""


class HistoryJson(DoubtfulJson):
    messages: list[Stored]
    count: int


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


class DigestOfJson(DoubtfulJson):
    since: Moment
    until: Moment
    happened: list[HappeningJson]
    count: int
    waiting: int
    """things that wait for whoever looks, now"""
    unknown: list[str]
    """what records cannot tell, as sentences"""
    blocked: BlockedJson


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


class DecisionsJson(DoubtfulJson):
    decisions: list[DecisionJson]
    count: int
    problems: list[FindingJson]
    """what keeps the ledger from being whole or proved"""


_Written = TypedDict("_Written", {"from": str}, total=False)


class ChangeJson(Result, _Written, total=False):
    """one object on a line for each change"""

    message_id: str
    message_type: str
    status: str
    was: str
    condition: str
    priority: str
    code: str
    severity: str
    place: str
    message: str
    hint: str
    summary: str | None
    to: list[str]
    read_by: list[Annotated[str, Field(description="agents that have read it just now")]]


class WatchedJson(ChangeJson):
    """one object on a line for each change"""

    at: Moment
    change: str
    """new, status, gone, dropped, condition or problem"""


class CheckedJson(DoubtfulJson):
    condition: Condition
    findings: list[FindingJson]
    healed: list[FindingJson]


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


class RefusedJson(Result, total=False):
    """messages whose rows a table of others did not let change, where there are any"""

    messages_refused: int
    refused: list[RefusedMessageJson]


class DeliveryPassJson(ActedJson, RefusedJson):
    messages_delivered: int
    messages_failed: int
    messages_expired: int
    delivery_summary: list[SummaryJson]
    failures: list[FailedTryJson]
    messages_skipped: int
    skipped: list[SkippedMessageJson]
    next_due: Moment | None
    timestamp: Moment


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


class FailuresJson(DoubtfulJson):
    failures: list[FailureJson]
    count: int


class ClearedJson(ActedJson, RefusedJson):
    dry_run: bool
    messages_deleted: int
    disk_space_freed_mb: float
    deleted_statuses: dict[str, int]
    messages_kept: int
    archived_deleted: int


class PolledJson(Result):
    message_id: str
    sender: str
    message_type: str | None
    payload: dict[str, Any]
    created_at: str


class RoutedJson(ActedJson, RefusedJson, total=False):
    """the replies of poll, deliver, deliver_all, send, clear and clear_old"""

    messages_pending: int
    messages: list[PolledJson]
    messages_delivered: int
    messages_failed: int
    messages_expired: int
    delivery_summary: list[SummaryJson]
    messages_skipped: int
    skipped: list[SkippedMessageJson]
    warnings: list[str]
    """what the caller should know, as sentences"""
    delivered_at: Moment | None
    messages_deleted: int
    disk_space_freed_mb: float
    deleted_statuses: dict[str, int]
    orchestrator_instance_id: Any
    """as it was given"""
    timestamp: Moment


class RoutingJson(Result):
    sender: str
    target: str
    summary: NotRequired[str]
    content: NotRequired[str]


class SubmittedJson(ReportJson):
    message: str
    """what happened, as a sentence"""
    routing: RoutingJson
    recipients: NotRequired[list[str]]
    target: NotRequired[str]


class ServedJson(ActedJson):
    url: str
    """the address to open; whoever has it is let in"""
    port: int
    write: bool


class MistakeJson(Result):
    line: int
    message: str
    hint: str


class SettingsJson(Result):
    path: str
    exists: bool
    mistakes: NotRequired[list[MistakeJson]]


class SettingOfJson(Result):
    path: str
    value: str
    default: str
    meaning: str
    also: list[str]


class ExplainedJson(Result):
    """of 'help settings --json'"""

    settings: list[SettingOfJson]


class RefusalJson(Result):
    """what every verb prints when it refuses or fails; facts of the error may follow"""

    success: Literal[False]
    error: str
    """a stable word, such as NOT_PERMITTED"""
    message: str
    hint: NotRequired[str]
    """the next step"""


_RECEIPT = (WrittenJson, ReportJson)
"""What most verbs that write print: a receipt has no record where everything was there already."""
RESULTS: Mapping[str, tuple[type, ...]] = {
    "demo": (PlayedJson,),
    "init": (MadeJson,),
    "member": (MembersListedJson, MembersChangedJson),
    "join": (JoiningJson,),
    "leave": (JoiningJson,),
    "instructions": (InstructedJson,),
    "migrate": (CopiedJson,),
    "send": (WrittenJson,),
    "broadcast": (WrittenJson, PreviewJson),
    "receive": (ReceivedJson,),
    "ack": _RECEIPT,
    "plan": (AwaitedJson,),
    "ask": (AwaitedJson,),
    "answer": _RECEIPT,
    "grant": (GrantedJson, TrialJson),
    "grants": (GrantsJson, WrittenJson),
    "askback": _RECEIPT,
    "withdraw": _RECEIPT,
    "verdict": (VerdictJson,),
    "approve": (WrittenJson, ForeseenJson),
    "reject": _RECEIPT,
    "shutdown": (WrittenJson, StoppedJson),
    "evidence": (EvidenceJson,),
    "requests": (RequestsJson,),
    "roster": (RosterJson, WrittenJson),
    "status": (StatusJson,),
    "inbox": (InboxOfJson,),
    "show": (ShownJson,),
    "history": (HistoryJson,),
    "digest": (DigestOfJson,),
    "decisions": (DecisionsJson,),
    "watch": (WatchedJson,),
    "check": (CheckedJson,),
    "deliver": (DeliveryPassJson,),
    "serve": (ServedJson,),
    "config": (SettingsJson,),
    "failures": (FailuresJson,),
    "retry": _RECEIPT,
    "redirect": _RECEIPT,
    "discard": _RECEIPT,
    "recall": _RECEIPT,
    "clear": (ClearedJson,),
    "route": (RoutedJson, WrittenJson),
    "sendmessage": (WrittenJson, SubmittedJson),
    "help": (ExplainedJson,),
    "error": (RefusalJson,),
}
"""Verb -> the types of what it prints with `--json`, which is one of them; `error` is that of every refusal."""
