"""Team settings: who is in the team, who leads it, and the limits it keeps (`messenger-config.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

CONFIG_NAME = "messenger-config.yaml"
"""The settings' file name (seed 000, requirement 1)."""


class Agent(Struct, frozen=True):
    """A configured member.

    Attributes:
        role: `master`, `resident`, `slave`, `temp` or `member`.
        plan_mode_required: Whether it must hand in a plan before it works (requirement 79).
        deliver: Command that takes pushed messages (record on stdin), empty for the inbox file.
        deliver_timeout: Seconds that command may take.
        may_message: Names this agent may write to; None for everybody.
        may_send: Kinds this agent may send; None for all.
    """

    name: str
    role: str = "member"
    plan_mode_required: bool = False
    deliver: tuple[str, ...] = ()
    deliver_timeout: float = 30.0
    may_message: frozenset[str] | None = None
    may_send: frozenset[str] | None = None


class Route(Struct, frozen=True):
    """A standard handoff offered when composing (`REQUIREMENTS.md` B.2)."""

    key: str
    trigger: str
    sender: str
    recipient: str
    payload: tuple[str, ...] = ()


class TeamConfig(Struct, frozen=True):
    """The settings of one team; every value has a default, so a team works without a file.

    Attributes:
        name: Team name, part of plan request ids.
        lead: The member that answers plans and may ask for shutdowns.
        agents: Configured members by name; empty when the team has no declared roster.
        declared: Whether the settings name the members, so that other names are refused.
        language: Language of summaries: `any`, `zh` or `en` (001-g).
        content_max_bytes: Larger contents are refused (`CONTENT_TOO_LARGE`).
        attachment_bytes: Contents above this move to `attachments/`.
        content_soft_bytes: Contents above this give a warning.
        active_messages_max, archive_after_days, delete_archived_after_days: Retention, decision D18.
        overdue_seconds: Request kind -> seconds until an open request counts as overdue; `default` for the rest.
        priorities: Kind -> default priority, over the kind's own (000-d).
        routes: Standard handoffs.
        spawn: Command run when a creation request is approved; empty for none.
        key: Team key for signatures, empty for none.
        warnings: What was odd in the file but did not stop us, as sentences.
        lost: What happened to the settings, when these are those in force before and not what is there now; while it is
            not empty nothing that needs authority may be written.
    """

    name: str = "team"
    lead: str = "user"
    agents: Mapping[str, Agent] = field(default_factory=lambda: MappingProxyType({}))
    declared: bool = False
    language: str = "any"
    content_max_bytes: int = 1_048_576
    attachment_bytes: int = 65_536
    content_soft_bytes: int = 16_384
    active_messages_max: int = 100
    archive_after_days: int = 7
    delete_archived_after_days: int = 30
    overdue_seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType(dict(OVERDUE_SECONDS)))
    priorities: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    routes: tuple[Route, ...] = ()
    spawn: tuple[str, ...] = ()
    key: bytes = b""
    warnings: tuple[str, ...] = ()
    lost: str = ""

    def __repr__(self) -> str:
        """Its name alone: the key belongs in no log and no traceback."""
        return f"TeamConfig({self.name!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """The same for tracebacks with the values of variables, which do not ask for `repr`."""
        return [("name", self.name)]

    def agent(self, name: str) -> Agent:
        """The member's settings, or defaults for a name that is not configured."""
        return self.agents.get(name) or Agent(name)


OVERDUE_SECONDS: Mapping[str, float] = {
    "default": 900.0,
    "plan": 900.0,
    "shutdown": 15.0,
    "create": 60.0,
    "destroy": 60.0,
    "escalation": 300.0,
    "clarification": 900.0,
    "debug": 900.0,
    "browser": 30.0,
    "research": 300.0,
}
"""Seconds after which an open request of each kind is overdue (`REQUIREMENTS.md` B.5)."""
