"""An approval whose process is killed in the middle of its write: every face tells the same of it, before any write."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.sql.sqlite_team import SqliteTeam
from team_console.store.backends.yaml.disk import Disk
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.equipment.command_line import CommandLine

MOMENTS: dict[str, tuple[type, str, str]] = {
    "files, nothing on record": (Disk, "sync", "open"),
    "files, on record": (Disk, "exchange", "approved"),
    "SQLite, before the commit": (SqliteTeam, "commit", "open"),
}


def _die(*_: object, **__: object) -> None:
    os._exit(9)


def _killed(act: Callable[[], object], where: type, name: str) -> None:
    """Let a process of its own act until it calls this method, and die there."""
    child = os.fork()
    if child == 0:
        try:
            setattr(where, name, _die)
            act()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def _told(command: CommandLine, place: str, request_id: str) -> dict[str, object]:
    """What each face says of the request: its state, or whether there is an answer to it."""

    def read(*words: str) -> Any:
        return command.ok("-t", place, *words, "--json").json

    (row,) = read("--as", "ceo", "requests")["requests"]
    shown = read("show", request_id)
    return {
        "requests": row["state"],
        "history": "plan_approval_response" in {message["type"] for message in read("history")["messages"]},
        "show": "plan_approval_response" in json.dumps(shown),
        "needs you": len(read("--as", "ceo", "status")["needs"]),
    }


@pytest.mark.parametrize("moment", MOMENTS)
def test_every_face_tells_the_same_after_a_killed_approve(tmp_path: Path, moment: str) -> None:
    command = CommandLine(tmp_path)
    place = "team.db" if moment.startswith("SQLite") else "."
    where, name, state = MOMENTS[moment]
    command.ok("init", "--name", "n", "--lead", "ceo", "--agent", "dev", place)
    command.ok("-t", place, "--as", "dev", "plan", "--content", "1. Do it\n2. Test it", "--summary", "Two steps")
    (row,) = command.ok("-t", place, "--as", "ceo", "requests", "--json").json["requests"]
    request_id = row["request_id"]

    team = open_team(str(tmp_path / place))
    _killed(lambda: requests.approve(Caller(team, "ceo"), request_id=request_id), where, name)

    is_approved = state == "approved"
    expected = {"requests": state, "history": is_approved, "show": is_approved, "needs you": int(not is_approved)}
    assert _told(command, place, request_id) == expected
    command.ok("-t", place, "--as", "ceo", "send", "--to", "dev", "--summary", "The next write", "--content", "Here")
    assert _told(command, place, request_id) == expected
