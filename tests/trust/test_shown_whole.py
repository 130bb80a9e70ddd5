"""What `show` and `receive` print is all that a message says; `--seen` of its word approves exactly that."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from team_console.store.model.message import from_record
from team_console.store.protocol.suggestions import suggestion_words
from team_console.widgets.document import Lines
from team_console.widgets.message_documents import permission_blocks

from tests.equipment.command_line import CommandLine
from tests.equipment.signed_teams import put

pytestmark = pytest.mark.slow


def hand_in(team: CommandLine, message_id: str, **record: Any) -> tuple[str, str]:
    """Put a message into `drop/`, as a script without the lock does; what `show` and `receive` print of it."""
    drop = team.folder / "drop"
    drop.mkdir(exist_ok=True)
    whole = {"message_id": message_id, "from": "task-manager", "to": "ceo", **record}
    (drop / f"{message_id}.yaml").write_text(yaml.safe_dump(whole, sort_keys=False))
    team.ok("check --heal")
    return team.ok("show", message_id).out, team.ok("receive --agent ceo --peek").out


def test_a_first_line_that_its_title_cuts_is_shown_whole(team: CommandLine) -> None:
    plan = f"1. Tidy up the loader {'and so on ' * 30}and delete the archives"
    payload = {"request_id": "plan_approval-1@task-manager@t", "content": plan}
    shown, received = hand_in(team, "MSG-long", type="plan_approval_request", payload=payload)
    assert plan in " ".join(shown.partition("\n\n")[2].split())
    assert f"\n  {plan}\n" in received


def test_of_a_request_that_cannot_be_shown_whole_no_word_is_printed(team: CommandLine) -> None:
    plan = "\n".join(f"{number}. One step of many" for number in range(12_000))
    request = team.ok("--as task-manager plan --content -", stdin=plan).out.strip()
    shown = team.ok("show", request).out
    assert ("11999. One step of many" in shown, "answer it with --seen" in shown) == (True, True)
    for path in (team.folder / "attachments").iterdir():
        path.unlink()
    shown = team.ok("show", request).out
    assert ("Only the beginning is shown" in shown, "answer it with --seen" in shown) == (True, False)


def test_a_field_beside_the_json_is_not_shown_in_place_of_what_decides(team: CommandLine) -> None:
    said = {"msg_type": "AGENT_CREATE_REQUEST", "agent_type": "root-runner", "role_hint": "x", "requested_by": "s"}
    content = f"AGENT_CREATE_REQUEST: {json.dumps({**said, 'kind': 'AGENT_DESTROY_REQUEST'})}"
    payload = {"summary": "wants one tester for it", "agent_type": "tester", "role_hint": "x", "content": content}
    shown, received = hand_in(team, "MSG-create", type="message", payload=payload)
    body, _, details = shown.partition("── details ")
    assert "\nagent_type: root-runner\n" in body
    assert "\nagent_type: tester\n" in details
    assert "  kind: AGENT_CREATE_REQUEST\n  agent_type: root-runner\n" in received
    assert "  kind: AGENT_DESTROY_REQUEST\n  further fields:\n    agent_type: tester\n" in received
    assert "root-runner-1 is created" in team.ok("approve MSG-create").out


def test_what_would_be_allowed_always_is_told_to_its_end() -> None:
    rules = [{"toolName": "Bash", "ruleContent": "x" * 3000}, {"toolName": "Bash"}]
    for kind, end in (("addRules", "Bash in all your projects"), ("replaceRules", '"destination": "userSettings"}')):
        suggestion = {"type": kind, "behavior": "allow", "rules": rules, "destination": "userSettings"}
        assert suggestion_words(suggestion).endswith(end)
        payload = {"tool": "Bash", "input": {"command": "ls"}, "suggestions": [suggestion]}
        record = {"message_id": "MSG-1", "type": "permission_request", "from": "bob", "to": "ceo", "payload": payload}
        (*_, lines) = permission_blocks(from_record(record))
        assert isinstance(lines, Lines)
        assert lines.lines[0][-1][0].endswith(end)


def plan_of(team: CommandLine, number: int, sender: str) -> None:
    """Write a plan of this sender into the queue, past every check."""
    plan = {"request_id": f"plan-{number}", "summary": "a plan", "content": "x"}
    put(team.folder, f"MSG-odd{number}", "plan_approval_request", sender, "ceo", **plan)


def test_a_request_that_nobody_can_be_told_an_answer_to_can_be_taken_away(team: CommandLine) -> None:
    plan_of(team, 1, "../../x")
    refused = team("reject plan-1 --reason no --json")
    assert (refused.status, refused.json["error"]) == (1, "INVALID_NAME")
    assert refused.json["hint"] == "Take it out of what waits: team-console recall MSG-odd1"
    team.ok("recall MSG-odd1")
    assert team.ok("requests --open --json").json["requests"] == []
