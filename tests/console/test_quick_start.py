"""What a start of the console does once, or not at all, because whoever opened it waits for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.equipment.command_line import COMMAND, clean_environment
from tests.equipment.terminal import Terminal
from tests.proofs.benchmarks.data import LEAD, letters, write_team

_COUNTED = """
import gc, sys
from team_console.console.__main__ import command
before = gc.get_stats()
assert command() == 0
print(sum(now["collections"] - then["collections"] for now, then in zip(gc.get_stats(), before)))
"""


@pytest.mark.slow
def test_a_message_is_sent_before_the_collector_looks_through_all_that_was_loaded(tmp_path: Path) -> None:
    write_team(tmp_path / "team", letters(30))
    words = ["-t", "team", "send", "--to", "task-manager", "--summary", "Five words are in here", "--content", "x"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", _COUNTED, *words],
        cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0"


_LOADED = """
import sys, team_console.console.tui.app
print(*(name for name in sys.modules if name.endswith(("text_area", "widgets.form", "tui.commands", "tree_sitter"))))
"""


def test_the_first_picture_waits_for_no_form(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", _LOADED],
        cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == []


@pytest.mark.slow
def test_what_comes_while_the_first_picture_is_made_is_seen(tmp_path: Path) -> None:
    write_team(tmp_path / "team", letters(30))
    with Terminal([*COMMAND, "-t", "team", "--as", LEAD], cwd=tmp_path, columns=100, lines=30) as terminal:
        done = subprocess.run(
            [*COMMAND, "-t", "team", "--as", "task-manager", "send", "--to", LEAD, "--summary", "Came in between us",
             "--content", "x", "--priority", "critical"],
            cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        terminal.wait_for("Came in between us", "●")


@pytest.mark.slow
def test_a_folder_without_a_team_opens_the_console_with_the_first_steps_and_then_on_the_team_they_make(
    tmp_path: Path,
) -> None:
    """The way from an empty folder to the seat is one command, and the console stays open meanwhile."""
    with Terminal([*COMMAND], cwd=tmp_path, columns=80, lines=24) as terminal:
        terminal.wait_for("No team is here yet", "team-console join helper --for claude", "team-console demo")
        terminal.send("Y")
        terminal.wait_for("Copied the command")
        command = [*COMMAND, "join", "helper", "--for", "claude"]
        subprocess.run(command, cwd=tmp_path, env=clean_environment(), capture_output=True, check=True)
        terminal.wait_for("helper has joined. Start it in this folder", "Y copies  claude")
        terminal.send("q")
        assert terminal.wait_exit() == 0
