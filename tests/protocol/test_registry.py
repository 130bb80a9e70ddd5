"""The registry knows every kind of the four sources."""

from __future__ import annotations

from team_console.store.protocol.kinds import STANDARD_ROUTES, default_priority, routes_of
from team_console.store.settings.team_config import Agent, Route, TeamConfig

from tests.protocol.conftest import OFFICE, agents_of


def test_a_kind_has_the_default_priority_of_its_source() -> None:
    wanted = {"handoff": "high", "review": "medium", "clarify": "high", "escalate": "critical", "notify": "low"}
    wanted |= dict.fromkeys(("collaborate", "message", "poke"), "medium")
    assert {name: default_priority(name, TeamConfig()) for name in wanted} == wanted


def test_standard_routes_are_offered_where_both_ends_are_members() -> None:
    assert routes_of(TeamConfig()) == STANDARD_ROUTES
    assert routes_of(OFFICE) == ()
    settings = TeamConfig(declared=True, agents=agents_of(Agent("sm"), Agent("dev")))
    assert [route.key for route in routes_of(settings)] == ["sm_to_dev"]


def test_the_team_s_own_route_replaces_the_standard_one_of_its_key() -> None:
    own = Route("sm_to_dev", "story ready", "sm", "dev", ("story_path",))
    keys = [route.key for route in routes_of(TeamConfig(routes=(own,)))]
    assert keys.count("sm_to_dev") == 1
    assert routes_of(TeamConfig(routes=(own,)))[0] is own
