"""Who may send what to whom, and whose verdict counts."""

from __future__ import annotations

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.rights import check_permission, may_answer
from team_console.store.settings.team_config import Agent, TeamConfig

from tests.protocol.conftest import SPRINT, agents_of

TEAM = TeamConfig(
    lead="ceo",
    agents=agents_of(
        Agent("ceo"),
        Agent("dev"),
        Agent("intern", may_message=frozenset({"dev"}), may_send=frozenset({"message"})),
    ),
)


def refused(sender: str, recipient: str, type: str, config: TeamConfig = TEAM) -> Code | None:
    try:
        check_permission(config, sender=sender, recipient=recipient, type=type)
    except TeamError as error:
        return error.code if error.hint else None
    return None


@pytest.mark.parametrize("type", ["shutdown_request", "plan_approval_response", "AGENT_CREATED", "CC_TRIGGER"])
def test_only_the_lead_asks_for_shutdowns_and_decides_plans_and_agents(type: str) -> None:
    recipient = "scrum-master" if type == "CC_TRIGGER" else "dev"
    assert refused("dev", recipient, type) is Code.NOT_PERMITTED
    assert refused("ceo", recipient, type) is None


def test_a_plan_and_a_sprint_message_go_where_their_kind_goes() -> None:
    assert refused("dev", "intern", "plan_approval_request") is Code.NOT_PERMITTED
    assert refused("slave-batch-1", "debugger", "AGENT_CREATE_REQUEST", SPRINT) is Code.INVALID_FIELD
    assert refused("slave-batch-1", "master", "AGENT_CREATE_REQUEST", SPRINT) is None


def test_settings_narrow_whom_and_what_an_agent_may_send() -> None:
    assert refused("intern", "dev", "message") is None
    assert refused("intern", "ceo", "message") is Code.NOT_PERMITTED
    assert refused("intern", "dev", "handoff") is Code.NOT_PERMITTED
    assert refused("intern", "dev", "DEBUG_REQUEST") is Code.NOT_PERMITTED


@pytest.mark.parametrize("kind", RequestKind)
def test_what_steers_the_team_and_its_clients_is_decided_by_the_lead_everything_else_by_its_addressee(
    kind: RequestKind,
) -> None:
    lead_decides = kind in (
        *(RequestKind.PLAN, RequestKind.CREATE, RequestKind.DESTROY),
        *(RequestKind.PERMISSION, RequestKind.QUESTION),
    )
    assert may_answer(TEAM.lead, actor="ceo", kind=kind, addressee="dev") is lead_decides
    assert may_answer(TEAM.lead, actor="dev", kind=kind, addressee="dev") is not lead_decides
    assert not may_answer(TEAM.lead, actor="intern", kind=kind, addressee="dev")
