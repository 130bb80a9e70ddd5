"""What clients say is understood as they say it, and answered in their own words; by captured events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from team_console.console.clients.event import Event, Wish
from team_console.console.clients.programs import client_of
from team_console.store.model.message import Message
from team_console.store.protocol.client_answer import sent_back

from tests.equipment.cases import cases
from tests.equipment.teams import make_message
from tests.hook.conftest import CAPTURED

MODES = ["auto", "acceptEdits", "default"]


def read(name: str, **changes: Any) -> Event:
    data = {**CAPTURED[name], **changes}
    return client_of(data).event_of(data)


def request(name: str, **changes: Any) -> Message:
    """What the hook puts on record of a captured event that asks for something."""
    data = {**CAPTURED[name], **changes}
    event, given = read(name, **changes), dict(data["tool_input"])
    plan = given.pop("plan", "")
    kinds: dict[Wish | None, tuple[str, dict[str, Any]]] = {
        Wish.PLAN: ("plan_approval_request", {"content": plan, "modes": MODES, "further_input": given}),
        Wish.QUESTION: ("question_request", {"questions": given.get("questions")}),
        Wish.PERMISSION: (
            "permission_request",
            {"tool": event.tool, "input": data["tool_input"], "suggestions": list(event.suggestions)},
        ),
    }
    kind, payload = kinds[event.wish]
    return make_message(1, type=kind, sender="bob", to="ceo", payload={"request_id": "r-1", **payload})


def decision(name: str, verdict: dict[str, Any], **changes: Any) -> Any:
    data = {**CAPTURED[name], **changes}
    client = client_of(data)
    reply = client.permission_reply(client.event_of(data), sent_back(request(name, **changes), verdict))
    assert reply is None or reply["hookSpecificOutput"]["hookEventName"] == "PermissionRequest"
    return None if reply is None else reply["hookSpecificOutput"]["decision"]


BASH, PLAN = "claude: PermissionRequest", "claude: PermissionRequest ExitPlanMode (plan mode)"
QUESTION, CODEX = "claude: PermissionRequest AskUserQuestion", "codex: PermissionRequest"


@pytest.mark.parametrize("name", CAPTURED)
def test_every_captured_event_is_read_as_what_it_is(name: str) -> None:
    data, event = CAPTURED[name], read(name)
    assert event.client == ("codex" if name.startswith("codex") else "claude-code")
    assert (event.name, event.session) == (data["hook_event_name"], data["session_id"])
    assert (event.tool, dict(event.input)) == (data.get("tool_name", ""), data.get("tool_input", {}))
    assert (event.wish is not None) is (data["hook_event_name"] in ("PermissionRequest", "PreToolUse"))


def test_a_teammate_is_told_from_a_subagent_and_from_the_session() -> None:
    assert read("claude: PermissionRequest of teammate bob").teammate == "bob"
    assert read("claude: TeammateIdle").teammate == "file-manager"
    subagent = read("claude: SubagentStart (teammate)", agent_id="a5f1c0ffee", agent_type="Explore")
    assert (subagent.teammate, bool(subagent.thread)) == (None, True)
    assert (read(BASH).teammate, read(BASH).thread) == (None, "")


@cases
def test_a_yes_goes_back_in_the_words_of_its_client(
    event: str, changes: dict[str, Any], verdict: dict[str, Any], back: dict[str, Any]
) -> None:
    assert decision(event, {"approve": True, **verdict}, **changes) == back


@pytest.mark.parametrize("name", [BASH, PLAN, QUESTION, CODEX])
def test_no_comes_with_the_words_the_model_reads(name: str) -> None:
    refused = decision(name, {"approve": False, "content": "Not in production"})
    assert (refused["behavior"], refused["message"]) == ("deny", "Not in production")
    assert refused.get("interrupt") in (None, False)


@pytest.mark.parametrize("name", [BASH, PLAN, QUESTION, CODEX])
@cases
def test_what_is_no_clear_yes_or_no_decides_nothing(name: str, verdict: dict[str, Any]) -> None:
    assert decision(name, verdict) is None


def test_codex_is_told_no_where_it_could_not_run_what_was_edited() -> None:
    refused = decision(CODEX, {"approve": True, "updated_input": {"command": "ls"}})
    assert refused["behavior"] == "deny"  # the original must not run in place of what was approved
    assert json.dumps({"command": "ls"}) in refused["message"]
