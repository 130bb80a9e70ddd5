"""The plain rows that views make, and screens and verbs show: agents, what waits for the human, deliveries, stops of
agents, the sprint, and all of it as one `View`.

Each is made by the view of its name (`roster`, `needs`, `deliveries`, `stopping`, `sprint`, `projection`). Widgets know
this module and no view. Rows carry moments, not ages, so that a clock tick needs no new view. `RequestRow` is made by
the judgement of requests in `protocol/`, and is a row like the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message
from team_console.store.model.names import is_name
from team_console.store.protocol.request_row import Flag as Flag
from team_console.store.protocol.request_row import RequestRow as RequestRow
from team_console.store.protocol.request_row import RequestState as RequestState

if TYPE_CHECKING:
    from team_console.store.contract.snapshot import Snapshot
    from team_console.store.model.errors import Problem


def as_json(value: Any, *kept: str) -> Any:
    """Return a row as JSON: moments and words as texts; a text that is not known is null.

    Args:
        kept: Fields that are empty rather than null.
    """
    match value:
        case Struct():
            row = {name: as_json(getattr(value, name), *kept) for name in value.__struct_fields__}
            return {name: None if item == "" and name not in kept else item for name, item in row.items()}
        case datetime():
            return to_text(value)
        case StrEnum():
            return str(value)
        case tuple():
            return [as_json(item, *kept) for item in value]
        case Mapping():
            return {name: as_json(item, *kept) for name, item in value.items()}
    return value


# Agents.


class AgentState(StrEnum):
    """What an agent is doing, as far as the messages tell."""

    ACTIVE = "active"
    IDLE = "idle"
    PLANNING = "planning"
    WAITING = "waiting for you"
    STOPPING = "stopping"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


class RosterRow(Struct, frozen=True):
    """One agent, configured or met in traffic.

    Attributes:
        stranger: Seen in traffic, on no roster.
        looks_like: The other agent its name is easily taken for, written with letters of another script; or empty.
        unread: Messages it has not read; what was pushed and not acknowledged is among them (D19).
        oldest_unread: Creation time of the oldest of them.
        dropped: Messages for it that wait in `drop/` to be taken in; not among `unread`.
        last_seen: When it last wrote or read anything.
        reason: Why it is in this state, in a few words.
        source: What says so: the `hook` of its client, or the `queue`; empty where nothing does.
        heard_at: When that said it last.
        session: Its client's id of the session that tells.
        mode: In which its client decides on tools, in the client's own word; empty when not said.
        reported: What it last said of its own state, one line; empty when it never did (requirements 85, 122).
        reported_at: When.
        unanswered: Messages it has read, written to it alone, without a word back since (requirement 89).
    """

    name: str
    role: str
    state: AgentState
    plan_mode_required: bool = False
    stranger: bool = False
    looks_like: str = ""
    unread: int = 0
    total: int = 0
    oldest_unread: datetime | None = None
    dropped: int = 0
    last_seen: datetime | None = None
    reason: str = ""
    source: str = ""
    heard_at: datetime | None = None
    session: str = ""
    mode: str = ""
    reported: str = ""
    reported_at: datetime | None = None
    unanswered: int = 0

    @property
    def is_only_heard(self) -> bool:
        """Whether it counts as active only because it wrote or read lately; a script may have ended since."""
        return self.state is AgentState.ACTIVE and self.source == "queue"

    @property
    def is_addressable(self) -> bool:
        """Whether its name is one that can be written to; other programs write what they like."""
        return is_name(self.name)


# What waits for the human.


class Need(StrEnum):
    """Why something is on the human's list; the word shown as its tag."""

    PLAN = "PLAN"
    PERMIT = "PERMIT"
    QUESTION = "QUESTION"
    ESCALATE = "ESCALATE"
    CREATE = "CREATE"
    DESTROY = "DESTROY"
    REFUSED = "REFUSED"
    SHUTDOWN = "SHUTDOWN"
    CLARIFY = "CLARIFY"
    FAILED = "FAILED"
    DAMAGED = "DAMAGED"
    OVERDUE = "OVERDUE"
    MESSAGE = "MESSAGE"


class ActionItem(Struct, frozen=True):
    """One thing that waits for the human.

    Attributes:
        key: Stable row key.
        who: The agent it comes from or is about.
        title: What it is, one line.
        blocks: Agents or stories that cannot go on without it.
        why: The rank explained, in words.
        score: Larger is more urgent; rows come sorted by it, ties by age.
        since: Since when it waits.
        request: The request to answer, when there is one.
        message: The message to read, when there is one.
        answerable: Whether approve and reject apply.
        is_left_behind: Whether its asker has ended, so that nobody waits for the answer.
    """

    key: str
    need: Need
    who: str
    title: str
    why: str
    score: int
    since: datetime | None
    blocks: tuple[str, ...] = ()
    request: RequestRow | None = None
    message: Message | None = None
    answerable: bool = False
    is_left_behind: bool = False


# Deliveries.


class DeliveryState(StrEnum):
    """Where a message is on its way out."""

    PENDING = "pending"
    DUE = "due"
    RETRY = "retry"
    CLAIMED = "claimed"
    DELIVERED = "delivered"
    FAILED = "failed"
    EXPIRED = "expired"
    RECALLED = "recalled"


class DeliveryRow(Struct, frozen=True, gc=False):
    """One message in the router's queue, or one it gave up.

    Attributes:
        attempts, max_attempts: Tries made and allowed (1 + retries).
        next_attempt_at: When the router tries again.
        expires_at: When it counts as expired (7 days, decision D12).
    """

    key: str
    message: Message
    recipient: str
    state: DeliveryState
    attempts: int = 0
    max_attempts: int = 4
    next_attempt_at: datetime | None = None
    expires_at: datetime | None = None
    error: str = ""


# Stops of agents.


class StopStage(StrEnum):
    """How far the stop of one agent is, as far as the store tells."""

    NOT_ASKED = "not asked"
    WRITTEN = "written"
    DELIVERED = "delivered"
    SEEN = "seen"
    REFUSED = "refused"
    AGREED = "agreed"
    ENDED = "ended"
    WITHDRAWN = "taken back"


class StopRow(Struct, frozen=True):
    """One agent of the shutdown; moments are None for what has not happened or left no time.

    Attributes:
        request: The latest request to stop; None where it was never asked.
    """

    agent: str
    stage: StopStage
    request: RequestRow | None = None
    delivered_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def is_left(self) -> bool:
        """Whether the agent is still there."""
        return self.stage is not StopStage.ENDED


# The sprint: batches with their stories, and the lives of temporary agents.


class StoryState(StrEnum):
    """Where a story of a batch stands."""

    OPEN = "open"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Story(Struct, frozen=True):
    """One story; `blocked_by` lists those of `depends_on` that are not done."""

    key: str
    state: StoryState
    agent: str = ""
    depends_on: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()


class Batch(Struct, frozen=True):
    """One batch of a sprint session with its stories in plan order."""

    key: str
    session_id: str
    batch_id: str
    slave: str
    stories: tuple[Story, ...]
    complete: bool = False
    report: str = ""
    message: Message | None = None

    def count(self, state: StoryState) -> int:
        """Return the number of stories in `state`."""
        return sum(story.state is state for story in self.stories)


class Sprint(Struct, frozen=True):
    """What is planned, done and under way.

    Attributes:
        work: Agent -> the story it was given and has not reported.
        unfinished: Slave -> stories of its batches that are not done.
        _next: Story -> those that depend on it.
        _done: Stories that are done.
    """

    batches: tuple[Batch, ...] = ()
    work: Mapping[str, str] = {}
    unfinished: Mapping[str, tuple[str, ...]] = {}
    _next: Mapping[str, list[str]] = {}
    _done: frozenset[str] = frozenset()

    def waiting_for(self, story: str) -> tuple[str, ...]:
        """Return stories not done that wait for `story`, directly or through others; a circle ends where it began."""
        found: dict[str, None] = {}
        ahead = deque(self._next.get(story, ()))
        while ahead:
            each = ahead.popleft()
            if each not in found:
                found[each] = None
                ahead.extend(self._next.get(each, ()))
        return tuple(item for item in found if item not in self._done)


class Step(Struct, frozen=True):
    """One of the eleven steps of a temporary agent's life (seed 002, creation sequence); `at` None: not seen."""

    number: int
    title: str
    at: datetime | None
    message: Message | None = None


class Lifecycle(Struct, frozen=True):
    """The eleven steps of one temporary agent and what departs from their order."""

    key: str
    agent: str
    slave: str
    steps: tuple[Step, ...]
    missing: tuple[int, ...] = ()
    out_of_order: tuple[int, ...] = ()
    ended: bool = False


# All of it.


class View(Struct, frozen=True):
    """Everything the screens and verbs show, from one snapshot, for one identity.

    Attributes:
        revision: Of the snapshot it was made from.
        now: The moment states were judged at.
        me: The identity whose needs `attention` lists.
        inboxes: Agent -> its live messages, most urgent unread first, then the read ones newest first.
        unlisted: Agent -> how many messages were delivered to it and not acknowledged beside those in `inboxes`.
        requests: Open first (oldest first), then answered (newest first).
        failed: Those of the deliveries that were given up; the same object while none of them changed.
        counts: Live messages by status.
        unanswered: Agent -> messages it has read and not answered.
        findings: Protocol violations and store problems, errors first.
    """

    revision: str
    now: datetime
    me: str
    snapshot: Snapshot
    roster: tuple[RosterRow, ...] = ()
    inboxes: Mapping[str, Sequence[Message]] = {}
    unlisted: Mapping[str, int] = {}
    requests: tuple[RequestRow, ...] = ()
    attention: tuple[ActionItem, ...] = ()
    deliveries: Sequence[DeliveryRow] = ()
    failed: tuple[DeliveryRow, ...] = ()
    batches: tuple[Batch, ...] = ()
    lifecycles: tuple[Lifecycle, ...] = ()
    counts: Mapping[str, int] = {}
    findings: tuple[Problem, ...] = ()
    unanswered: Mapping[str, tuple[Message, ...]] = {}

    @property
    def next_due(self) -> datetime | None:
        """The next moment at which time alone makes a request late or over, or a delivery due or expired."""
        requests = (moment for row in self.requests if row.is_open for moment in (row.due_at, row.expires_at))
        deliveries = (moment for row in self.deliveries for moment in (row.next_attempt_at, row.expires_at))
        later = (moment for moment in (*requests, *deliveries) if moment is not None and moment > self.now)
        return min(later, default=None)
