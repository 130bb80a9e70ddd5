"""What every verb prints with `--json`, and what tools of the MCP server return: a type for each.

`python -m tests.schemas` makes the schemas of them that `help json VERB` prints. Keys may be added in later versions;
none is renamed or taken away. The text below a field is its description in the schema. Nothing that a verb runs imports
this module: pydantic would cost each start more than the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from team_console.console.records import (
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
    action: str
    """the verb"""


class WarnedJson(Result):
    warnings: list[str]
    """what the caller should know, as sentences"""


class DoubtfulJson(Result):
    doubt: str | None
    """why this may not be all; null: nothing is known to be missing"""


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


class ForeseenApprovalJson(ForeseenJson):
    request_id: str
    """the request opened or answered"""


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


class _TriedJson(Result):
    scope: ScopeJson
    would_have_answered: int
    """of your own decisions"""
    differed: list[str]
    """requests in its scope that you rejected"""


class GrantedJson(WrittenJson, _TriedJson):
    grant_id: str


class TrialJson(ForeseenJson, _TriedJson):
    """what it would have answered"""


class GrantsJson(DoubtfulJson):
    grants: list[GrantJson]


class StoppedJson(WrittenJson):
    """with --all or --wait `success` says whether all agreed"""

    approve: NotRequired[bool | None]
    """the answer that was waited for"""
    reason: NotRequired[str | None]


class EvidenceJson(Result):
    request_id: str
    state: str
    """as in `requests`"""
    verdicts: Literal["open", "signed"]
    proven: bool
    """the verdict that stands, or the order to stop, is signed and fits"""
    evidence: list[ProofJson]
    """what humans said, the oldest first"""


class RequestsJson(DoubtfulJson):
    requests: list[RequestJson]


class RosterJson(DoubtfulJson):
    agents: list[AgentJson]


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


class RoutedJson(ActedJson):
    orchestrator_instance_id: NotRequired[Any]
    """as it was given"""
    timestamp: NotRequired[Moment]


class RoutePolledJson(RoutedJson):
    """the reply of poll"""

    recipient: str
    messages_pending: int
    messages: list[PolledJson]


class RouteDeliveredJson(RoutedJson, RefusedJson):
    """the reply of deliver_all, and of deliver"""

    messages_delivered: int
    messages_failed: int
    messages_expired: NotRequired[int]
    delivery_summary: list[SummaryJson]
    messages_skipped: NotRequired[int]
    skipped: NotRequired[list[SkippedMessageJson]]


class RouteDeliveredOneJson(RoutedJson):
    """the reply of deliver with a message id"""

    message_id: str
    recipient: str
    status: str
    delivered_at: Moment | None


class RouteSentJson(RoutedJson, DeliveryJson):
    """the reply of send"""

    warnings: NotRequired[list[str]]
    """what the caller should know, as sentences"""


class RouteClearedJson(RoutedJson, RefusedJson):
    """the reply of clear and clear_old"""

    messages_deleted: int
    disk_space_freed_mb: float
    deleted_statuses: dict[str, int]


class _SubmittedJson(Result):
    message: str
    """what happened, as a sentence"""
    routing: RoutingJson


class SubmittedJson(WrittenJson, _SubmittedJson):
    target: NotRequired[str]


class SubmittedToAllJson(ReportJson, EnvelopeJson, _SubmittedJson):
    recipients: list[str]
    deliveries: NotRequired[list[DeliveryJson]]
    """one for each recipient, when there are several"""


class ServedJson(ActedJson):
    url: str
    """the address to open; whoever has it is let in"""
    port: int
    write: bool


class SettingsJson(Result):
    path: str
    exists: bool
    mistakes: NotRequired[list[MistakeJson]]


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
    "approve": (WrittenJson, ForeseenApprovalJson),
    "reject": _RECEIPT,
    "shutdown": (StoppedJson,),
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
    "route": (RouteSentJson, RoutePolledJson, RouteDeliveredJson, RouteDeliveredOneJson, RouteClearedJson),
    "sendmessage": (SubmittedJson, SubmittedToAllJson),
    "help": (ExplainedJson,),
    "error": (RefusalJson,),
}
"""Verb -> the types of what it prints with `--json`, which is one of them; `error` is that of every refusal."""
