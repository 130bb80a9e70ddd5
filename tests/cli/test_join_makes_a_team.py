"""The way of a newcomer: `join` in a project without a team makes one there, in few words, and all of it is found."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from pathlib import Path

import pytest
from team_console.store.model.optional_packages import install_line

from tests.equipment.cases import cases
from tests.equipment.client_session import WAIT
from tests.equipment.command_line import COMMAND, CommandLine, Result, clean_environment, needs, started
from tests.equipment.terminal import Terminal
from tests.equipment.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(tmp_path: Path) -> CommandLine:
    """A project without a team, and a folder below it."""
    (tmp_path / "shop" / "src").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    return CommandLine(tmp_path / "shop")


def at_home(shop: CommandLine, **more: str) -> dict[str, str]:
    home = shop.folder.parent / "home"
    return {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), **more}


def ok(command: CommandLine, *words: str, env: dict[str, str]) -> Result:
    result = command(*words, env=env)
    assert result.status == 0, result
    return result


@pytest.mark.parametrize("client", ["claude", "codex", "qwen", "mcp", "shell"])
def test_a_project_without_a_team_gets_one_in_few_words(client: str, shop: CommandLine) -> None:
    done = ok(shop, "join", "helper", "--for", client, env=at_home(shop))
    lines = done.out.splitlines()
    assert len(lines) <= 25
    assert "you are ceo" in lines[0]
    assert "team-console leave helper" in lines[-1]
    team = shop.folder / ".team-console"
    assert (team / ".gitignore").read_text() == "*\n"
    for folder in (shop.folder, shop.folder / "src"):
        status = ok(CommandLine(folder), "status", "--json", env=at_home(shop)).json
        assert (status["location"], status["team"]) == (str(team), "shop")
        assert status["agents"] == 2
    again = ok(shop, "join", "other", "--for", "mcp", "--in", "src", "--json", env=at_home(shop)).json
    assert again["notes"][0].startswith("Programs that read")
    assert not (shop.folder / "src" / ".team-console").exists()


def test_git_ignores_the_team(shop: CommandLine) -> None:
    needs("git")
    import subprocess

    subprocess.run(["git", "init", "-q", "."], cwd=shop.folder, check=True)
    ok(shop, "join", "helper", "--for", "shell", env=at_home(shop))
    seen = subprocess.run(["git", "status", "--short"], cwd=shop.folder, capture_output=True, text=True, check=True)
    assert seen.stdout == "?? AGENTS.md\n"


def test_a_join_that_is_refused_leaves_no_team_behind(shop: CommandLine) -> None:
    settings = shop.folder / ".mcp.json"
    settings.write_text("{\n  // mine\n}\n")
    refused = shop("join", "helper", "--for", "mcp", "--json", env=at_home(shop))
    assert (refused.status, refused.json["error"]) == (1, "NOT_PERMITTED")
    assert sorted(os.listdir(shop.folder)) == [".mcp.json", "src"]


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="nothing tells here who waits for a lock")
def test_a_join_begins_when_another_has_ended(shop: CommandLine) -> None:
    """One that fails takes away the team that it made: nobody else may have joined it by then."""
    state = shop.folder.parent / "home" / "state" / "team-console"
    state.mkdir(parents=True)
    with open(state / "join.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = clean_environment(**at_home(shop))
        joining = started("join", "helper", "--for", "shell", folder=shop.folder, environment=environment)
        waits = f"{os.fstat(lock.fileno()).st_ino} 0 EOF"

        def is_waiting() -> bool:
            return any("->" in line and waits in line for line in Path("/proc/locks").read_text().splitlines())

        until(lambda: is_waiting() or joining.poll() is not None, WAIT)
        assert joining.poll() is None
        assert sorted(os.listdir(shop.folder)) == ["src"]
    assert joining.wait(WAIT) == 0
    assert (shop.folder / "AGENTS.md").exists()


@pytest.mark.parametrize("words", [("--print",), ("--read-only",)])
def test_what_is_only_shown_makes_no_team(words: tuple[str, ...], shop: CommandLine) -> None:
    shown = ok(shop, "join", "helper", "--for", "claude", *words, "--json", env=at_home(shop)).json
    assert (shown["written"], shown["member_changed"]) == (False, True)
    assert os.listdir(shop.folder) == ["src"]
    done = ok(shop, "join", "helper", "--for", "claude", "--json", env=at_home(shop)).json
    assert [file["diff"] for file in done["files"]] == [file["diff"] for file in shown["files"]]


# The MCP server: entered only where it can start.


@cases
def test_the_line_that_installs_an_extra_is_of_what_installed_the_program(
    mark: str, begins: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mark:
        (tmp_path / mark).touch()
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
    line = install_line("mcp")
    assert line.startswith(begins if mark else f"{sys.executable}{begins}")
    assert line.endswith("[mcp]'") or line.endswith("[mcp]")


# The question of `join --all`.


@cases
def test_which_sessions_join_is_asked(keys: str, said: str, is_written: bool, shop: CommandLine) -> None:
    home = shop.folder.parent / "home"
    ok(shop, "init", ".", env=at_home(shop))
    session = home / ".claude" / "sessions" / "1.json"
    session.parent.mkdir(parents=True)
    session.write_text(json.dumps({"pid": os.getpid(), "sessionId": "aaaaaaaa-1", "cwd": "/p", "name": "loader-b7"}))
    with Terminal([*COMMAND, "join", "--all"], cwd=shop.folder, env=at_home(shop)) as terminal:
        terminal.wait_for("which of them join?")
        terminal.send(keys)
        terminal.wait_for(said)
        terminal.wait_exit()
    assert (home / ".claude" / "settings.json").exists() is is_written
    assert (home / ".codex").exists() is is_written


def test_a_refused_join_takes_nothing_away_that_was_there_before(shop: CommandLine) -> None:
    env, notes = at_home(shop), shop.folder / ".team-console" / "notes.txt"
    for path, text in ((notes, "mine"), (shop.folder / ".claude" / "settings.json", "{ broken")):
        path.parent.mkdir()
        path.write_text(text)
    assert shop("join", "helper", "--for", "claude", env=env).status == 1
    assert notes.read_text() == "mine"


def test_settings_of_a_client_that_cannot_be_edited_are_to_be_mended_first(shop: CommandLine) -> None:
    """`--print` cannot show what would stand there either, so nobody is sent to it."""
    env, settings = at_home(shop), shop.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{ broken")
    for more in ((), ("--print",)):
        result = shop("join", "helper", "--for", "claude", *more, env=env)
        assert result.status == 1
        assert "it is not JSON" in result.err
        assert "Mend that, then try again." in result.err
    assert settings.read_text() == "{ broken"
