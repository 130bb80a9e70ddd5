"""Handing messages on: each is marked with what is wrong with it, so that nobody acts on a forgery unwarned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.reading import reading
from team_console.store.protocol.verdicts.recognition import may_be_verdict
from team_console.store.protocol.verdicts.trust import Mark, mark_of
from team_console.store.settings.team_config import TeamConfig

TRUST = "trust"
"""The key that a record handed on has when something is wrong with it; what a writer put there is taken out."""


class Trust(Struct, frozen=True):
    """What messages are judged by that are handed on.

    Attributes:
        questions: Request id -> the message that asks.
    """

    config: TeamConfig
    recorded: RecordedFacts | None = None
    questions: Mapping[str, Message] = field(default_factory=dict)

    def mark(self, message: Message) -> Mark | None:
        """What is wrong with it, None when nothing is."""
        question = self.questions.get(reading(message).request_id or "")
        return mark_of(self.config, message, question, recorded=self.recorded)

    def marked(self, message: Message) -> Message:
        """The message with its mark; itself when nothing is wrong with it."""
        mark = self.mark(message)
        if mark is None and TRUST not in message.record:
            return message
        return message.with_changes(**{TRUST: str(mark) if mark is not None else None})


def trust_in(team: Team, messages: Iterable[Message]) -> Trust:
    """What these messages are judged by; the store is looked at only when there is a verdict among them."""
    config = team.config()
    verdicts = [message for message in messages if may_be_verdict(config, message)]
    if not verdicts:
        return Trust(config)
    snapshot = team.snapshot()
    return Trust(config, snapshot.recorded, _questions(team, verdicts, snapshot.messages))


def marked(team: Team, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages as they are handed on: each with its mark where something is wrong with it."""
    trust = trust_in(team, messages)
    return tuple(map(trust.marked, messages))


def _questions(team: Team, verdicts: Iterable[Message], live: Sequence[Message]) -> dict[str, Message]:
    wanted = {request_id for verdict in verdicts if (request_id := reading(verdict).request_id) is not None}
    asked = _asked(live, wanted)
    for request_id in wanted - asked.keys():
        asked |= _asked(team.archived(request_id), {request_id})
    return asked


def _asked(messages: Iterable[Message], wanted: set[str]) -> dict[str, Message]:
    """Of several with one id the first."""
    asked: dict[str, Message] = {}
    for message in messages:
        read = reading(message)
        if read.opens is not None and read.request_id in wanted:
            asked.setdefault(read.request_id or "", message)
    return asked
