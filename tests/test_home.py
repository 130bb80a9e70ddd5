"""The tests read nobody's own settings: the home of a test and of its children is an empty folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from team_console.console.clients.claude import claude_home
from team_console.console.clients.codex import codex_home
from team_console.console.preferences import config_path
from team_console.store.model.home import state_folder

from tests.equipment.command_line import clean_environment


def test_what_the_user_keeps_at_home_is_out_of_reach() -> None:
    ours = Path.home()
    assert ours.name.startswith("home-of-tests-"), ours
    for path in (config_path(), state_folder(), claude_home(), codex_home()):
        assert path.is_relative_to(ours), path
    asked = (sys.executable, "-c", "from team_console.console.preferences import config_path; print(config_path())")
    child = subprocess.run(asked, env=clean_environment(), capture_output=True, text=True, check=True)
    assert child.stdout.strip() == str(config_path())
