"""Tell which agents were asked to stop, which agreed or ended, and which fell silent since."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.client_sessions import is_end
from team_console.store.protocol.judgement import Judged, judge_entries
from team_console.store.protocol.kinds import SHUTDOWN_REQUEST, SHUTDOWN_RESPONSE, RequestKind
from team_console.store.protocol.membership import Membership, entries_of, is_master, membership_of
from team_console.store.protocol.placed_message import EARLIEST, PlacedMessage, StoreOrder
from team_console.store.protocol.request_row import RequestRow
from team_console.store.protocol.trust import objection
from team_console.store.settings.team_config import TeamConfig

_SHUTDOWN_KINDS = frozenset({SHUTDOWN_REQUEST, SHUTDOWN_RESPONSE})
_SESSION_OVER = "its session has ended"
_ASKED, _AGREED, _LEFT = "asked to stop, has not answered", "agreed to stop", "ended, or left out of the latest roster"


class Stop(Struct, frozen=True):
    """The latest word on an agent's stop.

    Attributes:
        ended: It agreed, was destroyed or left the roster; False while its answer is awaited.
        since: When it was asked or ended.
        reason: In a few words.
        is_alive: Whether it is alive all the same: it spoke after its end (D17).
    """

    ended: bool
    since: StoreOrder
    reason: str
    is_alive: bool = False


def agent_stops(
    config: TeamConfig,
    team: Membership,
    judged: Judged,
    spoken: Mapping[str, StoreOrder],
    recorded: RecordedFacts | None,
) -> dict[str, Stop]:
    """Return the stop of each agent that has one.

    A request by anybody but the lead, or to the lead or the human, stops nobody, nor does a yes to it (decision D10).

    Args:
        judged: All that were asked for; a yes to one that is not known any more counts too.
        spoken: When each agent last said anything but that it agrees to stop.
        recorded: The audit trail, for what was said before the team began to sign.
    """
    asked = dict(_open_stops(config, judged))
    ends = sorted(_ends(config, team, judged, recorded, asked), key=lambda end: end[1].since)
    found: dict[str, Stop] = {}
    # The latest end counts, and more than a request to stop that is open.
    for name, stop in (*asked.items(), *ends):
        is_of_former_life = name not in team.gone and team.arrived.get(name, stop.since) > stop.since
        is_alive = stop.ended and spoken.get(name, stop.since) > stop.since
        # Who spoke after its end and was asked once more is waited for.
        if not is_of_former_life and not (is_alive and name in asked):
            found[name] = replace(stop, is_alive=is_alive)
    return found


def _is_stop_by_master(config: TeamConfig, row: RequestRow) -> bool:
    """Return whether a request asks an agent to stop, by somebody whose word counts for that."""
    return row.kind is RequestKind.SHUTDOWN and is_master(config, row.asker)


def _open_stops(config: TeamConfig, judged: Judged) -> Iterator[tuple[str, Stop]]:
    """Yield each agent that was asked to stop and has not answered, with that."""
    for row in judged.rows:
        if _is_stop_by_master(config, row) and row.is_open and row.addressee not in (config.lead, USER):
            asked_at = StoreOrder(row.asked_at or EARLIEST, row.order.place_in_store)
            yield row.addressee, Stop(False, asked_at, _ASKED)


def _ends(
    config: TeamConfig, team: Membership, judged: Judged, recorded: RecordedFacts | None, asked: Container[str]
) -> Iterator[tuple[str, Stop]]:
    """Yield each agent that agreed to stop, left, or whose sessions are over, with that; perhaps several times.

    Args:
        asked: Agents that have yet to answer whether they stop: the end of their session is no answer.
    """
    for row in judged.rows:
        if _is_stop_by_master(config, row) and row.is_approved:
            agreed_at = StoreOrder(row.answered_at or EARLIEST, row.decided.place_in_store)
            yield row.addressee, Stop(True, agreed_at, _AGREED)
    for entry in judged.orphans:
        agrees = entry.read.name == SHUTDOWN_RESPONSE and entry.read.approve
        if agrees and not objection(config, entry.message, recorded=recorded):
            yield entry.message.sender, Stop(True, entry.order, _AGREED)
    for name, left_at in team.left.items():
        yield name, Stop(True, left_at, _LEFT)
    for name, ended_at in team.sessions.ended().items():
        if name not in asked and name not in (config.lead, USER):
            yield name, Stop(True, ended_at, _SESSION_OVER)


def silent_agents(config: TeamConfig, messages: Iterable[Message]) -> frozenset[str]:
    """Return who does not listen: stopped or destroyed and silent since, or asked to stop without an answer yet."""
    return frozenset(name for name, stop in _stops_now(config, messages, None).items() if not stop.is_alive)


def stopped_agents(config: TeamConfig, messages: Iterable[Message], recorded: RecordedFacts | None) -> frozenset[str]:
    """Return who agreed to stop or was destroyed, and has been silent since."""
    now = _stops_now(config, messages, recorded).items()
    return frozenset(name for name, stop in now if stop.ended and not stop.is_alive)


def _stops_now(config: TeamConfig, messages: Iterable[Message], recorded: RecordedFacts | None) -> dict[str, Stop]:
    """Return the stop of each agent that these live messages tell of."""
    messages = list(messages)
    judged = judge_entries(config, recorded, entries_of(messages, lambda message: message.type in _SHUTDOWN_KINDS))
    speech = filter(is_speech, entries_of(messages, lambda message: True))  # in order, so that the latest stays
    spoken = {entry.message.sender: entry.order for entry in speech}
    return agent_stops(config, membership_of(config, messages), judged, spoken, recorded)


def is_speech(entry: PlacedMessage) -> bool:
    """Return whether a message shows that its sender is alive: not one that agrees to stop, or ends its session."""
    return not (entry.read.name == SHUTDOWN_RESPONSE and entry.read.approve is True) and not is_end(entry)
