"""Nothing is decided that was not shown: at each face, with keys typed ahead, held, or meant for something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.model.errors import TeamError
from team_console.store.protocol.shown_when_decided import SHOWN_BY, seen_of
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.service.decision import KEY, Decision

from tests.console.conftest import (
    AUTHOR,
    LEAD,
    clock,
    hand_in_plan,
    keys_are_through,
    opened,
    plain_environment,
    team,
    verdicts,
)
from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.terminal import console

__all__ = ["clock", "keys_are_through", "plain_environment", "team"]
pytestmark = pytest.mark.slow
LONG = "\n".join(f"{number}. step {number}" for number in range(1, 193))


@pytest.mark.anyio
async def test_lines_painted_after_the_key_are_not_on_record(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    requests.submit_plan(Caller(team, AUTHOR), content=LONG, summary="A plan that is longer than the screen")
    async with opened(team) as desk:
        form = await desk.asks("a")
        act, go_on = form.answer(), Event()
        monkeypatch.setattr(form, "answer", lambda: lambda: (go_on.wait(60), act())[1])
        await desk.press("enter")
        await desk.until(lambda: form.is_at_work, "the beginning of the work")
        form.action_scroll_page(1)
        await desk.shows("45. step 45")
        go_on.set()
        await desk.decided(team)
    last = int(verdicts(team)[0].payload[SHOWN_BY].partition("-")[2].partition(" ")[0])
    assert last < 45


def test_a_decision_by_a_click_is_on_record_as_one(make_team: Callable[..., CommandLine], tmp_path: Path) -> None:
    sprint_team = make_team("task-manager")
    sprint_team.ok("plan", "--as", "task-manager", "--summary", "Split the loader today", "--content", "1. Split")
    with console(sprint_team.folder, env={"XDG_STATE_HOME": str(tmp_path / "state")}) as terminal:
        terminal.wait_for("●", "1. Split")
        terminal.send("a")
        terminal.wait_for("enter approve")
        terminal.settle()
        lines = terminal.text.split("\n")
        row = next(number for number, line in enumerate(lines) if "enter approve" in line)
        column = lines[row].rindex("Approve")
        terminal.send(f"\x1b[<0;{column + 2};{row + 1}M\x1b[<0;{column + 2};{row + 1}m")
        terminal.wait_for("Nothing waits for you")
    (line,) = [line for line in _trail(sprint_team.folder) if line["action"] == "approve"]
    assert line["facts"][KEY] == "mouse"


# The same value from the command line, from programs, and what it is bound to.


def _trail(folder: Path) -> Iterator[dict[str, Any]]:
    import json

    for line in (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@cases
def test_a_decision_is_written_as_its_human_made_it_or_not_at_all(
    team: MemoryTeam, change: dict[str, object], why: str
) -> None:
    request_id = hand_in_plan(team)
    (plan,) = team.snapshot().messages
    decision = Decision(request_id, True, seen=seen_of(plan), by=LEAD)
    with pytest.raises(TeamError, match=why):
        requests.decide(Caller(team, LEAD), replace(decision, **change))
    assert verdicts(team) == []
    requests.decide(Caller(team, LEAD), decision)
    assert len(verdicts(team)) == 1
