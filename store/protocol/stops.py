"""Who was asked to stop, who agreed, and whether it fell silent: the truth about an agent that should be gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from store.message import Message
from store.protocol.entries import Entry, Order
from store.protocol.members import Membership

REQUEST, RESPONSE = "shutdown_request", "shutdown_response"


class Stop(Struct, frozen=True):
    """The latest word on an agent's stop.

    Attributes:
        ended: It agreed, was destroyed or left the roster; False while its answer is awaited.
        since: When it was asked or ended.
        reason: In a few words.
    """

    ended: bool
    since: Order
    reason: str

    def is_over(self, spoke: Order | None) -> bool:
        """Whether it is alive all the same: it spoke after its end (D17)."""
        return self.ended and spoke is not None and spoke > self.since


def stops(team: Membership, facts: Iterable[Entry]) -> dict[str, Stop]:
    """The standing stop of each agent that has one.

    Args:
        facts: Shutdown requests and responses, in order. The first answer to a request counts (D14).
    """
    asked: dict[str, dict[str, Order]] = {}
    found: dict[str, Stop] = {}
    answered: set[str] = set()
    for entry in facts:
        read, request_id = entry.read, entry.read.request_id
        if read.name == REQUEST and request_id is not None:
            for name in entry.message.recipients:
                asked.setdefault(name, {})[request_id] = entry.order
        elif read.name == RESPONSE and request_id is not None and read.approve is not None:
            if request_id in answered:
                continue
            answered.add(request_id)
            waiting = asked.get(entry.message.sender, {})
            waiting.pop(request_id, None)
            if read.approve:
                waiting.clear()
                found[entry.message.sender] = Stop(True, entry.order, "agreed to stop")
    for name, waiting in asked.items():
        if waiting and not _later(found.get(name), max(waiting.values())):
            found[name] = Stop(False, max(waiting.values()), "asked to stop, has not answered")
    for name, order in team.left.items():
        if not _later(found.get(name), order):
            found[name] = Stop(True, order, "ended, or left out of the latest roster")
    return {name: stop for name, stop in found.items() if not _returned(team, name, stop)}


def spoken_since(found: Mapping[str, Stop], messages: Iterable[Message]) -> dict[str, Order]:
    """When each of these agents last said anything but that it agrees to stop."""
    spoken: dict[str, Order] = {}
    for place, one in enumerate(messages):
        if one.sender in found:
            entry = Entry(one, place)
            if is_speech(entry):
                spoken[one.sender] = max(entry.order, spoken.get(one.sender, entry.order))
    return spoken


def is_speech(entry: Entry) -> bool:
    """Whether the sender of this message is alive: everything but agreeing to stop says so."""
    return not (entry.read.name == RESPONSE and entry.read.approve is True)


def _later(stop: Stop | None, order: Order) -> bool:
    return stop is not None and stop.ended and stop.since > order


def _returned(team: Membership, name: str, stop: Stop) -> bool:
    arrived = team.arrived.get(name)
    return arrived is not None and arrived > stop.since and name not in team.gone
