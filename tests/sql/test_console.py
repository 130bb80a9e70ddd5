"""The console on a PostgreSQL team whose server stops answering, is cut off or restarted: it says so and recovers."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.backends.sql.open import create_database, open_database
from team_console.store.service import sending
from team_console.store.service.caller import Caller

from tests.equipment.postgresql import Server, fresh_database
from tests.equipment.terminal import Terminal
from tests.sql.conftest import SETTINGS

pytestmark = pytest.mark.slow

SECONDS = 60.0


@pytest.fixture
def location(own_server: Server) -> str:
    place = fresh_database(own_server)
    create_database(place, SETTINGS)
    return place


@pytest.fixture
def terminal(location: str, tmp_path: Path) -> Iterator[Terminal]:
    command = [sys.executable, "-P", "-m", "team_console.console", "-t", location]
    with Terminal(command, cwd=tmp_path) as terminal:
        terminal.wait_for("●", seconds=SECONDS)
        yield terminal
        terminal.send("q")
        terminal.wait_exit(SECONDS)


def _tell(location: str, summary: str) -> None:
    team = open_database(location)
    sending.send(Caller(team, "architect", wait=SECONDS), to="ceo", summary=summary, content="Look.")
    team.close()


def test_a_server_that_answers_no_more_is_stale_with_the_reason_and_live_again_after(
    own_server: Server, location: str, terminal: Terminal
) -> None:
    stopped = own_server.pids()
    try:
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        terminal.wait_for(" old", "no connection to the server: ", seconds=SECONDS)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    terminal.wait_for("●", seconds=SECONDS)
    _tell(location, "The first build after the pause works")
    terminal.wait_for("The first build after the pause", "●", seconds=SECONDS)
