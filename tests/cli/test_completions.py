"""Completion scripts: real shells complete verbs, options, agents and open requests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from team_console.console.cli.registry import VERBS

from tests.conftest import ROOT, CommandLine, clean_environment, needs
from tests.pty import Terminal

pytestmark = pytest.mark.slow

VISIBLE = [verb.name for verb in VERBS if verb.group]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder with `team-console` in it, for PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "team-console"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -P -m team_console.console "$@"\n')
    script.chmod(0o755)
    return folder


def shell(name: str, code: str, program: Path, folder: Path) -> str:
    """What the shell prints when it runs `code`, with the program in reach."""
    needs(name)
    path = f"{program}:/usr/local/bin:/usr/bin:/bin"
    options = {"fish": ["--no-config"], "zsh": ["-f"], "bash": ["--norc"]}[name]
    done = subprocess.run(
        [name, *options, "-c", code],
        cwd=folder,
        env=clean_environment(PATH=path, HOME=str(folder)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_each_shell_accepts_its_script(name: str, program: Path, team: CommandLine) -> None:
    (team.folder / "script").write_text(team.ok("completions", name).out)
    shell(name, f"{name} -n script", program, team.folder)


def complete_in_bash(line: str, program: Path, folder: Path) -> list[str]:
    """What pressing tab after `line` offers."""
    code = (
        "source <(team-console completions bash)\n"
        f"COMP_LINE={line!r} COMP_POINT={len(line)}\n"
        "_team_console\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    return shell("bash", code, program, folder).split()


def complete_in_fish(line: str, program: Path, folder: Path) -> list[str]:
    """What pressing tab after `line` offers."""
    code = f"team-console completions fish | source; complete -C {line!r}"
    return [row.split("\t")[0] for row in shell("fish", code, program, folder).splitlines()]


def test_bash_offers_the_verbs(program: Path, team: CommandLine) -> None:
    assert complete_in_bash("team-console ", program, team.folder) == VISIBLE
    assert complete_in_bash("team-console --js", program, team.folder) == ["--json"]
    assert complete_in_bash("team-console help exi", program, team.folder) == ["exit-codes"]


def test_bash_offers_options_choices_and_names(program: Path, team: CommandLine) -> None:
    assert complete_in_bash("team-console send --su", program, team.folder) == ["--summary"]
    assert complete_in_bash("team-console send --priority h", program, team.folder) == ["high"]
    assert complete_in_bash("team-console receive --agent f", program, team.folder) == ["file-manager"]
    assert complete_in_bash("team-console send --to ceo,f", program, team.folder) == ["ceo,file-manager"]
    assert complete_in_bash("team-console shutdown s", program, team.folder) == ["schedule-manager"]
    assert complete_in_bash("team-console send --type hand", program, team.folder) == ["handoff"]


def test_bash_offers_open_requests_whole_in_spite_of_their_signs(program: Path, team: CommandLine) -> None:
    request_id = team.ok("plan", "--as", "task-manager", "--content", "1. Go").out.strip()
    assert complete_in_bash("team-console approve plan_", program, team.folder) == [request_id]
    head, _, tail = request_id.partition("@")
    assert complete_in_bash(f"team-console approve {head}@", program, team.folder) == [tail]
    team.ok("approve", request_id)
    assert complete_in_bash("team-console approve ", program, team.folder) == []


def test_bash_asks_the_team_named_on_the_line(program: Path, team: CommandLine, elsewhere: CommandLine) -> None:
    assert complete_in_bash("team-console receive --agent f", program, elsewhere.folder) == []
    line = f"team-console -t {team.folder} receive --agent f"
    assert complete_in_bash(line, program, elsewhere.folder) == ["file-manager"]


def test_fish_offers_verbs_options_and_names(program: Path, team: CommandLine) -> None:
    assert set(VISIBLE) <= set(complete_in_fish("team-console ", program, team.folder))
    assert "--summary" in complete_in_fish("team-console send --su", program, team.folder)
    assert complete_in_fish("team-console receive --agent f", program, team.folder) == ["file-manager"]
    request_id = team.ok("plan", "--as", "task-manager", "--content", "1. Go").out.strip()
    assert request_id in complete_in_fish("team-console approve ", program, team.folder)


def test_zsh_completes_at_its_prompt(program: Path, team: CommandLine, elsewhere: CommandLine) -> None:
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("zsh is not installed")
    request_id = team.ok("plan", "--as", "task-manager", "--content", "1. Go").out.strip()
    (elsewhere.folder / "_team-console").write_text(team.ok("completions", "zsh").out)
    path = {"PATH": f"{program}:/usr/local/bin:/usr/bin:/bin", "HOME": str(elsewhere.folder)}
    with Terminal([zsh, "-f", "-i"], cwd=elsewhere.folder, env=path, columns=160) as terminal:
        terminal.send("PS1='ready> '; fpath=($PWD $fpath); autoload -U compinit; compinit -u -d $PWD/dump\r")
        terminal.wait_for("ready> ")
        terminal.settle(0.5)
        for typed, completed in (
            ("team-console sendm", "team-console sendmessage"),
            ("team-console send --su", "team-console send --summary"),
            ("team-console send --priority h", "team-console send --priority high"),
            (f"team-console -t {team.folder} receive --agent f", "receive --agent file-manager"),
            (f"team-console -t {team.folder} send --to ceo,f", "send --to ceo,file-manager"),
            (f"team-console -t {team.folder} approve plan", f"approve {request_id}"),
        ):
            terminal.send(f"{typed}\t")
            terminal.wait_until(partial(_shows, terminal, completed), completed)
            terminal.send("\x15")
            terminal.wait_until(partial(_hides, terminal, completed), "an empty line")


def _shows(terminal: Terminal, text: str) -> bool:
    """Whether `text` stands on the screen, broken over lines or not."""
    return text in "".join(line.ljust(160) for line in terminal.text.splitlines())


def _hides(terminal: Terminal, text: str) -> bool:
    return not _shows(terminal, text)


def test_message_ids_are_offered_where_they_fit(program: Path, team: CommandLine) -> None:
    words = ("--summary", "State of the export job please", "--content", "x")
    team.ok("send", "--to", "task-manager", *words, "--id", "MSG-1")
    team.ok("send", "--to", "file-manager", *words, "--id", "MSG-2")
    team.ok("receive", "--agent", "file-manager", "--lease", "600")
    assert complete_in_bash("team-console recall ", program, team.folder) == ["MSG-1", "MSG-2"]
    assert complete_in_bash("team-console ack ", program, team.folder) == []
    assert complete_in_bash("team-console ack --as file-manager ", program, team.folder) == ["MSG-2"]
    assert complete_in_fish("team-console --as file-manager ack ", program, team.folder) == ["MSG-2"]


def test_words_that_could_break_a_shell_are_not_offered(team: CommandLine) -> None:
    queue = team.folder / "message-queue.yaml"
    queue.write_text(
        "messages:\n"
        '- {message_id: "m 1", type: escalate, from: file-manager, to: ceo, payload: {issue: x}}\n'
        '- {message_id: "$(reboot)", type: escalate, from: file-manager, to: ceo, payload: {issue: x}}\n'
        "- {message_id: m3, type: escalate, from: file-manager, to: ceo, payload: {issue: x}}\n"
    )
    assert team.ok("_complete", "--", "approve", "").out.split() == ["m3", "x"]


def test_a_broken_team_completes_nothing_and_stays_silent(team: CommandLine) -> None:
    (team.folder / "message-queue.yaml").write_text("broken: [")
    result = team("_complete", "--", "approve", "")
    assert (result.status, result.out, result.err) == (0, "", "")
