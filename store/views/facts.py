"""What one fold over the messages of a team finds out: by this roster, action items and findings are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.membership import Membership
from team_console.store.protocol.relations import Stop
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.inboxes import Inbox
from team_console.store.views.last_seen import LastSeen
from team_console.store.views.requests import Requests
from team_console.store.views.rows import DeliveryRow, Lifecycle
from team_console.store.views.sprint import Sprint


class Facts(Struct, frozen=True):
    """A team at one moment, as far as its messages tell.

    Attributes:
        mine: Names under which the human at this console is addressed.
        complete: Whether all archived messages are known; if not, nothing is said for sure that one could explain.
        recorded: What the audit trail knows of verdicts and of keys.
        problems: What is wrong with the store.
        dropped: Messages that wait to be taken into the queue.
        live, past: The queue in stored order; the messages known that left it.
        ids: How many live messages have each id.
        team: Who is a member, and who was.
        unanswered: Agent -> messages it has read and not answered.
        failed: Deliveries the router gave up.
        drift: Where the latest roster is wrong.
    """

    config: TeamConfig
    now: datetime
    me: str
    mine: frozenset[str]
    complete: bool
    recorded: RecordedFacts | None
    problems: tuple[Problem, ...]
    dropped: tuple[Message, ...]
    live: Sequence[Entry]
    past: Sequence[Entry]
    ids: Mapping[str, int]
    seen: LastSeen
    team: Membership
    stops: Mapping[str, Stop]
    requests: Requests
    sprint: Sprint
    drift: tuple[Problem, ...]
    lifecycles: tuple[Lifecycle, ...]
    inboxes: Mapping[str, Inbox]
    unanswered: Mapping[str, tuple[Message, ...]]
    failed: tuple[DeliveryRow, ...]

    @property
    def is_lead(self) -> bool:
        """Whether it is the human in charge who looks."""
        return self.me in (self.config.lead, USER)


def names_of(config: TeamConfig, me: str) -> frozenset[str]:
    """The lead's seat is the human's, so what goes to `user` goes to the lead too (D6)."""
    return frozenset({me, USER}) if me == config.lead else frozenset({me})
