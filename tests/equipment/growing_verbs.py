"""Command lines whose work is counted on queues of growing length, and the messages each is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from team_console.store.model.clock import to_text
from team_console.store.model.message import Message

from tests.proofs.benchmarks.data import AGENTS, LEAD, letters

READER = AGENTS[3]
_AGE = timedelta(hours=30)


class Verb(NamedTuple):
    """One command line.

    Attributes:
        make: Makes of the number of a message, and the message, the one that lies there.
        before: What was run before it. After a send team-console wrote the queue last, so that nothing has to be taken
            in or compared; after a receive it is known, too, that all of it can be understood.
    """

    name: str
    words: Sequence[str]
    make: Callable[[int, Message], Message] = lambda number, message: message
    before: Sequence[Sequence[str]] = ()


def waiting(message: Message, to: str) -> Message:
    """Return the message as one that `to` has yet to get."""
    return message.with_changes(to=to, type="message", status="pending")


def _for(agent: str) -> Callable[[int, Message], Message]:
    return lambda number, message: waiting(message, agent)


def _for_each(number: int, message: Message) -> Message:
    return waiting(message, AGENTS[number % len(AGENTS)])


def _read_by_all(number: int, message: Message) -> Message:
    return message.with_changes(status="read")


def _asked_once(number: int, message: Message) -> Message:
    """Of all plans only the first is one, since a later plan of the same agent would supersede it."""
    return message if number == 7 else message.with_changes(type="message")


def aged(size: int) -> Iterator[Message]:
    """Yield messages whose dates end some hours ago, whatever day it is."""
    start = datetime.now(UTC) - _AGE
    for number, message in enumerate(letters(size)):
        yield message.with_changes(created=to_text(start + _AGE / (2 * size) * number))


_SEND = ("send", "--to", READER, "--summary", "Five words are in here", "--content", "Hello", "--as", LEAD)
_PLAN = f"plan_approval-{1771900000000 + 7}@{AGENTS[7]}@bench"
_RECEIVE = ("receive", "--agent", AGENTS[5])
_SENT = (_SEND,)
_READ = (_SEND, ("receive", "--agent", AGENTS[6]))
VERBS = (
    Verb("send", _SEND, before=_SENT),
    Verb("receive, nothing for me", _RECEIVE, _for(AGENTS[4]), _READ),
    Verb("receive, nothing, the first after a foreign write", _RECEIVE, _for(AGENTS[4]), _SENT),
    Verb("receive, everything", ("receive", "--agent", READER), _for(READER)),
    Verb("deliver, everything due", ("deliver",), _for_each),
    Verb(
        "clear, everything",
        ("clear", "--older-than-days", "0"),
        _read_by_all,
    ),
    Verb("approve", ("approve", _PLAN, "--as", LEAD), _asked_once, _SENT),
    Verb("status", ("status", "--json"), before=_SENT),
    Verb("requests", ("requests", "--json"), before=_SENT),
    Verb("check", ("check", "--json"), before=_SENT),
)
