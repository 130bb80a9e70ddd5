"""What every verb prints with `--json`, and what tools of the MCP server return: a type for each.

`python -m tests.schemas` makes the schemas of them that `help json VERB` prints. Keys may be added in later versions;
none is renamed or taken away. The text below a field is its description in the schema. Nothing that a verb runs imports
this module: pydantic would cost each start more than the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from team_console.console.json_records import (
    AgentJson,
    BlockedJson,
    ClientFileJson,
    Condition,
    DecisionJson,
    DeliveryJson,
    EnvelopeJson,
    FailedTryJson,
    FailureJson,
    FindingJson,
    GrantJson,
    HappeningJson,
    LockJson,
    MemberJson,
    MistakeJson,
    Moment,
    PolledJson,
    ProofJson,
    ReasonJson,
    RefusedMessageJson,
    RemarkThenJson,
    RequestJson,
    Result,
    RoutingJson,
    ScopeJson,
    SettingOfJson,
    SkippedMessageJson,
    Stored,
    SummaryJson,
    TryJson,
    VerdictJson,
    WhyJson,
)
from typing_extensions import TypedDict


class ActedJson(Result):
    success: bool
    """it was done"""
    action: str
    """the verb"""


class WarnedJson(Result):
    warnings: list[str]
    """what you should know, as sentences"""


class DoubtfulJson(Result):
    doubt: str | None
    """why the list may be incomplete; null: nothing is known to be missing"""


class ReportJson(ActedJson, WarnedJson):
    repeated: NotRequired[bool]
    """it had been written before, by a call with the same words or id"""
    notes: NotRequired[list[str]]
    """consequences, as sentences"""


class WrittenJson(ReportJson, DeliveryJson):
    deliveries: NotRequired[list[DeliveryJson]]
    """one for each recipient, when there are several"""


class ForeseenJson(ReportJson):
    dry_run: bool
    """nothing was written"""


class ForeseenApprovalJson(ForeseenJson):
    request_id: str
    """the request opened or answered"""


class AwaitedJson(WrittenJson):
    verdict: NotRequired[VerdictJson]
    """with --wait: the state of the request, and its answer"""


class PlayedJson(ActedJson):
    location: str
    """the folder of the team"""


class MadeJson(ActedJson):
    team: str
    """name of the team"""
    location: str
    """its folder, database file or address, for `-t`"""
    lead: str
    """who leads it, and decides"""
    agents: list[str]
    """the members, lead first"""


class MembersJson(Result):
    team: str
    """name of the team"""
    members: list[MemberJson]
    """all members, lead first"""


class MembersListedJson(MembersJson):
    """what list found"""

    lead: str
    """who leads the team, and decides"""
    declared: bool
    """the settings name the members"""


class MembersChangedJson(MembersJson, ActedJson, WarnedJson):
    """what add, set and remove did"""


class JoiningJson(ActedJson):
    agent: str
    """the agent that joins or leaves"""
    member_changed: bool
    """the member was added to the team's settings, or removed from them"""
    files: list[ClientFileJson]
    """the client's settings files, each with its change"""
    notes: list[str]
    """what you should know, as sentences"""
    written: bool
    """true: the files were written; false: the changes were only shown"""


class InstructedJson(Result):
    agent: str
    """the agent"""
    team: str
    """name of the team"""
    instructions: str
    """for the agent's model"""


class CopiedJson(ActedJson, WarnedJson):
    location: str
    """the target"""
    live: int
    """messages of the queue that were copied"""
    archived: int
    """archive entries that were copied"""
    attachments: int
    """attachments that were copied"""
    audit: int
    """lines of the audit trail that were copied"""
    updated: int
    """messages copied earlier that had changed at the source since"""
    already: int
    """messages and archive entries that the target had"""
    differing: list[str]
    """ids of messages that the target has in another state; they were left alone"""


class PreviewJson(ForeseenJson):
    recipients: list[str]
    """members who would get it"""
    not_listening: list[str]
    """those of them that have stopped or were asked to"""
    left_out: list[str]
    """names in earlier messages that are not valid names, so that nothing can be sent to them"""


class ReceivedJson(Result):
    """an error has these keys, too"""

    messages: list[Stored]
    """what was taken, in the order to read it"""
    count: int
    """number of messages"""
    status_message: str
    """what happened, as a sentence"""


class _TriedJson(Result):
    scope: ScopeJson
    """what it answers"""
    would_have_answered: int
    """how many of your own decisions it would have made"""
    differed: list[str]
    """requests in its scope that you rejected"""


class GrantedJson(WrittenJson, _TriedJson):
    grant_id: str
    """the grant, for `grants recall`"""


class TrialJson(ForeseenJson, _TriedJson):
    """without --yes: what it would have answered"""


class GrantsJson(DoubtfulJson):
    grants: list[GrantJson]
    """the grants, those that are over too"""


class StoppedJson(WrittenJson):
    """with --all or --wait `success` says whether all agreed"""

    approve: NotRequired[bool | None]
    """the answer that was waited for"""
    reason: NotRequired[str | None]
    """why it was declined"""


class EvidenceJson(Result):
    request_id: str
    """the request"""
    state: str
    """as in `requests`"""
    verdicts: Literal["open", "signed"]
    """what the team's settings ask for: `open`: no signature; `signed`: one of a human's keys"""
    proven: bool
    """the answer that counts, or the order to stop, has a valid signature"""
    evidence: list[ProofJson]
    """the answers of humans, the oldest first"""


class RequestsJson(DoubtfulJson):
    requests: list[RequestJson]
    """the requests"""


class RosterJson(DoubtfulJson):
    agents: list[AgentJson]
    """the agents, lead first"""


class StatusJson(DoubtfulJson):
    team: str
    """name of the team"""
    location: str
    """its folder, database file or address"""
    backend: str
    """yaml, sql, claude or memory"""
    read_only: bool
    """this command could not have written"""
    condition: Condition
    agents: int
    """number of agents"""
    messages: dict[str, int] | None
    """by status, the number of messages in the queue; null while it cannot be read"""
    needs_you: int | None
    """null while the queue cannot be read"""
    problems: int
    """findings of check"""
    last_change: Moment | None
    """when the newest message was written or read"""
    missing: int
    """messages known to be missing"""
    damaged: int
    """entries that cannot be read"""
    lock: LockJson | None
    """who holds the lock; null: nobody"""
    reasons: list[ReasonJson]
    """everything that is wrong, worst first"""
    dropped: int
    """messages in `drop/`, not yet in the queue"""
    blocked: BlockedJson
    """how long agents waited for a human"""
    needs: NotRequired[list[dict[str, object]] | None]
    """what waits for you"""


class InboxOfJson(DoubtfulJson):
    agent: str
    """whose inbox"""
    messages: list[Stored]
    """the messages, in the order in which they would be received"""
    count: int
    """number of messages"""
    more: NotRequired[int]
    """messages delivered earlier and not acknowledged, of a large table that is read in part"""


class ShownJson(Result):
    message: Stored
    """the message that was asked for"""
    live: bool
    """it is in the queue, not in the archive"""
    seen: str | None
    """of an open request: the code for `--seen`, which refuses an answer if the request changed since"""
    seen_words: dict[str, str]
    """by message id, the codes for `--seen` of open requests"""
    why: WhyJson | None
    """what its client's transcript had before it asked; null: none belongs to it"""
    remarks: list[RemarkThenJson]
    """remarks on lines of it and of its earlier versions"""
    asker: str | None
    """of an open request: what became of its asker since, such as "has ended"; null: nothing that matters"""
    before: list[RequestJson]
    """earlier requests for the same thing that were decided, the newest first, at most five"""
    request: RequestJson | None
    """the request that it opens or belongs to"""
    versions: list[RequestJson]
    """the request and the earlier ones that it replaces"""
    thread: list[Stored]
    """messages that belong together, the oldest first"""
    deliveries: list[TryJson]
    """one for each recipient"""
    doubles: list[Stored]
    """other messages with the same id"""


class HistoryJson(DoubtfulJson):
    messages: list[Stored]
    """the messages, the oldest first"""
    count: int
    """number of messages"""


class DigestOfJson(DoubtfulJson):
    since: Moment
    """from when"""
    until: Moment
    """to when"""
    happened: list[HappeningJson]
    """what happened, by group"""
    count: int
    """number of things that happened"""
    waiting: int
    """things that wait for you now (or for `--as NAME`)"""
    unknown: list[str]
    """what the records do not show, as sentences"""
    blocked: BlockedJson
    """how long agents waited for a human in that time"""


class DecisionsJson(DoubtfulJson):
    decisions: list[DecisionJson]
    """the decisions, the newest first"""
    count: int
    """number of decisions"""
    problems: list[FindingJson]
    """why the list may be incomplete or unproved"""


_Written = TypedDict("_Written", {"from": Annotated[str, Field(description="who wrote the message")]}, total=False)


class ChangeJson(Result, _Written, total=False):
    """one object on a line for each change"""

    message_id: str
    """the message that changed"""
    message_type: str
    """kind of message"""
    status: str
    """its status now"""
    was: str
    """the status or condition before"""
    condition: str
    """of `condition`: the condition now"""
    priority: str
    """of `new`: critical, high, medium or low"""
    code: str
    """of `problem`: a stable word"""
    severity: str
    """of `problem`: error, warning or notice"""
    place: str
    """of `problem`: file and line, message, agent or request"""
    message: str
    """of `problem`: what is wrong, as a sentence"""
    hint: str
    """of `problem`: the next step"""
    summary: str | None
    """of `new` and `dropped`: its first words"""
    to: list[str]
    """who gets the message"""
    read_by: list[str]
    """agents that have read the message just now"""


class WatchedJson(ChangeJson):
    """one object on a line for each change"""

    at: Moment
    """when the change was seen"""
    change: str
    """new, status, gone, dropped, condition or problem"""


class CheckedJson(DoubtfulJson):
    condition: Condition
    findings: list[FindingJson]
    """what is wrong, the worst first"""
    healed: list[FindingJson]
    """with --heal: what was put right"""


class RefusedJson(Result, total=False):
    """messages that could not be changed in a table of another program"""

    messages_refused: int
    """number of them"""
    refused: list[RefusedMessageJson]
    """each of them, and why"""


class DeliveryPassJson(ActedJson, RefusedJson):
    messages_delivered: int
    """messages that were delivered"""
    messages_failed: int
    """tries that failed"""
    messages_expired: int
    """messages that were too old to deliver"""
    delivery_summary: list[SummaryJson]
    """the same by recipient"""
    failures: list[FailedTryJson]
    """each try that failed, and why"""
    messages_skipped: int
    """messages that were due and not tried"""
    skipped: list[SkippedMessageJson]
    """each of them, and why"""
    next_due: Moment | None
    """when the next message is due; null: none is"""
    timestamp: Moment
    """when the pass ended"""


class FailuresJson(DoubtfulJson):
    failures: list[FailureJson]
    """messages that could not be delivered"""
    count: int
    """number of them"""


class ClearedJson(ActedJson, RefusedJson):
    dry_run: bool
    """nothing was removed"""
    messages_deleted: int
    """messages that were archived and removed from the queue"""
    disk_space_freed_mb: float
    """by how much the queue became smaller, in MB"""
    deleted_statuses: dict[str, int]
    """by status, the number of them"""
    messages_kept: int
    """messages that stay in the queue"""
    archived_deleted: int
    """archived messages that were deleted for good"""


class RoutedJson(ActedJson):
    timestamp: NotRequired[Moment]
    """when it was done"""


class RoutePolledJson(RoutedJson):
    """the reply of poll"""

    recipient: str
    """who asked for messages"""
    messages_pending: int
    """number of messages that wait for it"""
    messages: list[PolledJson]
    """the messages; they stay pending"""


class RouteDeliveredJson(RoutedJson, RefusedJson):
    """the reply of deliver_all, and of deliver"""

    messages_delivered: int
    """messages that were delivered"""
    messages_failed: int
    """tries that failed"""
    messages_expired: NotRequired[int]
    """messages that were too old to deliver"""
    delivery_summary: list[SummaryJson]
    """the same by recipient"""
    messages_skipped: NotRequired[int]
    """messages that were due and not tried"""
    skipped: NotRequired[list[SkippedMessageJson]]
    """each of them, and why"""


class RouteDeliveredOneJson(RoutedJson):
    """the reply of deliver with a message id"""

    message_id: str
    """the message"""
    recipient: str
    """who gets it"""
    status: str
    """its status now"""
    delivered_at: Moment | None
    """when it was delivered; null: it was not"""


class RouteSentJson(RoutedJson, DeliveryJson):
    """the reply of send"""

    warnings: NotRequired[list[str]]
    """what you should know, as sentences"""


class RouteClearedJson(RoutedJson, RefusedJson):
    """the reply of clear and clear_old"""

    messages_deleted: int
    """messages that were archived and removed from the queue"""
    disk_space_freed_mb: float
    """by how much the queue became smaller, in MB"""
    deleted_statuses: dict[str, int]
    """by status, the number of them"""


class _SubmittedJson(Result):
    message: str
    """what happened, as a sentence"""
    routing: RoutingJson
    """sender and target as the source names them"""


class SubmittedJson(WrittenJson, _SubmittedJson):
    target: NotRequired[str]
    """who gets it"""


class SubmittedToAllJson(ReportJson, EnvelopeJson, _SubmittedJson):
    recipients: list[str]
    """who gets it"""
    deliveries: NotRequired[list[DeliveryJson]]
    """one for each recipient, when there are several"""


class ServedJson(ActedJson):
    url: str
    """the address to open; whoever knows it gets in"""
    port: int
    """the port of this machine"""
    write: bool
    """who opens the address may decide and write"""


class SettingsJson(Result):
    path: str
    """your settings file"""
    exists: bool
    """there is such a file"""
    mistakes: NotRequired[list[MistakeJson]]
    """with `config check`: what is wrong in it"""


class ExplainedJson(Result):
    """of 'help settings --json'"""

    settings: list[SettingOfJson]
    """every setting of a team"""


class RefusalJson(Result):
    """what every verb prints when it refuses or fails; facts of the error may follow"""

    success: Literal[False]
    """always false"""
    error: str
    """a stable word, such as NOT_PERMITTED"""
    message: str
    """what is wrong, as a sentence"""
    hint: NotRequired[str]
    """the next step"""


_RECEIPT = WrittenJson | ReportJson
"""What most verbs that write print: a receipt has no record where everything was there already."""
RESULTS: Mapping[str, Any] = {
    "demo": PlayedJson,
    "init": MadeJson,
    "member": MembersListedJson | MembersChangedJson,
    "join": JoiningJson,
    "leave": JoiningJson,
    "instructions": InstructedJson,
    "migrate": CopiedJson,
    "send": WrittenJson,
    "broadcast": WrittenJson | PreviewJson,
    "receive": ReceivedJson,
    "ack": _RECEIPT,
    "plan": AwaitedJson,
    "ask": AwaitedJson,
    "answer": _RECEIPT,
    "grant": GrantedJson | TrialJson,
    "grants": GrantsJson | WrittenJson,
    "askback": _RECEIPT,
    "withdraw": _RECEIPT,
    "verdict": VerdictJson,
    "approve": WrittenJson | ForeseenApprovalJson,
    "reject": _RECEIPT,
    "shutdown": StoppedJson,
    "evidence": EvidenceJson,
    "requests": RequestsJson,
    "roster": RosterJson | WrittenJson,
    "status": StatusJson,
    "inbox": InboxOfJson,
    "show": ShownJson,
    "history": HistoryJson,
    "digest": DigestOfJson,
    "decisions": DecisionsJson,
    "watch": WatchedJson,
    "check": CheckedJson,
    "deliver": DeliveryPassJson,
    "serve": ServedJson,
    "config": SettingsJson,
    "failures": FailuresJson,
    "retry": _RECEIPT,
    "redirect": _RECEIPT,
    "discard": _RECEIPT,
    "recall": _RECEIPT,
    "clear": ClearedJson,
    "route": RouteSentJson | RoutePolledJson | RouteDeliveredJson | RouteDeliveredOneJson | RouteClearedJson,
    "sendmessage": SubmittedJson | SubmittedToAllJson,
    "help": ExplainedJson,
    "error": RefusalJson,
}
"""Verb -> the type of what it prints with `--json`; `error` is that of every refusal."""
