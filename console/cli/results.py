"""What every verb prints with `--json`, a type for each, and the JSON Schema (2020-12) that is made from it.

`help json VERB` prints a schema, the reference has them all, and the tests hold them against real output. Keys may be
added in later versions; none is renamed or taken away. The text below a field is its description in the schema.
"""

from __future__ import annotations

import ast
import builtins
import types
import typing
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict, get_args, get_origin, get_type_hints

Schema = dict[str, Any]
Moment = Annotated[str, "time as 2026-02-24T10:30:15.123Z"]
Stored = Annotated[dict[str, Any], "a record as it is stored: envelope and payload"]
Condition = Annotated[str, "ok, empty, polling, settings, locked, doubt, stale, vanished, unreadable or reading"]


class ActedJson(TypedDict):
    success: bool
    action: str
    """the verb"""


class WarnedJson(TypedDict):
    warnings: list[str]
    """what the caller should know, as sentences"""


class DoubtfulJson(TypedDict):
    doubt: str | None
    """why this may not be all; null: nothing is known to be missing"""


class AskingJson(TypedDict, total=False):
    request_id: str
    """the request opened or answered"""


class DeliveryJson(AskingJson):
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


class DeliveryIfOneJson(TypedDict, total=False):
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


class ReceiptJson(ActedJson, WarnedJson, AskingJson, DeliveryIfOneJson, total=False):
    deliveries: list[DeliveryJson]
    """one for each recipient, when there are several"""
    repeated: bool
    """it was there already"""
    notes: list[str]
    """what follows from it, as sentences"""


class SentJson(ActedJson, WarnedJson, DeliveryJson, total=False):
    deliveries: list[DeliveryJson]
    """one for each recipient, when there are several"""
    repeated: bool
    """the same was there already; nothing was written"""


class RemarkJson(TypedDict):
    line: int
    """from 1"""
    quote: str
    """what stands there"""
    text: str
    """what is said to it"""


class VerdictJson(TypedDict):
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


class AwaitedJson(ActedJson, WarnedJson, DeliveryJson, total=False):
    """with --wait `verdict` says how it stands"""

    notes: list[str]
    verdict: VerdictJson


class PlayedJson(ActedJson):
    location: str
    """the folder of the team"""


class MadeJson(ActedJson):
    team: str
    location: str
    lead: str
    agents: list[str]
    """the members, lead first"""


class MemberJson(TypedDict):
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


class MembersJson(TypedDict):
    """what add, set and remove did, or what list found"""

    team: str
    members: list[MemberJson]
    success: NotRequired[bool]
    action: NotRequired[str]
    """the verb"""
    warnings: NotRequired[list[str]]
    """what the caller should know, as sentences"""
    lead: NotRequired[str]
    declared: NotRequired[bool]
    """the settings name the members"""


class ClientFileJson(TypedDict):
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


class LeavingJson(ActedJson):
    agent: str
    member_changed: bool
    """the member was put into the team's settings, or taken out of them"""
    files: list[ClientFileJson]
    """every file of the client that is concerned"""
    notes: list[str]
    """what the user should know, as sentences"""
    written: bool
    """it was done, and not only shown"""


class InstructedJson(TypedDict):
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
    differing: list[Annotated[str, "id that the target has in another state"]]


class BroadcastJson(ReceiptJson, total=False):
    dry_run: bool
    recipients: list[str]
    not_listening: list[Annotated[str, "member that has stopped or was asked to"]]
    left_out: list[Annotated[str, "sender or recipient whose name is none, so that it gets nothing"]]


class ReceivedJson(TypedDict):
    """an error has these keys, too"""

    messages: list[Stored]
    count: int
    status_message: str


class ScopeJson(TypedDict):
    agent: str
    tool: str
    directory: str
    client: str
    inputs: list[dict[str, Any]]


class GrantedJson(ReceiptJson, total=False):
    grant_id: str
    dry_run: bool
    """nothing was written"""
    scope: ScopeJson
    would_have_answered: int
    """of your own decisions"""
    differed: list[str]
    """requests in its scope that you rejected"""


class GrantJson(TypedDict):
    id: str
    by: str
    scope: dict[str, Any]
    ends: Moment | None
    uses: int | None
    used: int
    """answers it has given"""
    over: str | None
    """why it gives no answer any more"""


class GrantsJson(AskingJson, DeliveryIfOneJson, total=False):
    """`grants` and `doubt`, or with recall what was written"""

    success: bool
    action: str
    """the verb"""
    warnings: list[str]
    """what the caller should know, as sentences"""
    deliveries: list[DeliveryJson]
    """one for each recipient, when there are several"""
    repeated: bool
    """it was there already"""
    notes: list[str]
    """what follows from it, as sentences"""
    grants: list[GrantJson]
    doubt: str | None
    """why this may not be all; null: nothing is known to be missing"""


class ApprovedJson(ReceiptJson, total=False):
    dry_run: bool
    """nothing was written"""


class StoppedJson(ReceiptJson, total=False):
    """with --all or --wait `success` says whether all agreed"""

    approve: bool | None
    """the answer that was waited for"""
    reason: str | None


class ProofJson(TypedDict):
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


class EvidenceJson(TypedDict):
    request_id: str
    state: str
    """as in `requests`"""
    verdicts: Literal["open", "signed"]
    proven: bool
    """the verdict that stands, or the order to stop, is signed and fits"""
    evidence: list[ProofJson]
    """what humans said, the oldest first"""


class TalkJson(TypedDict):
    by: str
    at: str
    content: str
    asks: bool
    """it asks back; else it answers that"""


_Asked = TypedDict("_Asked", {"from": Annotated[str, "who asked"]})


class EndsJson(_Asked):
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
    flags: list[Annotated[str, "what is unusual about it"]]
    forged: dict[str, Annotated[str, "why it decides nothing"]]
    """by id, answers that are not signed as they must be"""
    title: str
    seen_at: Moment | None
    due_at: Moment | None
    expires_at: str | None
    """when it ends by itself, as timed out"""
    withdrawn_at: str | None
    """when it was taken back or timed out"""
    answers: list[Annotated[str, "ids of messages that answer it"]]
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


class AgentJson(TypedDict):
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


class RosterJson(DeliveryIfOneJson, total=False):
    """`agents` and `doubt`, or with --send what was sent"""

    agents: list[AgentJson]
    doubt: str | None
    """why this may not be all; null: nothing is known to be missing"""
    success: bool
    action: str
    """the verb"""
    deliveries: list[DeliveryJson]
    """one for each recipient, when there are several"""
    warnings: list[str]
    """what the caller should know, as sentences"""


class LockJson(TypedDict):
    """who holds the lock at this moment"""

    pid: int | None
    host: str
    since: str
    action: str
    alive: bool | None


class ReasonJson(TypedDict):
    state: str
    """as in condition"""
    text: str
    hint: str
    """the next step"""


class WaitedJson(TypedDict):
    total: float
    """seconds in which at least one of its requests waited"""
    median: float | None
    """seconds that a request waited"""
    now: float | None
    """seconds for which its oldest open request waits"""
    requests: int
    """how many it put"""


class BlockedJson(TypedDict):
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
    messages: Annotated[dict[str, int], "number by status; null while the queue cannot be read"] | None
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


class CallJson(TypedDict):
    tool: str
    subject: str
    state: str
    """ok, failed, exit 1, no result yet"""


class WhyJson(TypedDict):
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


class TryJson(TypedDict):
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


class ShownJson(TypedDict):
    message: Stored
    live: bool
    """it is in the queue, not in the archive"""
    seen: str | None
    """of an open request: what an answer to exactly this gives with --seen"""
    seen_words: dict[str, Annotated[str, "what an answer to it gives with --seen"]]
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


class HappeningJson(TypedDict):
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


class DecisionJson(TypedDict):
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


class FindingJson(TypedDict):
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


class ChangeJson(_Written, total=False):
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
    read_by: list[Annotated[str, "agents that have read it just now"]]


class WatchedJson(ChangeJson):
    """one object on a line for each change"""

    at: Moment
    change: str
    """new, status, gone, dropped, condition or problem"""


class CheckedJson(DoubtfulJson):
    condition: Condition
    findings: list[FindingJson]
    healed: list[FindingJson]


class SummaryJson(TypedDict):
    recipient: str
    delivered: int
    failed: int


class SkippedMessageJson(TypedDict):
    message_id: str
    recipient: str
    reason: str


class FailedTryJson(TypedDict):
    message_id: str
    recipient: str
    status: str
    error: str
    next_attempt_at: Moment | None


class RefusedMessageJson(TypedDict):
    message_id: str
    recipient: NotRequired[str]
    reason: str


class RefusedJson(TypedDict, total=False):
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


class FailureJson(TypedDict):
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


class PolledJson(TypedDict):
    message_id: str
    sender: str
    message_type: str | None
    payload: dict[str, Any]
    created_at: str


class RoutedJson(ActedJson, DeliveryIfOneJson, RefusedJson, total=False):
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


class RoutingJson(TypedDict):
    sender: str
    target: str
    summary: NotRequired[str]
    content: NotRequired[str]


class SubmittedJson(ReceiptJson, total=False):
    message: str
    """what happened, as a sentence"""
    routing: RoutingJson
    recipients: list[str]
    target: str


class ServedJson(ActedJson):
    url: str
    """the address to open; whoever has it is let in"""
    port: int
    write: bool


class MistakeJson(TypedDict):
    line: int
    message: str
    hint: str


class SettingsJson(TypedDict):
    path: str
    exists: bool
    mistakes: NotRequired[list[MistakeJson]]


class SettingOfJson(TypedDict):
    path: str
    value: str
    default: str
    meaning: str
    also: list[str]


class ExplainedJson(TypedDict):
    """of 'help settings --json'"""

    settings: list[SettingOfJson]


class RefusalJson(TypedDict):
    """what every verb prints when it refuses or fails; facts of the error may follow"""

    success: Literal[False]
    error: str
    """a stable word, such as NOT_PERMITTED"""
    message: str
    hint: NotRequired[str]
    """the next step"""


RESULTS: Mapping[str, type] = {
    "demo": PlayedJson,
    "init": MadeJson,
    "member": MembersJson,
    "join": JoiningJson,
    "leave": LeavingJson,
    "instructions": InstructedJson,
    "migrate": CopiedJson,
    "send": SentJson,
    "broadcast": BroadcastJson,
    "receive": ReceivedJson,
    "ack": ReceiptJson,
    "plan": AwaitedJson,
    "ask": AwaitedJson,
    "answer": ReceiptJson,
    "grant": GrantedJson,
    "grants": GrantsJson,
    "askback": ReceiptJson,
    "withdraw": ReceiptJson,
    "verdict": VerdictJson,
    "approve": ApprovedJson,
    "reject": ReceiptJson,
    "shutdown": StoppedJson,
    "evidence": EvidenceJson,
    "requests": RequestsJson,
    "roster": RosterJson,
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
    "retry": ReceiptJson,
    "redirect": ReceiptJson,
    "discard": ReceiptJson,
    "recall": ReceiptJson,
    "clear": ClearedJson,
    "route": RoutedJson,
    "sendmessage": SubmittedJson,
    "help": ExplainedJson,
    "error": RefusalJson,
}
"""Verb -> the type of what it prints with `--json`; `error` is that of every refusal."""


def schema_of(name: str) -> Schema:
    """Return the schema of what a verb prints, as a document of its own."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"team-console {name} --json"}
    return {**head, **_schema(RESULTS[name])}


_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def _schema(shape: Any) -> Schema:
    """Return the schema of a type; of two that of the first, or null."""
    arguments = get_args(shape)
    match get_origin(shape):
        case typing.Annotated:
            return {**_schema(arguments[0]), "description": arguments[1]}
        case typing.Literal:
            words = {"const": False} if arguments == (False,) else {"enum": list(arguments)}
            return {"type": _NAMES[type(arguments[0])], **words}
        case typing.Union | types.UnionType:
            inner = _schema(arguments[0])
            return {**inner, "type": [inner["type"], "null"]}
        case builtins.list:
            return {"type": "array", "items": _schema(arguments[0])}
        case builtins.dict:
            more = {} if arguments[1] is object else {"additionalProperties": _schema(arguments[1]) or True}
            return {"type": "object", **more}
    if shape is Any:
        return {}
    return {"type": _NAMES[shape]} if shape in _NAMES else _record(shape)


def _record(shape: Any) -> Schema:
    """Return the schema of an object with keys of its own; those that may be missing come last."""
    properties, required = {}, []
    for name, hint in get_type_hints(shape, include_extras=True).items():
        may_miss = get_origin(hint) is NotRequired
        described = {"description": words} if (words := _words()[shape.__name__].get(name)) else {}
        properties[name] = {**_schema(get_args(hint)[0] if may_miss else hint), **described}
        if not may_miss and name in shape.__required_keys__:
            required.append(name)
    properties = dict(sorted(properties.items(), key=lambda item: item[0] not in required))
    schema = {"type": "object", "properties": properties, "required": required}
    return {**schema, "description": shape.__doc__} if shape.__doc__ else schema


@cache
def _words() -> dict[str, dict[str, str]]:
    """Type -> key -> the text below it, which only the source of this module has."""
    found: dict[str, dict[str, str]] = {"_Asked": {}, "_Written": {}, "TypedDict": {}}
    for node in ast.parse(Path(__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {key: text for base in node.bases for key, text in found[ast.unparse(base)].items()}
            for field, below in pairwise(node.body):
                if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                    found[node.name][ast.unparse(field.target)] = ast.literal_eval(below.value)
    return found
