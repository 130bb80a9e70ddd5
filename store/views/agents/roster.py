"""The state of each agent with its reason, from settings, rosters, requests, stops and traffic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER
from team_console.store.model.words import counted
from team_console.store.protocol.client_requests import denial_of
from team_console.store.protocol.entries import Order
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.relations.membership import Membership
from team_console.store.protocol.relations.sessions import AgentSession, Doing
from team_console.store.protocol.relations.state_reports import report_of
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.agents.last_reports import LastReports
from team_console.store.views.agents.last_seen import LastSeen
from team_console.store.views.facts import Facts
from team_console.store.views.mail.inboxes import Inbox
from team_console.store.views.rows import AgentState, RequestRow, RequestState, RosterRow

ACTIVE_FOR = timedelta(minutes=5)
"""An agent that wrote or read this recently counts as active."""
TURN_FOR = timedelta(hours=1)
"""A turn that began this recently, and did not end, counts as going on."""
HUMAN = "human"
"""The role of `user` where the lead has another name."""
_ROLE_ORDER = {role: number for number, role in enumerate(("master", HUMAN, "resident", "member", "slave", "temp"))}
_NO_INBOX = Inbox("")


class Scene(Struct, frozen=True):
    """What the roster is made of, at one moment.

    Attributes:
        reports: What each agent last said of its state.
        unanswered: Agent -> messages it has read and not answered.
        dropped: Messages that wait to be taken into the queue.
    """

    config: TeamConfig
    now: datetime
    me: str
    facts: Facts
    last_seen: LastSeen
    inboxes: Mapping[str, Inbox]
    reports: LastReports
    unanswered: Mapping[str, tuple[Message, ...]]
    dropped: tuple[Message, ...]

    @property
    def team(self) -> Membership:
        """Who is a member, and who was."""
        return self.facts.team

    @property
    def mine(self) -> frozenset[str]:
        """Names under which the human at this console is addressed."""
        return names_of(self.config, self.me)


def names_of(config: TeamConfig, me: str) -> frozenset[str]:
    """The lead's seat is the human's, so what goes to `user` goes to the lead too (D6)."""
    return frozenset({me, USER}) if me == config.lead else frozenset({me})


def roster(scene: Scene) -> tuple[RosterRow, ...]:
    """Everybody there is or was, the lead first, who is gone last."""
    waiting = _by_asker(scene.facts.requests.open)
    rows = [_row(scene, name, waiting.get(name, ())) for name in names(scene)]
    places = {name: place for place, name in enumerate(scene.config.agents)}
    last = len(places)
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                row.name in scene.team.gone,
                row.stranger,
                _ROLE_ORDER.get(row.role, len(_ROLE_ORDER)),
                places.get(row.name, last),
                row.name,
            ),
        )
    )


def names(scene: Scene) -> list[str]:
    """Members, those gone that the queue still speaks of, and whoever else writes or is written to."""
    config, team = scene.config, scene.team
    found = dict.fromkeys(team.roles)
    if config.lead == USER and not config.agents and USER not in scene.inboxes and not scene.last_seen.is_live(USER):
        found.pop(USER, None)
    found.update(dict.fromkeys(name for name in team.gone if _is_heard_of(scene, name)))
    found.update(dict.fromkeys(sorted(scene.inboxes)))
    found.update(dict.fromkeys(name for name in sorted(scene.last_seen.names) if scene.last_seen.is_live(name)))
    found.pop(ALL, None)
    return list(found)


def is_stranger(config: TeamConfig, team: Membership, name: str) -> bool:
    """Whether a name in traffic is on no roster of a team that declares its members."""
    return config.declared and team.role(name) is None and name not in (USER, config.lead)


def _is_heard_of(scene: Scene, name: str) -> bool:
    return name in scene.inboxes or scene.last_seen.is_live(name)


def _by_asker(rows: Iterable[RequestRow]) -> dict[str, list[RequestRow]]:
    found: dict[str, list[RequestRow]] = {}
    for row in rows:
        found.setdefault(row.asker, []).append(row)
    return found


def _row(scene: Scene, name: str, waiting: Iterable[RequestRow]) -> RosterRow:
    inbox = scene.inboxes.get(name, _NO_INBOX)
    state, reason = _state(scene, name, waiting)
    last = scene.reports.latest(name)
    report = report_of(last.message) if last is not None else None
    return RosterRow(
        name=name,
        role=scene.team.role(name) or (HUMAN if name == USER else "member"),
        state=state,
        plan_mode_required=scene.config.agent(name).plan_mode_required,
        stranger=is_stranger(scene.config, scene.team, name),
        unread=len(inbox.unread),
        total=len(inbox),
        oldest_unread=inbox.oldest_unread,
        dropped=sum(message.is_addressed_to(name) for message in scene.dropped),
        last_seen=scene.last_seen.last_seen(name),
        reason=reason,
        reported=report.text if report is not None else "",
        reported_at=last.moment if last is not None else None,
        unanswered=len(scene.unanswered.get(name, ())),
    )


def _state(scene: Scene, name: str, waiting: Iterable[RequestRow]) -> tuple[AgentState, str]:
    spoke = scene.last_seen.spoke(name)
    waiting = tuple(waiting)
    stop = scene.facts.stops.get(name)
    stop = stop.after(spoke) if stop is not None else None
    back = stop is not None and stop.is_over(spoke)
    if stop is not None and not back:
        return (AgentState.STOPPED if stop.ended else AgentState.STOPPING), stop.reason
    held = _held(scene, name, waiting)
    if held is not None:
        return held
    session = scene.team.sessions.current(name)
    if session is not None and _tells(session, spoke):
        denied = sum(bool(denial_of(row.question.payload)) for row in waiting)
        return _in_session(scene, session, max(session.since, spoke or session.since), denied)
    seen = scene.last_seen.last_seen(name)
    if seen is None:
        return AgentState.UNKNOWN, "has not written yet"
    if back and stop is not None:
        return _awake(scene, seen), f"{stop.reason}, but still writes"
    story = scene.facts.sprint.work.get(name)
    if story:
        return _awake(scene, seen), f"works on story {story}"
    return _awake(scene, seen), "" if scene.last_seen.last_written(name) else "reads, has not written yet"


def _tells(session: AgentSession, spoke: Order | None) -> bool:
    """Whether the word on the session is the last on the agent: one that rests and writes all the same is at work."""
    if session.doing is Doing.ENDED:
        return False
    return session.doing is Doing.WORKING or spoke is None or spoke <= session.since


def _in_session(scene: Scene, session: AgentSession, heard: Order, denied: int) -> tuple[AgentState, str]:
    """What the client told last; a turn may take long without a word, so it counts for longer than a message."""
    where = f"a {session.client} session" if session.client else "a session"
    what = f"as a teammate of {session.sponsor}" if session.sponsor else f"in {where}"
    what += f", was denied {counted(denied, 'call')} by its client" if denied else ""
    if session.doing is not Doing.WORKING:
        return AgentState.IDLE, f"rests {what}"
    if scene.now - heard[0] > TURN_FOR:
        return AgentState.IDLE, f"worked {what} when last heard of"
    return AgentState.ACTIVE, f"works {what}"


def _awake(scene: Scene, seen: datetime) -> AgentState:
    return AgentState.ACTIVE if scene.now - seen <= ACTIVE_FOR else AgentState.IDLE


def _held(scene: Scene, name: str, waiting: Iterable[RequestRow]) -> tuple[AgentState, str] | None:
    """What keeps the agent from going on, as far as its requests and its plan mode tell."""
    rows = [row for row in waiting if not denial_of(row.question.payload)]
    plan = next((row for row in rows if row.kind is RequestKind.PLAN), None)
    if plan is not None:
        return AgentState.PLANNING, f"its plan waits for {plan.addressee}"
    mine = next((row for row in rows if row.addressee in scene.mine and row.kind is not RequestKind.SHUTDOWN), None)
    if mine is not None:
        return AgentState.WAITING, f"waits for the answer to its {mine.kind} request"
    if not scene.config.agent(name).plan_mode_required or scene.last_seen.last_seen(name) is None:
        return None
    last = scene.facts.requests.plan_states.get(name)
    if last is RequestState.APPROVED:
        return None
    rejected = last is RequestState.REJECTED
    return AgentState.PLANNING, "revises its rejected plan" if rejected else "has no approved plan yet"
