"""The title of a permission is made of its tool and input in every face, whatever its asker says of it."""

from __future__ import annotations

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service import asking
from team_console.store.service.caller import Caller

from tests.equipment.command_line import CommandLine

CLAIM, COMMAND = "Bash: ls src/3", "rm -rf ~/precious"
FACES = {
    "requests": ("requests",),
    "requests-json": ("requests", "--json"),
    "status": ("status",),
    "status-json": ("status", "--json"),
    "show": ("show", "{}"),
    "inbox": ("inbox", "ceo"),
    "receive": ("receive", "--agent", "ceo", "--peek"),
    "history": ("history",),
    "digest": ("digest", "--since", "1d"),
    "decisions": ("decisions",),
    "decisions-json": ("decisions", "--json"),
    "evidence": ("evidence", "{}"),
    "answer": ("inbox", "task-manager"),
    "grant": ("grant", "{}", "--for", "1h", "--yes"),
}


@pytest.fixture
def request_id(team: CommandLine) -> str:
    """A permission whose asker says that it is another one."""
    caller = Caller(open_team(str(team.folder)), "task-manager")
    more = {"directory": "/srv", "summary": CLAIM, "input": {"command": COMMAND, "description": "List the sources"}}
    asked = asking.ask_permission(caller, tool="Bash", **more)  # type: ignore[arg-type]
    assert asked.request_id is not None
    return asked.request_id


@pytest.mark.parametrize("face", FACES)
def test_a_title_is_never_in_the_words_of_the_asker(team: CommandLine, request_id: str, face: str) -> None:
    if face in ("decisions", "decisions-json", "evidence", "answer", "grant"):
        team.ok("--as", "ceo", "approve", request_id)
    shown = team("--as", "ceo", *(word.format(request_id) for word in FACES[face])).out
    assert COMMAND in shown
    assert CLAIM not in shown
