"""What a team wants to be asked for comes to the human, whatever mode its client is in; all else is let alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from team_console.console.clients import rules
from team_console.console.clients.hook_invocation import Invocation
from team_console.console.clients.rules import rule_for

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client, Heard, Human

BEFORE = "claude: PreToolUse auto"
CODEX, QUESTION = "codex: PreToolUse", "codex: PreToolUse question"
ATTENDED, HEADLESS = {"CLAUDE_CODE_SESSION_ATTENDED": "1"}, {"CLAUDE_CODE_SESSION_ATTENDED": "0"}


def said(heard: Heard) -> Mapping[str, Any]:
    """What the client is told of a tool that it is about to use; empty for nothing."""
    assert (heard.status, heard.err) == (0, "")
    answer: Mapping[str, Any] = heard.reply["hookSpecificOutput"] if heard.out else {}
    assert answer.get("hookEventName", "PreToolUse") == "PreToolUse"
    return answer


@cases
def test_a_rule_of_the_users_own_names_a_program_as_they_write_it(rule: str, text: str) -> None:
    data: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": text}, "cwd": "/p"}
    assert rule_for(data, [rule], project="/p") == rule
    assert rule_for({**data, "tool_input": {"command": "ls -a"}}, [rule], project="/p") == ("" if "(" in rule else rule)


@pytest.mark.parametrize("text", ["make -C sub deploy x", "make $x", "cd $x && make deploy"])
def test_a_rule_of_the_users_own_is_matched_however_the_command_is_written(text: str) -> None:
    data: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": text}, "cwd": "/p"}
    assert rule_for(data, ["Bash(make deploy:*)"], project="/p") == "Bash(make deploy:*)"


@pytest.mark.parametrize("path", ["x" * 5_000, "a\0b", "\ud800", "~\0/x", "/" * 300])
def test_no_path_keeps_a_call_from_being_asked_for(path: str) -> None:
    """An error is silence, by which the call would pass."""
    rules = ["outside the project", "settings and hooks", "Edit(a/**)", "mcp", "push"]
    for tool, given in (("Write", {"file_path": path}), ("Bash", {"command": f"cd {path}; touch {path}; git push"})):
        data: dict[str, object] = {"tool_name": tool, "tool_input": given, "cwd": path}
        assert rule_for(data, rules, project="/p") or tool == "Write"


def nested(depth: int) -> object:
    """A list within a list, and so on."""
    value: object = "the end"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"a": "x" * (6 << 20)}, {"\ud800": 1}, {"a": nested(200)}])
def test_a_call_that_cannot_be_shown_does_not_pass_unasked(
    given: Mapping[str, object], client: Client, human: Human, office: CommandLine
) -> None:
    office.ok("member", "set", "alice", "--ask-for", "mcp")
    call = {"tool_name": "mcp__store__write", "tool_input": given}
    client.extra = HEADLESS
    assert said(client.tell(BEFORE, **call)) == {}
    with human.at_console():
        answer = said(client.tell(BEFORE, **call))
        assert (answer["permissionDecision"], "cannot be shown" in answer["permissionDecisionReason"]) == ("deny", True)
        client.extra = ATTENDED
        assert said(client.tell(BEFORE, **call))["permissionDecision"] == "ask"


@pytest.mark.slow
def test_a_call_that_is_nested_deeply_is_asked_for(client: Client, human: Human, office: CommandLine) -> None:
    office.ok("member", "set", "alice", "--ask-for", "mcp")
    call = {"tool_name": "mcp__store__write", "tool_input": nested(900)}
    client.extra = ATTENDED
    event = json.dumps(client.event(BEFORE, **call)).replace('"the end"', "[" * 4_000 + "]" * 4_000)
    with human.at_console():
        assert "ask" in client.end(client.begin_with(event)).out


def test_a_call_that_cannot_be_read_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **more: object) -> str:
        raise OSError("no such parser")

    monkeypatch.setattr(rules, "rule_for", fail)
    call = Invocation({}, {"tool_name": "Bash", "tool_input": {"command": "ls"}})
    assert (call.rule_for(["push", "delete"], "/p"), call.rule_for([], "/p")) == ("push", "")


@cases
@pytest.mark.parametrize("tool", ["Bash", "Monitor"])
def test_each_text_falls_under_one_rule(tool: str, rules: Sequence[str], rule: str, texts: list[Any]) -> None:
    for text in texts:
        data: dict[str, object] = {"tool_name": tool, "tool_input": {"command": text}, "cwd": "/p"}
        assert rule_for(data, rules, project="/p") == rule, text


def test_settings_of_the_team_and_of_each_client_are_guarded() -> None:
    for path in (".team-console/messenger-config.yaml", ".qwen/settings.json", ".claude/settings.json"):
        data: dict[str, object] = {"tool_name": "Write", "tool_input": {"file_path": f"/p/{path}"}, "cwd": "/p"}
        assert rule_for(data, ["settings and hooks"], project="/p") == "settings and hooks"


@pytest.mark.slow
@pytest.mark.parametrize("session", ["a/b", "\u00e9", "\ud800", "x" * 300])
def test_a_call_of_a_session_with_any_id_is_asked_for(session: str, client: Client, human: Human) -> None:
    client.session, client.extra = session, ATTENDED
    with human.at_console():
        answer = said(client.tell(BEFORE, tool_input={"command": "git push"}))
    assert answer["permissionDecision"] == "ask"
