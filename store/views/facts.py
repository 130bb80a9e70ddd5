"""Facts of a team: what its messages tell at one moment, when each agent was last seen and how requests stand.

Roster, action items and findings are judged by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.agent_stops import Stop, is_speech
from team_console.store.protocol.judgement import Judged, row_at
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.membership import Membership
from team_console.store.protocol.placed_message import PlacedMessage, StoreOrder
from team_console.store.protocol.request_row import RequestRow, RequestState
from team_console.store.protocol.state_reports import report_of, reporter_of
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.inboxes import AgentInbox
from team_console.store.views.rows import DeliveryRow, Lifecycle, Sprint


class Facts(Struct, frozen=True):
    """A team at one moment, as far as its messages tell.

    Attributes:
        mine: Names under which the human at this console is addressed.
        complete: Whether all archived messages are known; if not, nothing is said for sure that one could explain.
        recorded: What the audit trail knows of verdicts and of keys.
        problems: What is wrong with the store.
        dropped: Messages that wait to be taken into the queue.
        live: The queue in stored order.
        past: The messages known that left the queue.
        notes: What sessions of clients say beside the queue.
        ids: Those of the live messages.
        seen: When each agent was last heard of.
        team: Who is a member, and who was.
        stops: Agent -> the stop it was asked for or agreed to last.
        inboxes: Agent -> what it finds in its inbox.
        unanswered: Agent -> messages it has read and not answered.
        failed: Deliveries the router gave up.
        drift: Where the latest roster is wrong.
    """

    config: TeamConfig
    now: datetime
    me: str
    mine: frozenset[str]
    complete: bool
    recorded: RecordedFacts | None
    problems: tuple[Problem, ...]
    dropped: tuple[Message, ...]
    live: Sequence[PlacedMessage]
    past: Sequence[PlacedMessage]
    notes: Sequence[PlacedMessage]
    ids: frozenset[str]
    seen: LastSeen
    team: Membership
    stops: Mapping[str, Stop]
    requests: Requests
    sprint: Sprint
    drift: tuple[Problem, ...]
    lifecycles: tuple[Lifecycle, ...]
    inboxes: Mapping[str, AgentInbox]
    unanswered: Mapping[str, tuple[Message, ...]]
    failed: tuple[DeliveryRow, ...]

    def stop_of(self, name: str) -> Stop | None:
        """Return the stop that an agent was asked for or agreed to; None where it was not, or spoke again after it."""
        stop = self.stops.get(name)
        return None if stop is None or stop.is_alive else stop

    @property
    def is_lead(self) -> bool:
        """Whether it is the human in charge who looks."""
        return self.me in (self.config.lead, USER)


class LastSeen(Struct, frozen=True):
    """When each agent did what last, by messages live or archived: name -> its place in order, moment or message.

    Attributes:
        written: The message that it wrote last.
        spoken: The place in order of the last in which it said anything but that it agrees to stop.
        read: When it read or took a message.
        reports: The message in which it last told its own state.
    """

    written: Mapping[str, PlacedMessage]
    spoken: Mapping[str, StoreOrder]
    read: Mapping[str, datetime]
    reports: Mapping[str, PlacedMessage]

    def last_seen(self, name: str) -> datetime | None:
        """Return when the agent last wrote or read; None when it never did or the time is unknown."""
        moments = (self.last_written(name), self.read.get(name))
        return max((moment for moment in moments if moment is not None), default=None)

    def last_written(self, name: str) -> datetime | None:
        """Return when the agent last wrote; None when it never did or the time is unknown."""
        entry = self.written.get(name)
        return entry.moment if entry is not None else None


def find_last_seen(entries: Iterable[PlacedMessage]) -> LastSeen:
    """Find what each agent did last.

    Args:
        entries: All of them, in order.
    """
    written: dict[str, PlacedMessage] = {}
    spoken: dict[str, PlacedMessage] = {}
    read: dict[str, datetime] = {}
    reports: dict[str, PlacedMessage] = {}
    for entry in entries:
        message = entry.message
        written[message.sender] = entry
        if is_speech(entry):
            spoken[message.sender] = entry
        if report_of(message) is not None:
            reports[reporter_of(message)] = entry
        for name, text in message.reading_times():
            moment = from_text(text)
            if moment is not None:
                read[name] = max(moment, read.get(name, moment))
    return LastSeen(written, {name: entry.order for name, entry in spoken.items()}, read, reports)


class Requests(Struct, frozen=True):
    """Every request as it stands.

    Attributes:
        rows: Open first, oldest first; then answered, newest first.
        open: Those that wait for an answer.
        flagged: Those with something odd.
        twins: Request id -> further questions under an id that another question has.
        orphans: Answers to nothing that is known.
        plan_states: Author -> the state of its latest plan that was not taken back.
        creations: Id of an announcement of a new agent -> the request that it answers.
    """

    rows: tuple[RequestRow, ...]
    open: tuple[RequestRow, ...]
    flagged: tuple[RequestRow, ...]
    twins: Mapping[str, tuple[PlacedMessage, ...]]
    orphans: Sequence[PlacedMessage]
    plan_states: Mapping[str, RequestState]
    creations: Mapping[str, PlacedMessage]


def requests_of(judged: Judged, now: datetime) -> Requests:
    """List the judged requests as they stand `now`."""
    plans: dict[str, RequestState] = {}
    creations: dict[str, PlacedMessage] = {}
    judged_rows = sorted(judged.rows, key=lambda row: row.order)
    for row in judged_rows:
        if row.kind is RequestKind.PLAN and row.state is not RequestState.WITHDRAWN:
            plans[row.asker] = row.state
        if row.kind is RequestKind.CREATE and row.verdict is not None:
            creations.setdefault(row.verdict.message_id, PlacedMessage.of(row.question, row.order.place_in_store))
    shown = [row_at(row, now) for row in judged_rows]
    waiting = tuple([row for row in shown if row.is_open])
    closed = [row for row in shown if not row.is_open]
    rows = (*waiting, *sorted(closed, key=lambda row: (row.decided, row.order), reverse=True))
    return Requests(
        rows=rows,
        open=waiting,
        flagged=tuple([row for row in rows if row.flags]),
        twins=judged.twins,
        orphans=judged.orphans,
        plan_states=plans,
        creations=creations,
    )
