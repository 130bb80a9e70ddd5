"""Facts of a team: what one fold over its messages finds out. Roster, action items and findings are judged by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from itertools import chain
from typing import Any

from msgspec import Struct
from team_console.store.contract.snapshot import FinishedCounts, Unacknowledged
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL, USER
from team_console.store.model.recorded import RecordedFacts
from team_console.store.model.schedule import (
    ON_ITS_WAY,
    OVERDUE_AFTER,
    attempts_of,
    expires_at,
    max_attempts,
    next_attempt,
)
from team_console.store.protocol.agent_stops import Stop, is_speech
from team_console.store.protocol.client_sessions import SESSION
from team_console.store.protocol.judgement import Judged, row_at
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.membership import Membership
from team_console.store.protocol.placed_message import EARLIEST, PlacedMessage, StoreOrder
from team_console.store.protocol.request_row import RequestRow, RequestState
from team_console.store.protocol.state_reports import report_of, reporter_of
from team_console.store.protocol.team_rules import expected_on_roster, roster_gaps
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.rows import DeliveryRow, DeliveryState, Lifecycle, Sprint

_DELIVERY_STATUSES = ("failed", "expired", "retry", "pending", "claimed", "delivered", "recalled")
_STATES = {status: DeliveryState(status) for status in _DELIVERY_STATUSES}
"""Status -> row, in the order of the list; what has been read is no delivery any more."""


def deliveries(live: Iterable[PlacedMessage], now: datetime) -> tuple[DeliveryRow, ...]:
    """List the deliveries of the queue by state, the oldest first within each; `live` is in order."""
    rows: dict[str, list[DeliveryRow]] = {status: [] for status in _STATES}
    for entry in live:
        message = entry.message
        for name in message.recipients if message.status in _STATES else ():
            if (status := status_for(message, name)) in rows:
                rows[status].append(_delivery_row(entry, name, status, now))
    return tuple([row for listed in rows.values() for row in listed])


def status_for(message: Message, name: str) -> str:
    """Return the status of a message for one recipient.

    Of a message to several some may have read or got it while others are still tried, or were given up.
    """
    if name in message.read_by:
        return str(Status.READ)
    return str(Status.DELIVERED) if name in message.delivered_to else message.status


def _delivery_row(entry: PlacedMessage, recipient: str, status: str, now: datetime) -> DeliveryRow:
    """Return the row of a message for one recipient."""
    message = entry.message
    key = message.message_id if not message.is_group else f"{message.message_id}/{recipient}"
    state = _STATES[status]
    if state is DeliveryState.PENDING and entry.when < now - OVERDUE_AFTER:
        state = DeliveryState.DUE
    expires = expires_at(message) if status in ON_ITS_WAY else None
    is_own = status == message.status  # what went wrong with others, and when they are tried again, is not its own
    error: Any = message.envelope("error_message") if is_own else None
    return DeliveryRow(
        key=key,
        message=message,
        recipient=recipient,
        state=state,
        attempts=attempts_of(message),
        max_attempts=max_attempts(message),
        next_attempt_at=next_attempt(message) if is_own else None,
        expires_at=expires,
        error="" if error is None else str(error),
    )


# What each agent finds in its inbox, and what it read and did not answer.


class AgentInbox(Struct):
    """The live messages of one agent, in order.

    Attributes:
        unread: What it has not read; pushed and not acknowledged is not read (D19).
        more: How much else was pushed to it and not acknowledged, which is only counted.
        since: Since when.
    """

    unread: list[PlacedMessage] = []
    read: list[PlacedMessage] = []
    more: int = 0
    since: datetime | None = None

    def __len__(self) -> int:
        return len(self.unread) + len(self.read) + self.more

    @property
    def oldest_unread(self) -> datetime | None:
        """Creation time of the oldest message it has not read, None when there is none or it is unknown."""
        first = self.unread[0].moment if self.unread else None
        return min((moment for moment in (first, self.since) if moment is not None), default=None)

    def count_finished(self, finished: FinishedCounts | None, name: str) -> None:
        """Count what was delivered to `name` and is in no snapshot."""
        if finished is None:
            return
        number, since = finished.delivered.get(name, Unacknowledged())
        listed = sum(entry.message.status == Status.DELIVERED for entry in self.unread)
        if number > listed:
            self.more, self.since = number - listed, since

    def messages(self, ranks: Mapping[str, int]) -> Sequence[Message]:
        """List what it has not read by urgency and age, then the rest newest first; `ranks` are the team's own."""
        urgent = sorted(self.unread, key=lambda entry: entry.message.rank_by(ranks))
        return tuple([entry.message for entry in (*urgent, *reversed(self.read))])


def inboxes(
    live: Iterable[PlacedMessage], everybody: Set[str], finished: FinishedCounts | None = None
) -> dict[str, AgentInbox]:
    """Sort the messages into the inboxes of their recipients.

    Notes that a member's client makes for the roster are in no inbox.

    Args:
        live: The queue, in order.
        everybody: Who `all` is.
        finished: Counts of finished messages.
    """
    found: dict[str, AgentInbox] = {}
    for entry in live:
        message = entry.message
        if message.type == SESSION:
            continue
        names: Iterable[str] = message.recipients
        if ALL in names:
            names = {name for name in names if name != ALL} | (everybody - {message.sender})
        for name in names:
            inbox = found.setdefault(name, AgentInbox())
            (inbox.unread if message.is_unread_by(name) else inbox.read).append(entry)
    for name in (*found, *(finished.delivered if finished is not None else ())):
        found.setdefault(name, AgentInbox()).count_finished(finished, name)
    return found


# What an agent has read, was written to it alone, and got no word back since (requirement 89).

_ASKING = frozenset({"message", "handoff", "review", "clarify", "escalate"})
"""Kinds that are written to one agent for it to act on; a broadcast demands no answer (requirement 84)."""


def unanswered(live: Iterable[PlacedMessage]) -> dict[str, tuple[Message, ...]]:
    """Find what each reader owes an answer, the oldest first within a sender.

    Args:
        live: The queue, in order.
    """
    owed: dict[str, dict[str, list[Message]]] = {}
    for entry, answer in _questions_and_answers(live):
        message, reader = entry.message, entry.message.recipients[0]
        if answer is None and message.is_read_by(reader):
            owed.setdefault(reader, {}).setdefault(message.sender, []).append(message)
    return {name: tuple(chain.from_iterable(by[each] for each in sorted(by))) for name, by in sorted(owed.items())}


def unquoted_partners(message: Message, among: Iterable[Message]) -> list[Message]:
    """Find what a message answers without quoting it, and what answers it so."""
    found: list[Message] = []
    for asked, answer in _questions_and_answers(sorted(PlacedMessage.each(among), key=lambda entry: entry.order)):
        if answer is not None and not _quotes_an_id(answer.message):
            found += [answer.message] if asked.message == message else []
            found += [asked.message] if answer.message == message else []
    return found


def _questions_and_answers(entries: Iterable[PlacedMessage]) -> Iterator[tuple[PlacedMessage, PlacedMessage | None]]:
    """Yield each message that asks something, with its answer; a message to somebody who waits for one asks nothing.

    Args:
        entries: All of them, in order.
    """
    waiting: dict[tuple[str, str], list[PlacedMessage]] = {}
    for entry in entries:
        sender = entry.message.sender
        for name in entry.message.recipients:
            if name == sender:
                continue
            if answered := waiting.pop((name, sender), None):
                yield from ((asked, entry) for asked in answered)
            elif _asks_for_answer(entry):
                waiting.setdefault((sender, name), []).append(entry)
    yield from ((asked, None) for left in waiting.values() for asked in left)


def _asks_for_answer(entry: PlacedMessage) -> bool:
    """Return whether it is written to one agent for it to act on, and replies to nothing."""
    message = entry.message
    if message.type not in _ASKING or len(message.recipients) != 1 or message.recipients[0] == ALL:
        return False
    if entry.read.name != message.type:
        return False
    return not _quotes_an_id(message)


def _quotes_an_id(message: Message) -> bool:
    return message.payload.get("in_reply_to") is not None or message.payload.get("request_id") is not None


# When each agent last wrote or read anything, and when it last said something that shows it is alive.


class LastSeen(Struct, frozen=True):
    """The latest of each agent, live or archived: an agent does not un-speak, and does not un-read.

    Attributes:
        written: When it wrote anything.
        spoken: When it said anything but that it agrees to stop.
        read: When it read or took a message.
        reports: The message in which it last told its own state.
    """

    written: Mapping[str, StoreOrder]
    spoken: Mapping[str, StoreOrder]
    read: Mapping[str, datetime]
    reports: Mapping[str, PlacedMessage]

    def last_seen(self, name: str) -> datetime | None:
        """Return when the agent last wrote or read; None when it never did or the time is unknown."""
        moments = (self.last_written(name), self.read.get(name))
        return max((moment for moment in moments if moment is not None), default=None)

    def last_written(self, name: str) -> datetime | None:
        """Return when the agent last wrote; None when it never did or the time is unknown."""
        order = self.written.get(name)
        return None if order is None or order.moment is EARLIEST else order.moment


def last_seen(entries: Iterable[PlacedMessage]) -> LastSeen:
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
    return LastSeen(_orders(written), _orders(spoken), read, reports)


def _orders(entries: Mapping[str, PlacedMessage]) -> dict[str, StoreOrder]:
    return {name: entry.order for name, entry in entries.items()}


# Where the latest roster and what is known of creations, destructions and settings do not agree.


def roster_drift(config: TeamConfig, team: Membership, facts: Iterable[PlacedMessage]) -> Iterator[Problem]:
    """Yield `ROSTER_DRIFT` for each agent the latest roster wrongly leaves out or still lists."""
    roster = team.roster
    if roster is None:
        return
    expected = expected_on_roster(config, (entry for entry in facts if entry.order < roster.order))
    for name, wrong in roster_gaps(roster.read, expected):
        hint = "The next complete roster repairs it; the lead sends it with: team-console roster --send"
        text = f"{name} {wrong} in the latest roster"
        yield Problem("ROSTER_DRIFT", "warning", f"{roster.message.message_id} {name}", text, hint)


# The list of requests, open ones first.


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


# What one fold over the messages of a team finds out: by this roster, action items and findings are judged.


class Facts(Struct, frozen=True):
    """A team at one moment, as far as its messages tell.

    Attributes:
        mine: Names under which the human at this console is addressed.
        complete: Whether all archived messages are known; if not, nothing is said for sure that one could explain.
        recorded: What the audit trail knows of verdicts and of keys.
        problems: What is wrong with the store.
        dropped: Messages that wait to be taken into the queue.
        live, past: The queue in stored order; the messages known that left it.
        notes: What sessions of clients say beside the queue.
        ids: Those of the live messages.
        team: Who is a member, and who was.
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
