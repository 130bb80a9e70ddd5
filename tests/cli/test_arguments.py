"""Flags, environment, help and mistakes: what holds for every verb, also on a file system that fails."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from team_console.console.cli.help_and_config import EXAMPLE
from team_console.console.cli.main import VERB_OF_WORD, VERBS, run
from team_console.store.settings.settings_file import parse_settings

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine


@cases
def test_global_flags_stand_before_or_after_the_verb(
    arguments: tuple[str, ...], team: CommandLine, elsewhere: CommandLine
) -> None:
    result = elsewhere.ok(*(word.format(team.folder) for word in arguments))
    assert "task-manager" in [agent["name"] for agent in result.json["agents"]]


def test_the_sender_is_the_lead_unless_somebody_is_named(team: CommandLine) -> None:
    words = ("send", "--to", "file-manager", "--summary", "State of the export job please", "--content", "?", "--json")
    assert team.ok(*words).json["sender"] == "ceo"
    assert team.ok(*words, "--as", "task-manager").json["sender"] == "task-manager"
    assert team(*words, env={"TEAM_CONSOLE_AS": "schedule-manager"}).json["sender"] == "schedule-manager"


def test_without_a_verb_a_terminal_is_needed_and_the_version_is_one_line(team: CommandLine) -> None:
    result = team()
    assert (result.status, "the console needs a terminal" in result.err) == (2, True)
    assert team.ok("--version").out.startswith("team-console ")


def test_bytes_that_are_no_text_are_refused_before_anything_is_written(team: CommandLine) -> None:
    before = (team.folder / "message-queue.yaml").read_bytes()
    broken = b"caf\xe9".decode("utf-8", "surrogateescape")
    result = team("send --to task-manager --summary", broken, "--content", "x")
    assert result.status == 2
    assert "UTF-8" in result.err
    assert (team.folder / "message-queue.yaml").read_bytes() == before


WRONG = [
    [part.strip() for part in line.split(" |")]
    for line in Path(__file__).with_name("wrong_commands.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
"""A command that does not work, its error, and the beginning of the next step that it names."""


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A team in which a message waits for `task-manager`; no wrong command changes it."""
    team = CommandLine(tmp_path_factory.mktemp("waiting"))
    names = ("task-manager", "schedule-manager", "file-manager")
    team.ok(
        "init", ".", "--name", "sprint-42", "--lead", "ceo", *(word for name in names for word in ("--agent", name))
    )
    team.ok("send", "--to", "task-manager", "--id", "M-1", "--summary", "One two three four five", "--content", "x")
    return team


def files(team: CommandLine) -> dict[str, bytes]:
    """Its queue and its settings, and the names of what else is there."""
    kept = ("message-queue.yaml", "messenger-config.yaml")
    return {path.name: path.read_bytes() if path.name in kept else b"" for path in team.folder.iterdir()}


@pytest.mark.parametrize(("typed", "code", "hint"), WRONG, ids=[row[0] for row in WRONG])
def test_a_wrong_command_names_the_next_step_and_changes_nothing(
    typed: str, code: str, hint: str, waiting: CommandLine
) -> None:
    before = files(waiting)
    refused = waiting(*shlex.split(typed), "--json")
    assert (refused.status, refused.json["error"]) == (2 if code == "USAGE" else 1, code)
    assert refused.json["message"]
    assert refused.json["hint"].startswith(hint)
    assert files(waiting) == before


def test_every_word_that_stands_for_a_verb_leads_to_one() -> None:
    assert set(VERB_OF_WORD.values()) <= {verb.name for verb in VERBS}
    assert not set(VERB_OF_WORD) & {verb.name for verb in VERBS}


def test_help_alone_is_the_overview_and_of_a_verb_its_usage(
    elsewhere: CommandLine, capfd: pytest.CaptureFixture[str]
) -> None:
    assert elsewhere.ok("help").out == elsewhere.ok("--help").out
    for verb in VERBS:
        assert run([verb.name, "--help"]) == run(["help", verb.name]) == 0
        text = capfd.readouterr().out
        assert text.startswith(f"usage: team-console {verb.name}")
        assert text[: len(text) // 2] == text[len(text) // 2 :]
    refused = elsewhere("help sned --json")
    assert (refused.status, "send" in refused.json["hint"]) == (2, True)


def test_its_example_is_read_without_a_finding() -> None:
    config = parse_settings(EXAMPLE.encode(), Path("/nowhere/messenger-config.yaml"))
    assert config.problems == ()
    assert config.agents["developer"].plan_mode_required
    assert config.routes[0].key == "analyst_to_pm"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_installed_where_the_shell_looks(shell: str, elsewhere: CommandLine) -> None:
    mine = {"HOME": str(elsewhere.folder), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "ZDOTDIR": ""}
    said = elsewhere("completions", shell, "--install", env=mine).out
    written = Path(said.removeprefix("written: ").partition(";")[0])
    assert written.is_relative_to(elsewhere.folder)
    assert written.read_text() == elsewhere.ok("completions", shell).out
    assert elsewhere("completions", shell, "--install", "--read-only", env=mine).status == 5


class Terminal(io.TextIOWrapper):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        """Return that somebody looks."""
        return True


def test_whoever_clears_archives_is_asked_whether_to_delete_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["init", str(tmp_path)]) == 0
    said = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO(b"no\n")))
    monkeypatch.setattr(sys, "stderr", Terminal(said))
    assert run(["-t", str(tmp_path), "clear", "--archives"]) == 1
    sys.stderr.flush()
    assert "Delete them? [y/N]" in said.getvalue().decode()


@cases
@pytest.mark.parametrize("verb", ["receive --agent file-manager", "send --to file-manager --summary x --content c"])
def test_whichever_look_fails_it_is_said_and_the_next_call_works(
    verb: str, number: int, team: CommandLine, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["-t", str(team.folder), *verb.split(), "--as", "ceo", "--json"]
    really_open = os.open
    looks = 0

    def opening(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        nonlocal looks
        if str(path).startswith(str(team.folder)):
            looks += 1
            if looks == failing:
                raise OSError(number, os.strerror(number), str(path))
        return really_open(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", opening)
    failing = 0
    assert run(words) == 0
    assert looks
    for failing in range(1, looks + 1):  # noqa: B007
        looks = 0
        capfd.readouterr()
        status = run(words)
        said = json.loads(capfd.readouterr().out)
        assert status == 0 or said["error"] in ("STORE_FAILED", "STORE_UNREADABLE"), said
    failing = 0
    assert run(words) == 0
