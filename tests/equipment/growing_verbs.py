"""Command lines whose work is counted on queues of growing length, and the messages each is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from tests.proofs.benchmarks.data import AGENTS, LEAD, Letter, letters

READER = AGENTS[3]
_AGE = timedelta(hours=30)


@dataclass(frozen=True, slots=True)
class Verb:
    """One command line.

    Attributes:
        before: What was run before it. After a send team-console wrote the queue last, so that nothing has to be taken
            in or compared; after a receive it is known, too, that all of it can be understood.
    """

    name: str
    words: Sequence[str]
    make: Callable[[Letter], Letter] = lambda letter: letter
    before: Sequence[Sequence[str]] = ()


def waiting(toast: Letter, to: str) -> Letter:
    """The letter as a message that `to` has yet to get."""
    return replace(toast, to=to, type="message", status="pending")


def _asked_once(toast: Letter) -> Letter:
    """The letter; of all plans only the first is one, since a later plan of the same agent would supersede it."""
    return toast if toast.number == 7 else replace(toast, type="message")


def aged(size: int) -> Iterator[Letter]:
    """Letters whose dates end some hours ago, whatever day it is."""
    start = datetime.now(UTC) - _AGE
    step = _AGE / (2 * size)
    for toast in letters(size):
        yield replace(toast, created=f"{start + step * toast.number:%Y-%m-%dT%H:%M:%S}.000Z")


_SEND = ("send", "--to", READER, "--summary", "Five words are in here", "--content", "Hello", "--as", LEAD)
_PLAN = f"plan_approval-{1771900000000 + 7}@{AGENTS[7]}@bench"
_RECEIVE = ("receive", "--agent", AGENTS[5])
_SENT = (_SEND,)
_READ = (_SEND, ("receive", "--agent", AGENTS[6]))
VERBS = (
    Verb("send", _SEND, before=_SENT),
    Verb("receive, nothing for me", _RECEIVE, lambda toast: waiting(toast, AGENTS[4]), _READ),
    Verb("receive, nothing, the first after a foreign write", _RECEIVE, lambda toast: waiting(toast, AGENTS[4]), _SENT),
    Verb("receive, everything", ("receive", "--agent", READER), lambda toast: waiting(toast, READER)),
    Verb("deliver, everything due", ("deliver",), lambda toast: waiting(toast, AGENTS[toast.number % len(AGENTS)])),
    Verb("clear, everything", ("clear", "--older-than-days", "0"), lambda toast: replace(toast, status="read")),
    Verb("approve", ("approve", _PLAN, "--as", LEAD), _asked_once, _SENT),
    Verb("status", ("status", "--json"), before=_SENT),
    Verb("requests", ("requests", "--json"), before=_SENT),
    Verb("check", ("check", "--json"), before=_SENT),
)
