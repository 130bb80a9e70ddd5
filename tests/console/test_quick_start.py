"""What a start of the console does once, or not at all, because whoever opened it waits for it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType
from team_console.console.tui.app import ConsoleApp
from team_console.console.tui.reader import StoreReader
from textual.screen import Screen

from tests.console.conftest import WAIT, Desk, hand_in_plan
from tests.equipment.command_line import COMMAND, clean_environment
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.terminal import Terminal
from tests.proofs.benchmarks.data import LEAD, letters, write_team


def ready(team: MemoryTeam) -> StoreReader:
    """A reader that has read already."""
    reader = StoreReader(team, LEAD)
    reader.begin()
    assert reader._first is not None
    reader._first.result(WAIT)
    return reader


@pytest.mark.anyio
async def test_what_is_at_hand_is_in_the_first_picture_and_followed_from_there(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in_plan(team, "Split the loader from the renderer")
    pictures: list[int] = []
    display = ConsoleApp._display

    def seen(app: ConsoleApp, screen: Screen[Any], renderable: RenderableType | None) -> None:
        listing = app.main.lists.complete_front
        pictures.append(len(listing.rows.rows) if listing is not None else 0)
        display(app, screen, renderable)

    monkeypatch.setattr(ConsoleApp, "_display", seen)
    app = ConsoleApp(team, me=LEAD, reader=ready(team))
    async with app.run_test(size=(100, 30)) as pilot:
        desk = Desk(app, pilot)
        await desk.shows("Split the loader")
        assert pictures[0] == 1
        hand_in_plan(team, "Rename the loader of the reports")
        await desk.shows("Rename the loader")
        await desk.until(lambda: app.reader.is_deep, "a reading that knows the archives")


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
def test_a_console_whose_errors_go_to_a_file_is_drawn_on_the_terminal(tmp_path: Path) -> None:
    write_team(tmp_path / "team", letters(30))
    words = ("sh", "-c", 'exec "$@" 2>errors', "sh", *COMMAND, "-t", "team", "--as", LEAD)
    with Terminal(list(words), cwd=tmp_path, columns=100, lines=30) as terminal:
        terminal.wait_for("job 000", "●")
        terminal.send("q")
        assert terminal.wait_exit() == 0
    assert (tmp_path / "errors").read_bytes() == b""


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


@pytest.mark.slow
def test_a_folder_without_a_team_is_left_with_a_key(tmp_path: Path) -> None:
    with Terminal([*COMMAND], cwd=tmp_path, columns=60, lines=20) as terminal:
        terminal.wait_for("No team is here yet", "team-console demo")
        terminal.send("q")
        assert terminal.wait_exit() == 0
    assert list(tmp_path.iterdir()) == []
