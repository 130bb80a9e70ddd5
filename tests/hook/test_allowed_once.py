"""What the client denied and the human allowed passes once, and for as long as the offer stands."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service.asking import ask_permission
from team_console.store.service.caller import Caller
from team_console.store.service.requests import approve

from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client, session_files

pytestmark = pytest.mark.slow

STOP, USED = "claude: Stop", "claude: PostToolUse Bash"


DENIED: dict[str, Any] = {
    "hook_event_name": "PermissionDenied",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf build", "description": "clean"},
    "tool_use_id": "toolu_0009_0",
    "reason": "it deletes files",
}


@pytest.mark.parametrize("store", ["files", "SQLite"])
def test_of_equal_calls_at_once_one_passes(client: Client, office: CommandLine, tmp_path: Path, store: str) -> None:
    if store == "SQLite":
        client.location = str(tmp_path / "team.db")
        office.ok("migrate", str(office.folder), client.location)
    allowed_later(client, office)
    calls = [client.begin(USED, **{**DENIED, "hook_event_name": "PreToolUse", "reason": None}) for _ in range(4)]
    assert sorted(bool(client.end(call).out) for call in calls) == [False, False, False, True]


def allowed_later(client: Client, office: CommandLine) -> None:
    """Have the human allow what the client denied, and the model be told."""
    client.tell("claude: UserPromptSubmit (plan mode)")
    client.tell(USED, **DENIED)
    team = ("-t", client.location or str(client.folder))
    (request,) = office.ok(*team, "requests", "--open", "--json").json["requests"]
    office.ok(*team, "--as", "ceo", "approve", request["request_id"])
    client.tell(STOP)


@pytest.mark.parametrize(("age", "said"), [(timedelta(minutes=5), "allow"), (timedelta(hours=2), None)])
def test_a_hint_that_comes_back_is_worth_nothing_once_the_offer_is_over(
    client: Client, office: CommandLine, age: timedelta, said: str | None
) -> None:
    then = datetime.now(UTC) - age
    team = open_team(str(office.folder), clock=lambda: then)
    call: dict[str, Any] = {"tool": DENIED["tool_name"], "input": DENIED["tool_input"], "denied": "it deletes files"}
    call["directory"] = str(client.folder)
    asked = ask_permission(Caller(team, "alice"), **call, expires=then + timedelta(hours=1)).request_id
    assert asked is not None
    approve(Caller(team, "ceo"), request_id=asked)
    team.close()
    client.tell("claude: UserPromptSubmit (plan mode)")
    (session_files(client) / "allowed-0").write_text(json.dumps({"request_id": asked}))
    heard = client.tell(USED, **{**DENIED, "hook_event_name": "PreToolUse", "reason": None})
    assert (heard.reply["hookSpecificOutput"]["permissionDecision"] if heard.out else None) == said
