"""Completion scripts: real shells complete verbs, options, agents, open requests and files."""

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
from tests.samples import rotated

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


@pytest.fixture
def request_id(team: CommandLine) -> str:
    """An open request of a team in which a message is pending and one is claimed."""
    words = ("--summary", "State of the export job please", "--content", "x")
    team.ok("send", "--to", "task-manager", *words, "--id", "A-1")
    team.ok("send", "--to", "file-manager", *words, "--id", "A-2")
    team.ok("receive", "--agent", "file-manager", "--lease", "600")
    return team.ok("plan", "--as", "task-manager", "--content", "1. Go").out.strip()


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


def complete(name: str, line: str, program: Path, folder: Path) -> list[str]:
    """What pressing tab after `team-console LINE` offers in bash or fish."""
    line = f"team-console {line}"
    if name == "fish":
        code = f"team-console completions fish | source; complete -C {line!r}"
        return [row.split("\t")[0] for row in shell(name, code, program, folder).splitlines()]
    code = (
        "source <(team-console completions bash)\n"
        f"COMP_LINE={line!r} COMP_POINT={len(line)}\n"
        "_team_console\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    return shell(name, code, program, folder).split()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_each_shell_accepts_its_script(name: str, program: Path, team: CommandLine) -> None:
    (team.folder / "script").write_text(team.ok("completions", name).out)
    shell(name, f"{name} -n script", program, team.folder)


@pytest.mark.parametrize(
    ("case", "name"),
    rotated(
        [
            ("", VISIBLE),
            ("--js", ["--json"]),
            ("help exi", ["exit-codes"]),
            ("send --su", ["--summary"]),
            ("send --priority h", ["high"]),
            ("send --type hand", ["handoff"]),
            ("send --to ceo,f", ["ceo,file-manager"]),
            ("receive --agent f", ["file-manager"]),
            ("shutdown s", ["schedule-manager"]),
            ("ack --as file-manager ", ["A-2"]),
            ("--as file-manager ack ", ["A-2"]),
            ("ack ", []),
            ("recall A", ["A-1", "A-2"]),
            ("approve plan", ["REQUEST"]),
        ],
        ("bash", "fish"),
    ),
)
def test_what_fits_is_offered(
    case: tuple[str, list[str]], name: str, program: Path, team: CommandLine, request_id: str
) -> None:
    line, offered = case
    shown = complete(name, line, program, team.folder)
    assert sorted(shown) == sorted(request_id if word == "REQUEST" else word for word in offered)


def test_bash_offers_the_rest_of_an_id_behind_a_word_break(program: Path, team: CommandLine, request_id: str) -> None:
    head, _, tail = request_id.partition("@")
    assert complete("bash", f"approve {head}@", program, team.folder) == [tail]
    team.ok("approve", request_id)
    assert complete("bash", "approve ", program, team.folder) == []


@pytest.mark.parametrize("name", ["bash", "fish"])
def test_the_team_named_on_the_line_is_asked(
    name: str, program: Path, team: CommandLine, elsewhere: CommandLine
) -> None:
    assert complete(name, "receive --agent f", program, elsewhere.folder) == []
    assert complete(name, f"-t {team.folder} receive --agent f", program, elsewhere.folder) == ["file-manager"]


def test_files_are_left_to_the_shell(program: Path, team: CommandLine) -> None:
    (team.folder / "copy.db").touch()
    assert "copy.db" in complete("fish", "-t cop", program, team.folder)
    assert team("_complete", "--", "migrate", "").status == 1


def test_zsh_completes_at_its_prompt(program: Path, team: CommandLine, elsewhere: CommandLine, request_id: str) -> None:
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("zsh is not installed")
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
