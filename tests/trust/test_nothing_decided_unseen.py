"""Nothing is decided that was not shown: at each face, with keys typed ahead, held, or meant for something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.console.tui import keys
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.verdicts import SHOWN_BY, seen_of
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.store.service.decision import KEY, Decision
from textual.events import Key

from tests.console.conftest import (
    AUTHOR,
    LEAD,
    Desk,
    ask_permission,
    clock,
    edited_by,
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


def at_once(desk: Desk, *pressed: str) -> None:
    """Keys that arrive together, before anything is drawn."""
    for key in pressed:
        desk.app.post_message(Key(key, key if len(key) == 1 else None))


def written(team: MemoryTeam) -> list[Message]:
    """What the lead wrote."""
    return [message for message in team.snapshot().messages if message.sender == LEAD]


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


@pytest.mark.anyio
async def test_held_keys_mark_no_news_and_unseen_rows_stay(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "REPEAT", 0.7)
    for number in range(30):
        summary = f"News {number} of this day with words of its own"
        sending.send(Caller(team, AUTHOR), to=LEAD, summary=summary, content="Here it is")

    def unread() -> int:
        return sum(message.status == "pending" for message in team.snapshot().messages)

    async with opened(team, size=(100, 24)) as desk:
        await desk.lists(30)
        at_once(desk, *["d"] * 15)
        await desk.until(lambda: unread() == 29, "one that is read")
        await desk.tells("held down counts once")
        assert unread() == 29
        await desk.press("g", "D")
        await desk.tells("not on the screen yet")
        await desk.until(lambda: 5 < unread() < 29, "those on the screen")


@pytest.mark.anyio
@cases
async def test_an_edited_version_kept_from_earlier_is_approved_once_all_of_it_was_shown(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    ask_permission(team, "make table-1")
    edited_by(monkeypatch, "make table-1", "\n".join(f"make part-{number}" for number in range(60)))
    async with opened(team, size=size) as desk:
        await desk.asks("a")
        await desk.press("ctrl+e", "escape")
        await desk.is_back()
        await desk.asks("a")
        await desk.shows("make part-0")
        await desk.press("enter")
        await desk.until(lambda: "what was not read does not go back" in desk.said, "why not")
        assert written(team) == []
        for _ in range(60):
            await desk.press("pagedown")
        await desk.shows("make part-59")
        await desk.press("enter")
        await desk.until(lambda: bool(written(team)), "the answer")
    (answer,) = written(team)
    assert answer.payload["updated_input"]["command"].endswith("make part-59")


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
