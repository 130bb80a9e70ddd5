"""The state of each agent with its reason, from settings, rosters, requests, stops and traffic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from team_console.store.model.names import ALL, USER, look_alikes
from team_console.store.model.safe import counted
from team_console.store.protocol.client_requests import denial_of
from team_console.store.protocol.entries import Order
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.membership import AgentSession, Doing, report_of
from team_console.store.views.facts import Facts
from team_console.store.views.inboxes import Inbox
from team_console.store.views.rows import AgentState, RequestRow, RequestState, RosterRow

ACTIVE_FOR = timedelta(minutes=5)
"""An agent that wrote or read this recently counts as active."""
TURN_FOR = timedelta(hours=1)
"""A turn that began this recently, and did not end, counts as going on."""
HUMAN = "human"
"""The role of `user` where the lead has another name."""
_ROLE_ORDER = {role: number for number, role in enumerate(("master", HUMAN, "resident", "member", "slave", "temp"))}
_NO_INBOX = Inbox()
_LATEST = datetime.max.replace(tzinfo=UTC)


def roster(facts: Facts) -> tuple[RosterRow, ...]:
    """Make the rows of everybody there is or was, the lead first, who is gone last."""
    waiting: dict[str, list[RequestRow]] = {}
    for request in facts.requests.open:
        waiting.setdefault(request.asker, []).append(request)
    names = _names(facts)
    twins = look_alikes({*names, ALL, USER})
    places = {name: place for place, name in enumerate(facts.config.agents)}
    rows = [_row(facts, name, waiting.get(name, ()), twins.get(name, "")) for name in names]
    return tuple(sorted(rows, key=lambda row: _place(facts, row, places.get(row.name, len(places)))))


def _place(facts: Facts, row: RosterRow, place: int) -> tuple[bool, bool, int, int, str]:
    role = _ROLE_ORDER.get(row.role, len(_ROLE_ORDER))
    return row.name in facts.team.gone, row.stranger, role, place, row.name


def _names(facts: Facts) -> set[str]:
    """Members, and whoever else writes or is written to; of those gone the ones that the queue still speaks of."""
    members = set(facts.team.roles)
    if facts.config.lead == USER and not facts.config.agents:
        members.discard(USER)
    return members.union(facts.inboxes, (entry.message.sender for entry in facts.live)) - {ALL}


def _row(facts: Facts, name: str, waiting: Sequence[RequestRow], looks_like: str) -> RosterRow:
    inbox, seen = facts.inboxes.get(name, _NO_INBOX), facts.seen.last_seen(name)
    state, reason = _state(facts, name, seen, waiting)
    role = facts.team.role(name)
    last = facts.seen.reports.get(name)
    report = report_of(last.message) if last is not None else None
    return RosterRow(
        name=name,
        role=role or (HUMAN if name == USER else "member"),
        state=state,
        plan_mode_required=facts.config.agent(name).plan_mode_required,
        stranger=facts.config.declared and role is None and name not in (USER, facts.config.lead),
        looks_like=looks_like,
        unread=len(inbox.unread),
        total=len(inbox),
        oldest_unread=inbox.oldest_unread,
        dropped=sum(message.is_addressed_to(name) for message in facts.dropped),
        last_seen=seen,
        reason=reason,
        reported=report.text if report is not None else "",
        reported_at=last.moment if last is not None else None,
        unanswered=len(facts.unanswered.get(name, ())),
    )


def _state(facts: Facts, name: str, seen: datetime | None, waiting: Sequence[RequestRow]) -> tuple[AgentState, str]:
    spoke = facts.seen.spoken.get(name)
    asked = facts.stops.get(name)
    stop = asked.after(spoke) if asked is not None else None
    if stop is not None and not stop.is_over(spoke):
        return (AgentState.STOPPED if stop.ended else AgentState.STOPPING), stop.reason
    held = _held(facts, name, waiting, has_been_seen=seen is not None)
    if held is not None:
        return held
    session = facts.team.sessions.current(name)
    if session is not None and _tells(session, spoke):
        denied = sum(bool(denial_of(row.question.payload)) for row in waiting)
        return _in_session(facts, session, max(session.since, spoke or session.since), denied)
    if seen is None:
        return AgentState.UNKNOWN, "has not written yet"
    if stop is not None:
        return _awake(facts, seen), f"{stop.reason}, but still writes"
    story = facts.sprint.work.get(name)
    if story:
        return _awake(facts, seen), f"works on story {story}"
    return _awake(facts, seen), "" if facts.seen.last_written(name) else "reads, has not written yet"


def _tells(session: AgentSession, spoke: Order | None) -> bool:
    """Whether the word on the session is the last on the agent: one that rests and writes all the same is at work."""
    if session.doing is Doing.ENDED:
        return False
    return session.doing is Doing.WORKING or spoke is None or spoke <= session.since


def _in_session(facts: Facts, session: AgentSession, heard: Order, denied: int) -> tuple[AgentState, str]:
    """What the client told last; a turn may take long without a word, so it counts for longer than a message."""
    where = f"a {session.client} session" if session.client else "a session"
    what = f"as a teammate of {session.sponsor}" if session.sponsor else f"in {where}"
    what += f", was denied {counted(denied, 'call')} by its client" if denied else ""
    if session.doing is not Doing.WORKING:
        return AgentState.IDLE, f"rests {what}"
    if facts.now - heard[0] > TURN_FOR:
        return AgentState.IDLE, f"worked {what} when last heard of"
    return AgentState.ACTIVE, f"works {what}"


def _awake(facts: Facts, seen: datetime) -> AgentState:
    return AgentState.ACTIVE if facts.now - seen <= ACTIVE_FOR else AgentState.IDLE


def _held(
    facts: Facts, name: str, waiting: Iterable[RequestRow], *, has_been_seen: bool
) -> tuple[AgentState, str] | None:
    """What keeps the agent from going on, as far as its requests and its plan mode tell."""
    rows = [row for row in waiting if not denial_of(row.question.payload)]
    plan = next((row for row in rows if row.kind is RequestKind.PLAN), None)
    if plan is not None:
        return AgentState.PLANNING, f"its plan waits for {plan.addressee}"
    mine = next((row for row in rows if row.addressee in facts.mine and row.kind is not RequestKind.SHUTDOWN), None)
    if mine is not None:
        return AgentState.WAITING, f"waits for the answer to its {mine.kind} request"
    if not facts.config.agent(name).plan_mode_required or not has_been_seen:
        return None
    last = facts.requests.plan_states.get(name)
    if last is RequestState.APPROVED:
        return None
    rejected = last is RequestState.REJECTED
    return AgentState.PLANNING, "revises its rejected plan" if rejected else "has no approved plan yet"
