"""The roster: a row for everybody there is or was, the page of one agent, and how long agents waited for a human."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

from msgspec import Struct
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER, look_alikes
from team_console.store.model.safe import counted
from team_console.store.protocol.client_requests import ToolCall, denial_of, why_in
from team_console.store.protocol.client_sessions import AgentSession, Doing
from team_console.store.protocol.kinds import RESULTS, RequestKind
from team_console.store.protocol.membership import Membership
from team_console.store.protocol.placed_message import PlacedMessage, StoreOrder, newest_first, when_created
from team_console.store.protocol.state_reports import report_of
from team_console.store.protocol.team_rules import expected_on_roster, roster_gaps
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.facts import Facts
from team_console.store.views.inboxes import AgentInbox
from team_console.store.views.rows import AgentState, RequestRow, RequestState, RosterRow, View

ACTIVE_FOR = timedelta(minutes=5)
"""An agent that wrote or read this recently counts as active."""
TURN_FOR = timedelta(hours=1)
"""A turn that began this recently, and did not end, counts as going on."""
HUMAN = "human"
"""The role of `user` where the lead has another name."""
_ROLE_ORDER = {role: number for number, role in enumerate(("master", HUMAN, "resident", "member", "slave", "temp"))}
MODES = {
    "auto": "in auto mode",
    "plan": "in plan mode",
    "acceptEdits": "edits unasked",
    "bypassPermissions": "asks nobody",
    "dontAsk": "asks nobody",
}
"""What the modes of clients come to for the human; in those not named each action is asked for."""
_MODE_SENTENCES = {
    "default": "it asks before each step",
    "acceptEdits": "it edits files without asking",
    "plan": "it plans and changes nothing",
    "auto": "it asks only what its own check does not allow",
    "dontAsk": "it does only what is allowed already",
    "bypassPermissions": "it asks nothing any more",
}
"""What a client does in a mode that it changes to."""
_NO_INBOX = AgentInbox()


def mode_words(mode: str) -> str:
    """Return the meaning of a client's mode in a few words; empty for an unknown one."""
    return _MODE_SENTENCES.get(mode, "")


def roster(facts: Facts) -> tuple[RosterRow, ...]:
    """Make the rows of everybody there is or was, the lead first, who is gone last."""
    waiting: dict[str, list[RequestRow]] = {}
    for request in facts.requests.open:
        waiting.setdefault(request.asker, []).append(request)
    names = _names_on_roster(facts)
    twins = look_alikes({*names, ALL, USER})
    places = {name: place for place, name in enumerate(facts.config.agents)}
    rows = [_roster_row(facts, name, waiting.get(name, ()), twins.get(name, "")) for name in names]

    def order(row: RosterRow) -> tuple[bool, bool, int, int, str]:
        role = _ROLE_ORDER.get(row.role, len(_ROLE_ORDER))
        return row.name in facts.team.gone, row.stranger, role, places.get(row.name, len(places)), row.name

    return tuple(sorted(rows, key=order))


def _names_on_roster(facts: Facts) -> set[str]:
    """Return the members, and whoever else writes or is written to; of those gone only whom the queue still names."""
    members = set(facts.team.roles)
    if facts.config.lead == USER and not facts.config.agents:
        members.discard(USER)
    return members.union(facts.inboxes, (entry.message.sender for entry in (*facts.live, *facts.notes))) - {ALL}


def _roster_row(facts: Facts, name: str, waiting: Sequence[RequestRow], looks_like: str) -> RosterRow:
    """Return the row of one name, with the open requests of its own that wait."""
    inbox, seen = facts.inboxes.get(name, _NO_INBOX), facts.seen.last_seen(name)
    role, session = facts.team.role(name), facts.team.sessions.current(name)
    told = session if session is not None and _is_last_word(session, facts.seen.spoken.get(name)) else None
    state, reason = _state(facts, name, seen, waiting, told)
    last = facts.seen.reports.get(name)
    report = report_of(last.message) if last is not None else None
    source = ""
    if told is not None:
        source = "hook"
    elif seen is not None:
        source = "queue"
    return RosterRow(
        name=name,
        role=role or (HUMAN if name == USER else "member"),
        state=state,
        plan_mode_required=facts.config.agent(name).plan_mode_required,
        stranger=facts.config.declared and role is None and name not in (USER, facts.config.lead),
        looks_like=looks_like,
        unread=len(inbox.unread) + inbox.unlisted,
        total=len(inbox),
        oldest_unread=inbox.oldest_unread,
        dropped=sum(message.is_addressed_to(name) for message in facts.dropped),
        last_seen=seen,
        reason=reason,
        source=source,
        heard_at=told.since[0] if told is not None else seen,
        session=session.session if session is not None else "",
        mode=session.mode if session is not None else "",
        reported=report.text if report is not None else "",
        reported_at=last.moment if last is not None else None,
        unanswered=len(facts.unanswered.get(name, ())),
    )


def _state(
    facts: Facts, name: str, seen: datetime | None, waiting: Sequence[RequestRow], told: AgentSession | None
) -> tuple[AgentState, str]:
    """Return the state of an agent and why: a stop counts most, then what it waits for, its session, its messages."""
    spoke = facts.seen.spoken.get(name)
    stop = facts.stops.get(name)
    if stop is not None and not stop.is_alive:
        return (AgentState.STOPPED if stop.ended else AgentState.STOPPING), stop.reason
    held = _waiting_state(facts, name, waiting, has_been_seen=seen is not None)
    if held is not None:
        return held
    if told is not None:
        denied = sum(bool(denial_of(row.question.payload)) for row in waiting)
        return _session_state(facts, told, max(told.since, spoke or told.since), denied)
    if seen is None:
        return AgentState.UNKNOWN, ""
    if stop is not None:
        return _active_or_idle(facts, seen), f"{stop.reason}, but still writes"
    story = facts.sprint.work.get(name)
    if story:
        return _active_or_idle(facts, seen), f"works on story {story}"
    return _active_or_idle(facts, seen), "" if facts.seen.last_written(name) else "reads, has not written yet"


def _is_last_word(session: AgentSession, spoke: StoreOrder | None) -> bool:
    """Return whether the word on the session is the last on the agent: one that rests and writes all the same is at
    work.
    """
    if session.doing is Doing.ENDED:
        return False
    return session.doing is Doing.WORKING or spoke is None or spoke <= session.since


def _session_state(facts: Facts, session: AgentSession, heard: StoreOrder, denied: int) -> tuple[AgentState, str]:
    """Return the client's last report; a turn may take long without a word, so it counts longer than a message."""
    where = f"a {session.client} session" if session.client else "a session"
    what = f"as a teammate of {session.sponsor}" if session.sponsor else f"in {where}"
    what += f", was denied {counted(denied, 'call')} by its client" if denied else ""
    what += f", {MODES[session.mode]}" if session.mode in MODES else ""
    if session.doing is not Doing.WORKING:
        return AgentState.IDLE, f"rests {what}"
    if facts.now - heard[0] > TURN_FOR:
        return AgentState.IDLE, f"worked {what} when last heard of"
    return AgentState.ACTIVE, f"works {what}"


def _active_or_idle(facts: Facts, seen: datetime) -> AgentState:
    return AgentState.ACTIVE if facts.now - seen <= ACTIVE_FOR else AgentState.IDLE


def _waiting_state(
    facts: Facts, name: str, waiting: Iterable[RequestRow], *, has_been_seen: bool
) -> tuple[AgentState, str] | None:
    """Return what keeps the agent from going on, as far as its requests and its plan mode tell."""
    rows = [row for row in waiting if not denial_of(row.question.payload)]
    plan = next((row for row in rows if row.kind is RequestKind.PLAN), None)
    if plan is not None:
        return AgentState.PLANNING, f"its plan waits for {plan.addressee}"
    mine = next((row for row in rows if row.addressee in facts.mine and row.kind is not RequestKind.SHUTDOWN), None)
    if mine is not None:
        return AgentState.WAITING, f"waits for the answer to its {mine.kind.noun}"
    if not facts.config.agent(name).plan_mode_required or not has_been_seen:
        return None
    last = facts.requests.plan_states.get(name)
    if last is RequestState.APPROVED:
        return None
    rejected = last is RequestState.REJECTED
    return AgentState.PLANNING, "revises its rejected plan" if rejected else "has no approved plan yet"


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


# The page of one agent.


class AgentPage(Struct, frozen=True):
    """All that is known of one agent.

    Attributes:
        open_with_reader: Open requests of it that whoever looks answers, or the other way round.
        open_with_others: Its other open requests, and those that it is asked.
        told: Live messages to it, most urgent unread first, then the read ones newest first.
        said: Live messages of it, newest first, without the questions that are open with the reader.
        verdicts: State -> how many of its requests ended so.
        blocked: How long it waited for a human; None where it never did.
        ran: The tool calls that its client told of with its latest request, oldest first.
    """

    row: RosterRow
    open_with_reader: tuple[RequestRow, ...] = ()
    open_with_others: tuple[RequestRow, ...] = ()
    told: Sequence[Message] = ()
    said: Sequence[Message] = ()
    verdicts: tuple[tuple[RequestState, int], ...] = ()
    blocked: Blocked | None = None
    ran: tuple[ToolCall, ...] = ()


def asker_words(view: View, request: RequestRow) -> str:
    """Return what became of the asker of an open request since, as the end of a sentence; empty for nothing."""
    row = next((row for row in view.roster if row.name == request.asker), None)
    if row is None or not request.is_open:
        return ""
    if row.state is AgentState.STOPPED:
        return "has ended"
    if row.stranger:
        return "is on no roster"
    recorded = view.snapshot.recorded
    if recorded is not None and recorded.is_by_former_member(request.question):
        return "left and came back since"
    return ""


def agent_page(view: View, name: str) -> AgentPage | None:
    """Return the page of an agent; None for a name that is not on the roster."""
    row = next((row for row in view.roster if row.name == name), None)
    if row is None:
        return None
    mine = [item.request for item in view.attention if item.request is not None and item.request.is_open]
    about = [request for request in view.requests if name in (request.asker, request.addressee)]
    with_reader = [
        item for item in about if item.is_open and name != view.me and (item in mine or view.me == item.asker)
    ]
    others = [item for item in about if item.is_open and item not in with_reader]
    asked = {item.question.message_id for item in with_reader}
    said = [item for item in view.snapshot.messages if item.sender == name and item.message_id not in asked]
    own = newest_first((item for item in about if item.asker == name), lambda item: when_created(item.question))
    extracts = (why for item in own if (why := why_in(item.question.payload)) is not None)
    ended = Counter(item.state for item in own if not item.is_open)
    return AgentPage(
        row=row,
        open_with_reader=tuple(with_reader),
        open_with_others=tuple(others),
        told=view.inboxes.get(name, ()),
        said=newest_first(said, when_created),
        verdicts=tuple((state, ended[state]) for state in RequestState if ended[state]),
        blocked=blocked_times(own, view.now).agents.get(name),
        ran=next((why.calls for why in extracts if why.calls), ()),
    )


# Blocked times: how long agents waited for a human, by their requests.


class _Wait(NamedTuple):
    """One request of an agent, from question to answer; the end of one that is open is now."""

    start: datetime
    end: datetime
    is_open: bool


class Blocked(Struct, frozen=True):
    """How long one agent, or a team, waited for a human.

    Attributes:
        total: Seconds in which at least one request waited; of a team the sum of those of its agents.
        median: Seconds that a request waited, of those that do not wait any more; None without one.
        now: Seconds for which its oldest open request waits; None where none does.
        requests: How many requests these are.
    """

    total: float
    median: float | None
    now: float | None
    requests: int


class BlockedTimes(Struct, frozen=True):
    """How long agents waited for a human.

    Attributes:
        team: All of them together.
        agents: By name, each agent that asked.
    """

    team: Blocked
    agents: Mapping[str, Blocked]


def blocked_times(rows: Iterable[RequestRow], now: datetime, *, since: datetime | None = None) -> BlockedTimes:
    """Return how long the agents of these requests waited for a human.

    Requests that agents answer, stops, and requests of which a moment is not known are left out.

    Args:
        since: Count only from this moment on; None for all that the rows know.
    """
    waits: dict[str, list[_Wait]] = {}
    for row in rows:
        if row.kind in RESULTS or row.kind is RequestKind.SHUTDOWN or row.asked_at is None:
            continue
        start = row.asked_at if since is None else max(since, row.asked_at)
        end = now if row.is_open else row.answered_at or row.withdrawn_at
        if end is not None and end >= start:
            waits.setdefault(row.asker, []).append(_Wait(start, end, row.is_open))
    agents = {name: _blocked(own, _seconds_covered(own)) for name, own in waits.items()}
    every = [wait for own in waits.values() for wait in own]
    return BlockedTimes(_blocked(every, sum(blocked.total for blocked in agents.values())), agents)


def _blocked(waits: list[_Wait], total: float) -> Blocked:
    """Return `total` with what else is told of these waits."""
    over = [(wait.end - wait.start).total_seconds() for wait in waits if not wait.is_open]
    still = [(wait.end - wait.start).total_seconds() for wait in waits if wait.is_open]
    return Blocked(total, median(over) if over else None, max(still, default=None), len(waits))


def _seconds_covered(waits: list[_Wait]) -> float:
    """Return the seconds in which at least one of the waits went on: where several did, they count once."""
    total = 0.0
    counted_until: datetime | None = None
    for wait in sorted(waits):  # by their beginnings
        begin = wait.start if counted_until is None else max(wait.start, counted_until)
        if wait.end > begin:
            total += (wait.end - begin).total_seconds()
            counted_until = wait.end
    return total
