"""The state of each agent with its reason, from settings, rosters, requests, stops and traffic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter, is_not

from msgspec import Struct
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER, look_alikes
from team_console.store.model.recorded import RecordedFacts
from team_console.store.model.safe import counted
from team_console.store.protocol.client_requests import denial_of
from team_console.store.protocol.entries import EARLIEST, Order
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.membership import AgentSession, Doing, Membership, report_of
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.facts import Facts
from team_console.store.views.inboxes import Inbox, LiveIds
from team_console.store.views.last_seen import LastReports, LastSeen
from team_console.store.views.requests import RequestList
from team_console.store.views.rows import AgentState, DeliveryRow, RequestRow, RequestState, RosterRow
from team_console.store.views.violations import Quotations, Violations

ACTIVE_FOR = timedelta(minutes=5)
"""An agent that wrote or read this recently counts as active."""
TURN_FOR = timedelta(hours=1)
"""A turn that began this recently, and did not end, counts as going on."""
HUMAN = "human"
"""The role of `user` where the lead has another name."""
_ROLE_ORDER = {role: number for number, role in enumerate(("master", HUMAN, "resident", "member", "slave", "temp"))}
_NO_INBOX = Inbox("")
_LATEST = datetime.max.replace(tzinfo=UTC)


class BoardState(Struct, frozen=True):
    """State of the board at one moment: what roster, attention and findings are judged by.

    Attributes:
        mine: Names under which the human at this console is addressed.
        complete: Whether all archived messages are known; if not, nothing is said for sure that one could explain.
        recorded: What the audit trail knows of verdicts and of keys.
        problems: What is wrong with the store.
        dropped: Messages that wait to be taken into the queue.
        reports: What each agent last said of its state.
        unanswered: Agent -> messages it has read and not answered.
        failed: Deliveries the router gave up.
    """

    config: TeamConfig
    now: datetime
    me: str
    mine: frozenset[str]
    complete: bool
    recorded: RecordedFacts | None
    problems: tuple[Problem, ...]
    dropped: tuple[Message, ...]
    facts: Facts
    last_seen: LastSeen
    reports: LastReports
    inboxes: Mapping[str, Inbox]
    unanswered: Mapping[str, tuple[Message, ...]]
    failed: tuple[DeliveryRow, ...]
    live: LiveIds
    violations: Violations
    quotations: Quotations

    @property
    def team(self) -> Membership:
        """Who is a member, and who was."""
        return self.facts.team

    @property
    def requests(self) -> RequestList:
        """Every request there is."""
        return self.facts.requests.listed

    @property
    def is_lead(self) -> bool:
        """Whether it is the human in charge who looks."""
        return self.me in (self.config.lead, USER)


def names_of(config: TeamConfig, me: str) -> frozenset[str]:
    """The lead's seat is the human's, so what goes to `user` goes to the lead too (D6)."""
    return frozenset({me, USER}) if me == config.lead else frozenset({me})


class Roster:
    """The rows of everybody there is or was, each made anew only when something it rests on is another.

    One board's: settings and seat stay the same.
    """

    def __init__(self) -> None:
        self._rests_on: tuple[object, ...] = ()
        self._now = EARLIEST
        self._made: dict[str, _Made] = {}
        self._rows: tuple[RosterRow, ...] = ()
        self._names: set[str] = set()
        self._twins: dict[str, str] = {}

    def rows(self, board: BoardState) -> tuple[RosterRow, ...]:
        """The lead first, who is gone last; the same object until one of them was made anew."""
        facts = board.facts
        names = _names(board)
        if names != self._names:
            self._names, self._twins = names, look_alikes({*names, ALL, USER})
        rests_on = (facts.team, facts.stops, facts.sprint, board.requests.rows, board.dropped)
        if board.now < self._now or len(rests_on) != len(self._rests_on) or any(map(is_not, rests_on, self._rests_on)):
            self._made.clear()
        self._rests_on, self._now = rests_on, board.now
        changed = [name for name in names if not self._holds(board, name)]
        if changed:
            self._make(board, changed)
        if changed or len(names) != len(self._rows):
            made = sorted([self._made[name] for name in names], key=attrgetter("place"))
            self._rows = tuple([each.row for each in made])
        return self._rows

    def _holds(self, board: BoardState, name: str) -> bool:
        known = self._made.get(name)
        # guard: resting-by-clock
        return known is not None and board.now <= known.until and known.rests_on == self._own(board, name)

    def _own(self, board: BoardState, name: str) -> tuple[object, ...]:
        return *_rests_on(board, name), self._twins.get(name, "")

    def _make(self, board: BoardState, names: Iterable[str]) -> None:
        waiting: dict[str, list[RequestRow]] = {}
        for request in board.requests.open:
            waiting.setdefault(request.asker, []).append(request)
        places = {name: place for place, name in enumerate(board.config.agents)}
        for name in names:
            row = _row(board, name, waiting.get(name, ()), self._twins.get(name, ""))
            place = _place(board, row, places.get(name, len(places)))
            self._made[name] = _Made(row, place, self._own(board, name), _until(board, name))


_Place = tuple[bool, bool, int, int, str]


class _Made(Struct, frozen=True):
    """A row, its place, what it rests on that is the agent's own, and until when the clock does not change it."""

    row: RosterRow
    place: _Place
    rests_on: tuple[object, ...]
    until: datetime


def _rests_on(board: BoardState, name: str) -> tuple[object, ...]:
    inbox = board.inboxes.get(name, _NO_INBOX)
    owed = len(board.unanswered.get(name, ()))
    return inbox, inbox.version, board.last_seen.version(name), board.reports.latest(name), owed


def _until(board: BoardState, name: str) -> datetime:
    """When the clock may next make an agent that counts as active one that rests, or a turn one that is over."""
    session = board.team.sessions.current(name)
    spoke, seen = board.last_seen.spoke(name), board.last_seen.last_seen(name)
    ends = [_after(seen, ACTIVE_FOR)] if seen is not None else []
    ends += [_after(heard[0], TURN_FOR) for heard in (session.since if session else None, spoke) if heard is not None]
    return min((end for end in ends if end >= board.now), default=_LATEST)


def _after(moment: datetime, time: timedelta) -> datetime:
    """The moment so much later; anybody may write a date at the end of all time."""
    return moment + time if moment < _LATEST - time else _LATEST


def _place(board: BoardState, row: RosterRow, place: int) -> _Place:
    role = _ROLE_ORDER.get(row.role, len(_ROLE_ORDER))
    return row.name in board.team.gone, row.stranger, role, place, row.name


def _names(board: BoardState) -> set[str]:
    """Members, and whoever else writes or is written to; of those gone the ones that the queue still speaks of."""
    heard = {*board.inboxes, *board.last_seen.live}
    members = set(board.team.roles)
    if board.config.lead == USER and not board.config.agents:
        members.discard(USER)
    return (members | heard) - {ALL}


def _row(board: BoardState, name: str, waiting: Sequence[RequestRow], looks_like: str) -> RosterRow:
    inbox, seen = board.inboxes.get(name, _NO_INBOX), board.last_seen.last_seen(name)
    state, reason = _state(board, name, seen, waiting)
    role = board.team.role(name)
    last = board.reports.latest(name)
    report = report_of(last.message) if last is not None else None
    return RosterRow(
        name=name,
        role=role or (HUMAN if name == USER else "member"),
        state=state,
        plan_mode_required=board.config.agent(name).plan_mode_required,
        stranger=board.config.declared and role is None and name not in (USER, board.config.lead),
        looks_like=looks_like,
        unread=len(inbox.unread),
        total=len(inbox),
        oldest_unread=inbox.oldest_unread,
        dropped=sum(message.is_addressed_to(name) for message in board.dropped),
        last_seen=seen,
        reason=reason,
        reported=report.text if report is not None else "",
        reported_at=last.moment if last is not None else None,
        unanswered=len(board.unanswered.get(name, ())),
    )


def _state(
    board: BoardState, name: str, seen: datetime | None, waiting: Sequence[RequestRow]
) -> tuple[AgentState, str]:
    spoke = board.last_seen.spoke(name)
    asked = board.facts.stops.get(name)
    stop = asked.after(spoke) if asked is not None else None
    if stop is not None and not stop.is_over(spoke):
        return (AgentState.STOPPED if stop.ended else AgentState.STOPPING), stop.reason
    held = _held(board, name, waiting, has_been_seen=seen is not None)
    if held is not None:
        return held
    session = board.team.sessions.current(name)
    if session is not None and _tells(session, spoke):
        denied = sum(bool(denial_of(row.question.payload)) for row in waiting)
        return _in_session(board, session, max(session.since, spoke or session.since), denied)
    if seen is None:
        return AgentState.UNKNOWN, "has not written yet"
    if stop is not None:
        return _awake(board, seen), f"{stop.reason}, but still writes"
    story = board.facts.sprint.work.get(name)
    if story:
        return _awake(board, seen), f"works on story {story}"
    return _awake(board, seen), "" if board.last_seen.last_written(name) else "reads, has not written yet"


def _tells(session: AgentSession, spoke: Order | None) -> bool:
    """Whether the word on the session is the last on the agent: one that rests and writes all the same is at work."""
    if session.doing is Doing.ENDED:
        return False
    return session.doing is Doing.WORKING or spoke is None or spoke <= session.since


def _in_session(board: BoardState, session: AgentSession, heard: Order, denied: int) -> tuple[AgentState, str]:
    """What the client told last; a turn may take long without a word, so it counts for longer than a message."""
    where = f"a {session.client} session" if session.client else "a session"
    what = f"as a teammate of {session.sponsor}" if session.sponsor else f"in {where}"
    what += f", was denied {counted(denied, 'call')} by its client" if denied else ""
    if session.doing is not Doing.WORKING:
        return AgentState.IDLE, f"rests {what}"
    if board.now - heard[0] > TURN_FOR:
        return AgentState.IDLE, f"worked {what} when last heard of"
    return AgentState.ACTIVE, f"works {what}"


def _awake(board: BoardState, seen: datetime) -> AgentState:
    return AgentState.ACTIVE if board.now - seen <= ACTIVE_FOR else AgentState.IDLE


def _held(
    board: BoardState, name: str, waiting: Iterable[RequestRow], *, has_been_seen: bool
) -> tuple[AgentState, str] | None:
    """What keeps the agent from going on, as far as its requests and its plan mode tell."""
    rows = [row for row in waiting if not denial_of(row.question.payload)]
    plan = next((row for row in rows if row.kind is RequestKind.PLAN), None)
    if plan is not None:
        return AgentState.PLANNING, f"its plan waits for {plan.addressee}"
    mine = next((row for row in rows if row.addressee in board.mine and row.kind is not RequestKind.SHUTDOWN), None)
    if mine is not None:
        return AgentState.WAITING, f"waits for the answer to its {mine.kind} request"
    if not board.config.agent(name).plan_mode_required or not has_been_seen:
        return None
    last = board.facts.requests.plan_state(name)
    if last is RequestState.APPROVED:
        return None
    rejected = last is RequestState.REJECTED
    return AgentState.PLANNING, "revises its rejected plan" if rejected else "has no approved plan yet"
