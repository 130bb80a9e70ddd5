"""The registry knows every kind of the four sources."""

from __future__ import annotations

from team_console.store.protocol.kinds import default_priority
from team_console.store.settings.team_config import TeamConfig


def test_a_kind_has_the_default_priority_of_its_source() -> None:
    wanted = {"handoff": "high", "review": "medium", "clarify": "high", "escalate": "critical", "notify": "low"}
    wanted |= dict.fromkeys(("collaborate", "message", "poke"), "medium")
    assert {name: default_priority(name, TeamConfig()) for name in wanted} == wanted
