"""Command lines whose work is counted on queues of growing length, and the messages each is given."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message

from tests.equipment.cases import constant
from tests.proofs.benchmarks.data import AGENTS, letters

_AGE = timedelta(hours=30)


class Verb(Struct, frozen=True):
    """One command line.

    Attributes:
        lies: What is in the queue: messages `for` an agent, for `each` in turn, `read` ones, or `one plan` among them.
        before: What was run before it. After a send team-console wrote the queue last, so that nothing has to be taken
            in or compared; after a receive it is known, too, that all of it can be understood.
    """

    name: str
    line: str
    lies: str = ""
    before: tuple[str, ...] = ()

    @property
    def words(self) -> Sequence[str]:
        """Its words."""
        return shlex.split(self.line)

    def messages(self, size: int) -> Iterator[Message]:
        """Yield so many messages that lie there."""
        for number, message in enumerate(aged(size)):
            if self.lies.startswith("for "):
                yield waiting(message, self.lies.removeprefix("for "))
            elif self.lies == "each":
                yield waiting(message, AGENTS[number % len(AGENTS)])
            elif self.lies == "read":
                yield message.with_changes(status="read")
            elif self.lies == "one plan" and number != 7:  # a later plan of the same agent would supersede it
                yield message.with_changes(type="message")
            else:
                yield message


def waiting(message: Message, to: str) -> Message:
    """Return the message as one that `to` has yet to get."""
    return message.with_changes(to=to, type="message", status="pending")


def aged(size: int) -> Iterator[Message]:
    """Yield messages whose dates end some hours ago, whatever day it is."""
    start = datetime.now(UTC) - _AGE
    for number, message in enumerate(letters(size)):
        yield message.with_changes(created=to_text(start + _AGE / (2 * size) * number))


VERBS = constant(__file__, "VERBS", tuple[Verb, ...])
