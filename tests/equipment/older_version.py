"""What one version of the program does in a team, so that another can be held against it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.equipment.cases import constant

COMMIT = "cfd95570"
"""The commit that was 0.5.0."""
ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "tests" / "store" / "written_by_0_5_0"
YAML_FILES = ("message-queue.yaml", "messenger-config.yaml", "archive/dev-archive.yaml", "archive/ceo-archive.yaml")
ACTS = [shlex.split(line) for line in constant(__file__, "ACTS", list[str])]
Command = Callable[[Sequence[str]], str]
"""Runs one command in the team and returns what it prints."""


def act(run: Command) -> None:
    """Let a version make a team, write, ask, answer one of two requests and receive."""
    for words in ACTS:
        run(words)
    found: dict[str, Any] = json.loads(run(("--as", "ceo", "requests", "--json")))
    plan = next(row["request_id"] for row in found["requests"] if row["kind"] == "plan")
    run(("--as", "ceo", "approve", plan, "--json"))


def older(at: Path) -> Callable[[Path], _OlderProgram] | None:
    """Check 0.5.0 out below `at`; gives what runs it in a folder, None where the history is not here."""
    source = at / "source"
    done = subprocess.run(["git", "archive", COMMIT], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        return None
    for folder in (source, package := at / "path" / "team_console"):
        folder.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", str(source)], input=done.stdout, check=True)
    (package / "__init__.py").touch()
    for name in ("console", "store", "widgets"):
        (package / name).symlink_to(source / name)
    return lambda team: _OlderProgram(team, package.parent)


class _OlderProgram:
    """0.5.0 in the folder of a team."""

    def __init__(self, team: Path, path: Path) -> None:
        self._team = team
        self._environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"}
        self._environment.pop("TEAM_CONSOLE_AGENT", None)

    def __call__(self, words: Sequence[str]) -> str:
        """Return what one command prints; it must succeed."""
        done = self.attempt(words)
        done.check_returncode()
        return done.stdout

    def attempt(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Return what came of one command."""
        whole = [sys.executable, "-m", "team_console.console", *words]
        return subprocess.run(whole, cwd=self._team, env=self._environment, capture_output=True, text=True, check=False)


_ALIKE = (
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\bplan_approval-\d+@"), "plan_approval-EPOCH@"),
    (re.compile(r"'?\b[0-9a-f]{64}\b'?"), "SHA256"),
    (re.compile(r"(?<=^# end MSG-\d )\d+$", re.MULTILINE), "CRC"),
)


def comparable(text: str) -> str:
    """The text with ids by their order, and without times and checksums."""
    ids: dict[str, str] = {}
    text = re.sub(r"MSG-\d{8}-[a-z2-7]{8}", lambda found: ids.setdefault(found[0], f"MSG-{len(ids)}"), text)
    for pattern, word in _ALIKE:
        text = pattern.sub(word, text)
    return text


def main() -> None:
    """Make the fixture anew."""
    at = Path("/tmp/older-team-console")
    shutil.rmtree(at, ignore_errors=True)
    command = older(at)
    assert command is not None
    (team := at / "team").mkdir()
    act(command(team))
    shutil.rmtree(FIXTURE, ignore_errors=True)
    shutil.copytree(team, FIXTURE)


if __name__ == "__main__":
    main()
