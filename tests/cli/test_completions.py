"""Completion: words for every place of a line, and real shells that put them there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from team_console.console.cli.main import VERBS

from tests.equipment.command_line import ROOT, CommandLine, clean_environment, needs

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
    team.ok("send --to task-manager", *words, "--id", "A-1")
    team.ok("send --to file-manager", *words, "--id", "A-2")
    team.ok("receive --agent file-manager --lease 600")
    return team.ok("plan --as task-manager --content '1. Go'").out.strip()


def test_what_fits_is_offered(team: CommandLine, elsewhere: CommandLine, request_id: str) -> None:
    def offered(line: str, here: CommandLine = team) -> list[str]:
        return [row.split("\t")[0] for row in here.ok("_complete --", *line.split(" ")).out.splitlines()]

    assert offered("") == VISIBLE
    for line, words in (
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
        ("approve plan", [request_id]),
        ("send --to al", ["all"]),
        ("member set task-manager --may-message al", ["all"]),
        ("receive al", []),
        ("--as al", []),
    ):
        assert offered(line) == words, line
    assert offered("receive --agent f", elsewhere) == []
    assert offered(f"-t {team.folder} receive --agent f", elsewhere) == ["file-manager"]
    assert team("_complete -- migrate ''").status == 1  # a file belongs there
    team.ok("approve", request_id)
    assert offered("approve ") == []
    (team.folder / "message-queue.yaml").write_text("broken: [")
    result = team("_complete -- approve ''")
    assert (result.status, result.out, result.err) == (0, "", "")


SHELLS = {
    "bash": """
source <(team-console completions bash)
for COMP_LINE in 'team-console send --su' 'team-console approve HEAD@'; do
  COMP_POINT=${#COMP_LINE}
  _team_console
  printf '%s\\n' "${COMPREPLY[@]}"
done
""",
    "fish": """
team-console completions fish | source
complete -C 'team-console send --su' | string replace -r '\\t.*' ''
complete -C 'team-console -t cop' | string replace -r '\\t.*' ''
""",
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_completes(name: str, program: Path, team: CommandLine, request_id: str) -> None:
    needs(name)
    (team.folder / "copy.db").touch()
    head, _, tail = request_id.partition("@")  # bash breaks a word there, and puts the rest of it behind
    done = subprocess.run(
        [name, {"fish": "--no-config", "bash": "--norc"}[name], "-c", SHELLS[name].replace("HEAD", head)],
        cwd=team.folder,
        env=clean_environment(PATH=f"{program}:/usr/local/bin:/usr/bin:/bin", HOME=str(team.folder)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["--summary", tail if name == "bash" else "copy.db"]
