"""The registry knows every kind of the four sources."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from team_console.store.protocol.kinds import KINDS, STANDARD_ROUTES, Family, RequestKind, default_priority, routes_of
from team_console.store.settings.team_config import Agent, Route, TeamConfig

from tests.protocol.conftest import OFFICE, SPRINT_BODIES, agents_of

FORMS = ("message", "broadcast", "shutdown_request", "shutdown_response", "plan_approval_response")
WITHOUT_FORMAT = (
    *("AGENT_DESTROY_REQUEST", "AGENT_DESTROYED", "COURSE_CORRECTION", "CC_TRIGGER"),
    *("AGENT_COMPLETE", "RESEARCH_REQUEST", "RESEARCH_RESULT"),
)
SPRINT_KINDS = (*(str(body["msg_type"]) for body in SPRINT_BODIES), *WITHOUT_FORMAT)


@pytest.mark.parametrize(
    ("names", "family"),
    [
        ((*FORMS, "plan_approval_request"), Family.SENDMESSAGE),
        (("handoff", "review", "clarify", "escalate", "notify", "collaborate"), Family.MESSENGER),
        (SPRINT_KINDS, Family.SPRINT),
        (("task_assignment", "task_complete", "spec_ready", "error_report", "dependency_unblocked"), Family.ROUTER),
    ],
)
def test_every_kind_of_a_source_is_known_under_its_family(names: tuple[str, ...], family: Family) -> None:
    assert {name: name in KINDS and KINDS[name].family for name in names} == dict.fromkeys(names, family)


def test_every_request_kind_is_opened_and_answered_by_some_kind() -> None:
    opened = {kind.opens for kind in KINDS.values()} - {None}
    answered = {kind.answers for kind in KINDS.values()} - {None}
    assert opened == set(RequestKind)
    assert set(RequestKind) - answered == {RequestKind.ESCALATION, RequestKind.CLARIFICATION}


def test_a_kind_has_the_default_priority_of_its_source() -> None:
    wanted = {"handoff": "high", "review": "medium", "clarify": "high", "escalate": "critical", "notify": "low"}
    wanted |= dict.fromkeys(("collaborate", "message", "poke"), "medium")
    assert {name: default_priority(name, TeamConfig()) for name in wanted} == wanted


def test_the_team_overrides_the_default_priority_of_a_kind() -> None:
    settings = TeamConfig(priorities=MappingProxyType({"notify": "high"}))
    assert default_priority("notify", settings) == "high"


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
