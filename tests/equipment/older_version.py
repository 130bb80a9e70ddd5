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
from tests.equipment.command_line import ROOT, Result

COMMIT = "cfd95570"
"""The commit that was 0.5.0."""
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


def older(at: Path) -> Callable[[Path, Sequence[str]], Result] | None:
    """Check 0.5.0 out below `at`; gives what runs a command of it in a folder, None where the history is not here."""
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
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("TEAM_CONSOLE_AGENT", None)

    def run(team: Path, words: Sequence[str]) -> Result:
        whole = [sys.executable, "-m", "team_console.console", *words]
        done = subprocess.run(whole, cwd=team, env=environment, capture_output=True, text=True, check=False)
        return Result(done.returncode, done.stdout, done.stderr)

    return run


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
    run = older(at)
    assert run is not None
    (team := at / "team").mkdir()
    act(lambda words: run(team, words).out)
    shutil.rmtree(FIXTURE, ignore_errors=True)
    shutil.copytree(team, FIXTURE)


if __name__ == "__main__":
    main()
