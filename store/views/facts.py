"""Facts of a team: what its messages tell at one moment. Roster, action items and findings are judged by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.agent_stops import Stop
from team_console.store.protocol.membership import Membership
from team_console.store.protocol.placed_message import PlacedMessage
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.inboxes import AgentInbox
from team_console.store.views.last_seen import LastSeen
from team_console.store.views.request_list import Requests
from team_console.store.views.rows import DeliveryRow, Lifecycle, Sprint


class Facts(Struct, frozen=True):
    """A team at one moment, as far as its messages tell.

    Attributes:
        mine: Names under which the human at this console is addressed.
        complete: Whether all archived messages are known; if not, nothing is said for sure that one could explain.
        recorded: What the audit trail knows of verdicts and of keys.
        problems: What is wrong with the store.
        dropped: Messages that wait to be taken into the queue.
        live: The queue in stored order.
        past: The messages known that left the queue.
        notes: What sessions of clients say beside the queue.
        ids: Those of the live messages.
        seen: When each agent was last heard of.
        team: Who is a member, and who was.
        stops: Agent -> the stop it was asked for or agreed to last.
        inboxes: Agent -> what it finds in its inbox.
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
    live: Sequence[PlacedMessage]
    past: Sequence[PlacedMessage]
    notes: Sequence[PlacedMessage]
    ids: frozenset[str]
    seen: LastSeen
    team: Membership
    stops: Mapping[str, Stop]
    requests: Requests
    sprint: Sprint
    drift: tuple[Problem, ...]
    lifecycles: tuple[Lifecycle, ...]
    inboxes: Mapping[str, AgentInbox]
    unanswered: Mapping[str, tuple[Message, ...]]
    failed: tuple[DeliveryRow, ...]

    def stop_of(self, name: str) -> Stop | None:
        """Return the stop that an agent was asked for or agreed to; None where it was not, or spoke again after it."""
        stop = self.stops.get(name)
        return None if stop is None or stop.is_alive else stop

    @property
    def is_lead(self) -> bool:
        """Whether it is the human in charge who looks."""
        return self.me in (self.config.lead, USER)
