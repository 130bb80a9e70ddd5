"""What a team wants to be asked for comes to the human, whatever mode its client is in; all else is let alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from team_console.console.clients import rules
from team_console.console.clients.quick import Invocation
from team_console.console.clients.rules import rule_for
from team_console.store.settings.team_config import ASK_FOR

from tests.equipment.command_line import CommandLine
from tests.hook.conftest import CAPTURED, Client, Heard, Human
from tests.hook.test_joining import Desk

BEFORE = "claude: PreToolUse auto"
PLAN = "claude: PreToolUse ExitPlanMode of a teammate"
CODEX, QUESTION = "codex: PreToolUse", "codex: PreToolUse question"
ATTENDED, HEADLESS = {"CLAUDE_CODE_SESSION_ATTENDED": "1"}, {"CLAUDE_CODE_SESSION_ATTENDED": "0"}
PUSH = {"command": "git -C sub push", "description": "x"}


@pytest.fixture
def desk(office: CommandLine, tmp_path: Path) -> Desk:
    return Desk(office, tmp_path)


def said(heard: Heard) -> Mapping[str, Any]:
    """What the client is told of a tool that it is about to use; empty for nothing."""
    assert (heard.status, heard.err) == (0, "")
    answer: Mapping[str, Any] = heard.reply["hookSpecificOutput"] if heard.out else {}
    assert answer.get("hookEventName", "PreToolUse") == "PreToolUse"
    return answer


@pytest.mark.slow
def test_nobody_at_a_console_is_asked_nothing(client: Client) -> None:
    for environment in (ATTENDED, HEADLESS, {}):
        client.extra = environment
        assert said(client.tell(BEFORE, tool_input=PUSH)) == {}
    assert said(client.tell(CODEX, "--client", "codex", tool_input=PUSH)) == {}
    assert said(client.tell(QUESTION, "--client", "codex")) == {}


@pytest.mark.slow
@pytest.mark.parametrize("environment", [HEADLESS, {}])
def test_a_run_without_a_terminal_waits_and_is_never_told_to_ask(
    environment: dict[str, str], client: Client, human: Human, office: CommandLine
) -> None:
    client.extra = environment
    with human.at_console():
        hook = client.begin(BEFORE, tool_input=PUSH)
        office.ok("approve", human.asked()[0]["request_id"])
        assert said(client.end(hook))["permissionDecision"] == "allow"
        hook = client.begin(BEFORE, tool_input=PUSH)
        office.ok("reject", human.asked()[0]["request_id"], "--reason", "Not on a Friday")
        answer = said(client.end(hook))
    assert (answer["permissionDecision"], answer["permissionDecisionReason"]) == ("deny", "Not on a Friday")
    with human.at_console():
        hook = client.begin(BEFORE, tool_input=PUSH)
        human.asked()
    assert said(client.end(hook)) == {}


@pytest.mark.slow
def test_a_plan_of_a_teammate_comes_to_the_desk_under_its_name(
    client: Client, human: Human, office: CommandLine, tmp_path: Path
) -> None:
    client.extra = ATTENDED
    edited = tmp_path / "plan.md"
    edited.write_text("# Test it as well\n")
    with human.at_console():
        assert said(client.tell(PLAN))["permissionDecision"] == "ask"
        hook = client.begin("claude: PermissionRequest ExitPlanMode of a teammate after hook ask")
        (request,) = human.asked()
        assert (request["kind"], request["from"]) == ("plan", "bob")
        office.ok("reject", request["request_id"], "--reason", "Test it as well")
        assert client.end(hook).decision["message"] == "Test it as well"
        hook = client.begin("claude: PermissionRequest ExitPlanMode of a teammate after hook ask")
        office.ok("approve", human.asked()[0]["request_id"], "--edited", str(edited))
        assert client.end(hook).decision["updatedInput"]["plan"] == "# Test it as well\n"
    office.ok("member set alice --ask-for push")
    with human.at_console():
        assert said(client.tell(PLAN)) == {}


@pytest.mark.slow
def test_a_denied_call_is_decided_within_the_turn_and_allowed_exactly_once(
    client: Client, human: Human, office: CommandLine
) -> None:
    denied = CAPTURED["claude: PermissionDenied flagged"]
    with human.at_console():
        hook = client.begin("claude: PermissionDenied flagged")
        (request,) = human.asked()
        shown = office.ok("show", request["request_id"]).out
        assert denied["reason"] in shown
        office.ok("approve", request["request_id"])
        assert client.end(hook).reply["hookSpecificOutput"] == {"hookEventName": "PermissionDenied", "retry": True}
        again = {"tool_input": denied["tool_input"]}
        assert said(client.tell(BEFORE, tool_input={"command": "touch FLAG2"})) == {}
        assert said(client.tell(BEFORE, **again))["permissionDecision"] == "allow"
        assert said(client.tell(BEFORE, **again)) == {}
        hook = client.begin("claude: PermissionDenied flagged")
        office.ok("reject", human.asked()[0]["request_id"], "--reason", "Keep it")
        assert client.end(hook).out == ""
    assert "Keep it" in client.tell("claude: Stop").reply["reason"]


def test_joining_says_what_is_asked_for_and_a_later_join_chooses_anew(desk: Desk) -> None:
    """The command is the one that the program prints: it knows what the member runs in."""
    first = desk.ok("join", "alice", "--for", "claude")["notes"]
    (line,) = [note for note in first if ", ".join(ASK_FOR) in note]
    assert "team-console join alice --ask-for RULE" in line
    joined = desk.files()
    again = desk.ok("join", "alice", "--ask-for", "delete, Bash(make deploy:*)")
    assert any("delete, Bash(make deploy:*)" in note for note in again["notes"])
    assert desk.team.ok("member", "list", "alice", "--json").json["members"][0]["ask_for"] == [
        *("delete", "Bash(make deploy:*)"),
    ]
    desk.ok("join", "alice", "--ask-for", "none")
    assert desk.team.ok("member", "list", "alice", "--json").json["members"][0]["ask_for"] == []
    assert desk.files() == joined


def test_a_rule_that_matches_nothing_is_refused_and_says_why(desk: Desk) -> None:
    path = desk.team.folder / "messenger-config.yaml"
    before = path.read_text()
    for rule, words in (
        ("pushing", "did you mean push"),
        ("Write(//srv/**)", "write Edit(//srv/**)"),
        ("x y", "neither"),
    ):
        refused = desk("join", "alice", "--for", "claude", "--ask-for", rule, "--json")
        assert (refused.json["error"], words in refused.json["message"]) == ("USAGE", True)
        path.write_text(f"{before}ask_for: [push, '{rule}']\n")
        assert any(words in finding["message"] for finding in desk.team("check", "--json").json["findings"])
    assert desk.files() == {}


def test_what_is_held_names_nobody_to_the_model_and_is_taken_out_again(desk: Desk) -> None:
    before = desk.files()
    done = desk.ok("join", "alice", "--for", "claude", "--hold", "push")
    assert any(note.startswith("Held until you decide") for note in done["notes"])
    settings = json.loads((desk.project / ".claude" / "settings.json").read_text())
    held = [hook for entry in settings["hooks"]["PreToolUse"] for hook in entry["hooks"] if "if" in hook]
    assert {"Bash(git push:*)"} < {hook["if"] for hook in held}
    assert {hook["onFailure"] for hook in held} == {"block"}
    assert str(desk.team.folder) not in json.dumps(held)
    (asking,) = [hook["command"] for hook in settings["hooks"]["PreToolUse"][0]["hooks"]]
    assert asking.endswith("--held push")
    assert {file["change"] for file in desk.ok("join", "alice", "--for", "claude", "--hold", "push")["files"]} == {
        "unchanged"
    }
    desk.ok("leave", "alice")
    assert desk.files() == before
    assert desk("join", "ben", "--for", "codex", "--hold", "push").status == 2


@pytest.mark.slow
def test_a_call_that_is_held_waits_for_nobody_and_ends_as_a_no(
    client: Client, human: Human, office: CommandLine
) -> None:
    client.extra = ATTENDED
    hook = client.begin(BEFORE, "--hold", tool_input=PUSH)
    office.ok("approve", human.asked()[0]["request_id"])
    assert said(client.end(hook))["permissionDecision"] == "allow"
    hook = client.begin(BEFORE, "--hold", tool_input=PUSH)
    human.asked()
    assert said(client.escape(hook))["permissionDecision"] == "deny"
    assert said(client.tell(BEFORE, "--hold", "--timeout", "6", tool_input=PUSH))["permissionDecision"] == "deny"
    client.location = str(office.folder / "nowhere")  # what fails is no yes either: the client refuses at this status
    assert client.tell(BEFORE, "--hold", tool_input=PUSH).status == 1


@pytest.mark.slow
def test_a_call_that_is_held_is_asked_for_once(client: Client, human: Human, office: CommandLine) -> None:
    """Both hooks are started for the call; in a spelling that the client's own rule does not see, only one."""
    client.extra = ATTENDED
    with human.at_console():
        held = client.begin(BEFORE, "--hold", tool_input=PUSH)
        assert said(client.tell(BEFORE, "--held", "push,delete", tool_input=PUSH)) == {}
        office.ok("approve", human.asked()[0]["request_id"])
        assert said(client.end(held))["permissionDecision"] == "allow"
        assert said(client.tell(BEFORE, "--held", "push", tool_input=PUSH))["permissionDecision"] == "ask"


GUARDED = [".team-console/messenger-config.yaml", ".qwen/settings.json", ".claude/settings.json"]


@pytest.mark.parametrize("path", GUARDED)
@pytest.mark.parametrize("tool", ["Write", "Bash"])
def test_settings_of_the_team_and_of_each_client_are_guarded(tool: str, path: str) -> None:
    given = {"file_path": f"/p/{path}"} if tool == "Write" else {"command": f"echo x > {path}"}
    data: dict[str, object] = {"tool_name": tool, "tool_input": given, "cwd": "/p"}
    assert rule_for(data, ["settings and hooks"], project="/p") == "settings and hooks"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        *(
            (f"team-console -t x --as ceo {verb}", "settings and hooks")
            for verb in ("leave a", "join a", "member set a")
        ),
        ("cd sub && claude --debug mcp add x y", "settings and hooks"),
        ("git config --local core.hooksPath hooks", "settings and hooks"),
        (["bash", "-lc", "codex mcp add x"], "settings and hooks"),
        ("team-console -t x --as alice send --to leave --summary join --content member", ""),
        ("git config user.name join", ""),
        ("claude mcp list", ""),
    ],
)
def test_commands_that_change_settings_are_asked_for(command: object, rule: str) -> None:
    """An agent would take its hooks out by `leave` without a word to anybody."""
    data: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": "/p"}
    assert rule_for(data, ["settings and hooks"], project="/p") == rule


@pytest.mark.parametrize("folder", ["$x", '"$(git rev-parse --show-toplevel)"', "~$x"])
def test_settings_in_a_folder_that_nobody_knows_are_guarded(folder: str) -> None:
    text = f"cd {folder} && echo x > .claude/settings.json"
    data: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": text}, "cwd": "/p"}
    assert rule_for(data, ["outside the project", "settings and hooks"], project="/p") == "settings and hooks"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("Bash(./deploy.sh:*)", "./deploy.sh x"),
        ("Bash(./deploy.sh)", "cd a && ./deploy.sh"),
        ("Bash(scripts/deploy.sh:*)", "bash scripts/deploy.sh"),
        ("Bash(python3:*)", "timeout 60 python3 x.py"),
        ("Bash(python3 manage.py migrate:*)", "python manage.py migrate"),
        ("Bash(kubectl delete:*)", "kubectl -n x delete pod y"),
        ("Bash(aws s3 rm:*)", "aws --profile x s3 rm y"),
        ("Bash(terraform apply*)", "terraform -chdir=x apply"),
        ("Bash(make deploy:*)", "make ENV=prod clean deploy"),
        ("Bash", "ls"),
    ],
)
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


WRITES = (
    *("cp -t .claude x", "cp --target-directory=.claude x", "mv -t .claude/ x", "install -t.claude x"),
    *("curl -o .claude/settings.json x", "wget -O .claude/settings.json x", "sort a -o .claude/settings.json"),
    *("perl -pi -e s/a/b/ .claude/settings.json", "sed --in-place s/a/b/ .claude/settings.json"),
    *(
        "jq . x | sponge .claude/settings.json",
        "cd; echo x >> .bashrc",
        "patch .claude/settings.json x",
        "tar -C .claude -xf x",
        "unzip -d .claude x",
        "touch .CLAUDE/settings.json",
    ),
)


@pytest.mark.parametrize("text", WRITES)
@pytest.mark.parametrize("tool", ["Bash", "Monitor"])
def test_whatever_writes_into_guarded_files_is_asked_for(tool: str, text: str) -> None:
    data: dict[str, object] = {"tool_name": tool, "tool_input": {"command": text}, "cwd": "/p"}
    assert rule_for(data, ["settings and hooks"], project="/p") == "settings and hooks"


@pytest.mark.parametrize(
    "text", ["sed -n p .claude/x", "cp .claude/x a", "tar -xf x", "cat .claude/x", "perl -e 1 .claude/x"]
)
def test_whatever_reads_guarded_files_is_let_alone(text: str) -> None:
    data: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": text}, "cwd": "/p"}
    assert rule_for(data, ["settings and hooks"], project="/p") == ""


def test_a_call_that_cannot_be_read_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **more: object) -> str:
        raise OSError("no such parser")

    monkeypatch.setattr(rules, "rule_for", fail)
    call = Invocation({}, {"tool_name": "Bash", "tool_input": {"command": "ls"}})
    assert (call.rule_for(["push", "delete"], "/p"), call.rule_for([], "/p")) == ("push", "")


@pytest.mark.slow
def test_a_call_that_is_held_is_so_however_it_is_written(client: Client, human: Human, office: CommandLine) -> None:
    """The client's own rule does not see each spelling: then our hook holds it, whether or not somebody is there."""
    office.ok("member", "set", "alice", "--ask-for", "none")
    for environment in (ATTENDED, HEADLESS):
        client.extra = environment
        hook = client.begin(BEFORE, "--held", "push", tool_input=PUSH)
        office.ok("approve", human.asked()[0]["request_id"])
        assert said(client.end(hook))["permissionDecision"] == "allow"
        hook = client.begin(BEFORE, "--held", "push", tool_input=PUSH)
        human.asked()
        assert said(client.escape(hook))["permissionDecision"] == "deny"
        assert said(client.tell(BEFORE, "--held", "push", tool_input={"command": "git status"})) == {}


def test_hooks_of_who_holds_are_not_spared(desk: Desk) -> None:
    for hold, is_spared in (((), True), (("--hold", "push"), False)):
        desk.ok("join", "alice", "--for", "claude", *hold)
        settings = json.loads((desk.project / ".claude" / "settings.json").read_text())
        (asking,) = [hook["command"] for hook in settings["hooks"]["PreToolUse"][0]["hooks"]]
        assert ("console-*" in asking) is is_spared


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        *((text, "outside the project") for text in ("dd if=a of=/dev/sda", "cat a > /dev/sda1")),
        *((text, "network") for text in ("echo x > /dev/tcp/host/80", "echo x > /dev/udp/host/53")),
        *((f"echo x > /dev/{name}", "") for name in ("null", "stdout", "stderr", "fd/3", "tty", "shm/x")),
    ],
)
def test_a_device_is_outside_unless_nothing_is_lost_to_it(text: str, rule: str) -> None:
    data: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": text}, "cwd": "/p"}
    assert rule_for(data, ["outside the project", "network"], project="/p") == rule
