"""Stops: who was asked to stop, who agreed, and whether it fell silent since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.entries import Entry, Order
from team_console.store.protocol.relations.membership import Membership, entries_of, is_master, membership_of
from team_console.store.protocol.relations.sessions import is_end
from team_console.store.protocol.verdicts.trust import objection
from team_console.store.settings.team_config import TeamConfig

REQUEST, RESPONSE = "shutdown_request", "shutdown_response"
_SESSION_OVER = "its session has ended"
_ASKED, _AGREED, _LEFT = "asked to stop, has not answered", "agreed to stop", "ended, or left out of the latest roster"


class Stop(Struct, frozen=True):
    """The latest word on an agent's stop.

    Attributes:
        ended: It agreed, was destroyed or left the roster; False while its answer is awaited.
        since: When it was asked or ended.
        reason: In a few words.
        asked_again: When it was asked once more after its end, and has not answered that.
    """

    ended: bool
    since: Order
    reason: str
    asked_again: Order | None = None

    def is_over(self, spoke: Order | None) -> bool:
        """Whether it is alive all the same: it spoke after its end (D17)."""
        return self.ended and spoke is not None and spoke > self.since

    def after(self, spoke: Order | None) -> Stop:
        """The stop as it stands once the agent last `spoke` then: whoever came back may be asked again."""
        if self.asked_again is None or not self.is_over(spoke):
            return self
        return Stop(False, self.asked_again, _ASKED)


class _Asked(Struct):
    """What one agent was asked and said, while the facts are read in order."""

    open: Order | None = None
    """Of the latest request, which supersedes all before it; None once that is answered."""
    agreed: Order | None = None


def stops(
    config: TeamConfig, team: Membership, facts: Iterable[Entry], recorded: RecordedFacts | None = None
) -> dict[str, Stop]:
    """The standing stop of each agent that has one.

    A request by anybody but the lead, or to the lead or the human, stops nobody, nor does a yes to it (decision D10).
    An answer counts although its clock says that it came before the question; the first answer to a request counts
    (D14).

    Args:
        facts: Shutdown requests and responses, in order; forged ones stop nobody.
        recorded: The audit trail, for what was said before the team began to sign.
    """
    facts = [entry for entry in facts if not objection(config, entry.message, recorded=recorded)]
    answers = _first_answers(facts)
    agents: dict[str, _Asked] = {}
    allowed: dict[tuple[str, str | None], bool] = {}
    for entry in facts:
        for name in entry.message.recipients if entry.read.name == REQUEST else ():
            key = name, entry.read.request_id
            allowed[key] = allowed.get(key, False) or is_master(config, entry.message.sender)
    for entry in facts:
        request_id = entry.read.request_id
        if entry.read.name == REQUEST and request_id is not None and is_master(config, entry.message.sender):
            for name in entry.message.recipients:
                if name not in (config.lead, USER):
                    answered = (name, request_id) in answers
                    agents.setdefault(name, _Asked()).open = None if answered else entry.order
        elif answers.get((entry.message.sender, request_id or "")) is entry and entry.read.approve:
            if not allowed.get((entry.message.sender, request_id), True):
                continue
            agent = agents.setdefault(entry.message.sender, _Asked())
            agent.open, agent.agreed = None, entry.order
    standing = {name: stop for name, agent in agents.items() if (stop := _standing(agent)) is not None}
    for name, order in team.left.items():
        stop = standing.get(name)
        if stop is None or not stop.ended or stop.since <= order:
            standing[name] = Stop(True, order, _LEFT)
    for name, order in team.sessions.ended().items():
        stop = standing.get(name)
        if name not in (config.lead, USER) and (stop is None or (stop.ended and stop.since < order)):
            standing[name] = Stop(True, order, _SESSION_OVER)
    return {name: stop for name, stop in standing.items() if not _returned(team, name, stop)}


def silent(config: TeamConfig, messages: Iterable[Message]) -> frozenset[str]:
    """Who does not listen: agreed to stop or destroyed and silent since, or asked to stop without an answer yet."""
    return frozenset(_standing_now(config, messages))


def has_stopped(
    config: TeamConfig, messages: Iterable[Message], recorded: RecordedFacts | None = None
) -> frozenset[str]:
    """Who agreed to stop or was destroyed, and has been silent since."""
    return frozenset(name for name, stop in _standing_now(config, messages, recorded).items() if stop.ended)


def _standing_now(
    config: TeamConfig, messages: Iterable[Message], recorded: RecordedFacts | None = None
) -> dict[str, Stop]:
    messages = list(messages)
    standing = stops(config, membership_of(config, messages), entries_of(messages, _is_shutdown), recorded)
    spoken = spoken_since(standing, messages)
    now = {name: stop.after(spoken.get(name)) for name, stop in standing.items()}
    return {name: stop for name, stop in now.items() if not stop.is_over(spoken.get(name))}


def spoken_since(standing: Mapping[str, Stop], messages: Iterable[Message]) -> dict[str, Order]:
    """When each of these agents last said anything but that it agrees to stop."""
    spoken: dict[str, Order] = {}
    for place, message in enumerate(messages):
        if message.sender in standing:
            entry = Entry.of(message, place)
            if is_speech(entry):
                spoken[message.sender] = max(entry.order, spoken.get(message.sender, entry.order))
    return spoken


def is_speech(entry: Entry) -> bool:
    """Whether the sender of this message is alive: all but agreeing to stop, or the end of its session, says so."""
    if entry.is_mail:
        return True
    return not (entry.read.name == RESPONSE and entry.read.approve is True) and not is_end(entry)


def _is_shutdown(message: Message) -> bool:
    return message.type in (REQUEST, RESPONSE)


def _first_answers(facts: Iterable[Entry]) -> dict[tuple[str, str], Entry]:
    """(Agent, request id) -> its first answer with a clear yes or no."""
    answers: dict[tuple[str, str], Entry] = {}
    for entry in facts:
        read = entry.read
        if read.name == RESPONSE and read.request_id is not None and read.approve is not None:
            answers.setdefault((entry.message.sender, read.request_id), entry)
    return answers


def _standing(agent: _Asked) -> Stop | None:
    if agent.agreed is not None:
        return Stop(True, agent.agreed, _AGREED, agent.open)
    return Stop(False, agent.open, _ASKED) if agent.open is not None else None


def _returned(team: Membership, name: str, stop: Stop) -> bool:
    arrived = team.arrived.get(name)
    return arrived is not None and arrived > stop.since and name not in team.gone
