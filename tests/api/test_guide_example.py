"""The Python of the guide: both programs run as they stand there, on a team of their own, and talk to each other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.equipment.command_line import ROOT, CommandLine, clean_environment

pytestmark = pytest.mark.slow

PATIENCE = 120.0


def programs() -> list[str]:
    """The code blocks of the guide."""
    page = (ROOT / "docs" / "guide" / "python.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def start(code: str, folder: Path) -> subprocess.Popen[str]:
    """A program of a user, in the team's folder."""
    return subprocess.Popen(
        [sys.executable, "-P", "-W", "error", "-c", code],
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_agent_and_the_lead_of_the_readme_talk_to_each_other(team: CommandLine) -> None:
    agent_code, lead_code = programs()
    team.ok("send --to task-manager --summary 'Create the task for the report' --content Today")
    with start(agent_code, team.folder) as agent, start(lead_code, team.folder) as lead:
        try:
            said, wrong = agent.communicate(timeout=PATIENCE)
            listed, also_wrong = lead.communicate(timeout=PATIENCE)
        finally:
            agent.kill()
            lead.kill()
    assert (wrong, also_wrong) == ("", "")
    first, second, third = said.splitlines()
    assert (first, second) == ("received: Create the task for the report", "approved by ceo")
    assert third.startswith("AGENT_NOT_FOUND - Did you mean file-manager?")
    assert [line.split()[0] for line in listed.splitlines()] == [
        *("ceo", "task-manager", "schedule-manager", "file-manager", "knowledge-manager")
    ]
    assert team.ok("requests --json").json["requests"][0]["state"] == "approved"
    assert team.ok("receive --agent ceo --json").json["count"] == 1
