"""Tell which agents were asked to stop, which agreed or ended, and which fell silent since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.client_sessions import is_end
from team_console.store.protocol.judgement import Judged, judge_entries
from team_console.store.protocol.kinds import SHUTDOWN_REQUEST, SHUTDOWN_RESPONSE, RequestKind
from team_console.store.protocol.membership import Membership, entries_of, is_master, membership_of
from team_console.store.protocol.placed_message import EARLIEST, PlacedMessage, StoreOrder
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
    asked: dict[str, Stop] = {}
    ends: list[tuple[str, Stop]] = []
    for row in judged.rows:
        if row.kind is RequestKind.SHUTDOWN and is_master(config, row.asker):
            if row.is_open and row.addressee not in (config.lead, USER):
                asked[row.addressee] = Stop(
                    False, StoreOrder(row.asked_at or EARLIEST, row.order.place_in_store), _ASKED
                )
            elif row.is_approved:
                agreed = StoreOrder(row.answered_at or EARLIEST, row.decided.place_in_store)
                ends.append((row.addressee, Stop(True, agreed, _AGREED)))
    for entry in judged.orphans:
        agrees = entry.read.name == SHUTDOWN_RESPONSE and entry.read.approve
        if agrees and not objection(config, entry.message, recorded=recorded):
            ends.append((entry.message.sender, Stop(True, entry.order, _AGREED)))
    ends += [(name, Stop(True, order, _LEFT)) for name, order in team.left.items()]
    for name, order in team.sessions.ended().items():
        if name not in (*asked, config.lead, USER):
            ends.append((name, Stop(True, order, _SESSION_OVER)))
    found: dict[str, Stop] = {}
    for name, stop in (*asked.items(), *sorted(ends, key=lambda end: end[1].since)):
        if name in team.gone or team.arrived.get(name, stop.since) <= stop.since:
            is_alive = stop.ended and spoken.get(name, stop.since) > stop.since
            if not (is_alive and name in asked):
                found[name] = replace(stop, is_alive=is_alive)
    return found


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
    speech = filter(is_speech, entries_of(messages, lambda message: True))
    spoken = {entry.message.sender: entry.order for entry in speech}
    return agent_stops(config, membership_of(config, messages), judged, spoken, recorded)


def is_speech(entry: PlacedMessage) -> bool:
    """Return whether the sender of this message is alive: all but agreeing to stop, or the end of its session, says
    so.
    """
    return not (entry.read.name == SHUTDOWN_RESPONSE and entry.read.approve is True) and not is_end(entry)
