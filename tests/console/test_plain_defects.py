"""Small things a human relies on: marks count, a request is answered wherever it stands, findings are grouped."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.console.selection import Mode
from team_console.store.model.message import Message
from team_console.store.service import sending
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened
from tests.equipment import strict
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.pressed_keys import reach
from tests.equipment.terminal import console

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def write(team: MemoryTeam, number: int, sender: str = AUTHOR) -> None:
    """Messages to the lead."""
    for index in range(number):
        sending.send(Caller(team, sender), to=(LEAD,), summary=f"State of the export job number {index}", content="x")


def unread(team: MemoryTeam) -> list[Message]:
    """What still waits for the lead."""
    return [message for message in team.snapshot().messages if message.status == "pending"]


async def focus_inbox(desk: Desk) -> None:
    """Stand in the inbox of the lead."""
    await desk.press("2")
    pane = desk.app.main.pane
    assert pane.roster.select(LEAD)  # type: ignore[attr-defined]
    await desk.press("enter")
    await desk.calm()


async def test_a_plan_is_approved_from_the_inbox_and_cannot_be_put_away_there(team: MemoryTeam) -> None:
    hand_in_plan(team)
    write(team, 1, sender="file-manager")
    async with opened(team) as desk:
        await focus_inbox(desk)
        await desk.press("space", "space")
        await desk.press("d")
        await desk.shows("1 marked row left alone")
        await desk.press("enter")
        await desk.until(lambda: len(unread(team)) == 1, "one read")
        assert [message.type for message in unread(team)] == ["plan_approval_request"]
        await desk.press("escape", "enter")
        await focus_inbox(desk)
        while desk.app.main.context().selection.request is None:
            await desk.press("k")
        await desk.press("d")
        await desk.tells("still wants an answer")
        assert len(unread(team)) == 1
        await desk.approves(team)


async def test_findings_of_one_kind_are_one_row_and_enter_leads_to_the_request(team: MemoryTeam, clock: Clock) -> None:
    for story in ("3-1", "3-2", "3-3"):
        asked = {
            "story_key": story,
            "requesting_agent": AUTHOR,
            "queries": [{"query": "Why?"}],
            "summary": f"Look into {story}",
        }
        sending.send(Caller(team, AUTHOR), to=("file-manager",), type="RESEARCH_REQUEST", payload=asked)
    clock.advance(86_400)
    async with opened(team) as desk:
        await desk.press("4")
        await desk.until(lambda: any(key.startswith("group:warning:OVERDUE") for key in desk.rows), "the group")
        assert not any(key.startswith("OVERDUE") for key in desk.rows)
        group = next(key for key in desk.rows if key.startswith("group:"))
        pane = desk.app.main.pane
        assert pane.rows.select(group)
        assert " 3" in desk.text
        await desk.press("enter")
        await desk.until(lambda: sum(key.startswith("OVERDUE") for key in desk.rows) == 3, "each of them")
        await desk.press("j", "enter")
        await desk.until(lambda: desk.app.main.lists.mode is Mode.REQUESTS, "the requests")
        row = desk.app.main.pane.rows.cursor_row
        assert row.addressee == "file-manager"  # type: ignore[union-attr]


HOSTILE = """messages:
- message_id: "MSG-1\\e[201~; touch /tmp/PWN\\r"
  type: message
  from: a2
  to: user
  created: '2026-11-21T10:00:00Z'
  status: pending
  payload: {summary: hello there, content: "one\\r\\ntwo \\e[201~ three\\n"}
"""


def test_what_is_copied_ends_no_paste_and_a_line_break_stands_only_between_lines_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "message-queue.yaml").write_text(HOSTILE)
    with console(tmp_path, env={"XDG_STATE_HOME": str(tmp_path / "state")}) as terminal:
        terminal.wait_for("hello there", "●")
        reach(terminal, "y", "Copied the id")
        reach(terminal, "Y", "Copied the text")
        copied = strict.of_screen(bytes(terminal.output)).copied
        terminal.send("q")
        terminal.wait_exit()
    assert len(copied) >= 2
    identifier, text = copied[0], copied[-1]
    assert not [letter for letter in identifier if ord(letter) < 32]
    assert not [letter for letter in text if (ord(letter) < 32 and letter != "\n") or 0x7F <= ord(letter) < 0xA0]
    assert text.startswith("one\ntwo")
    assert not text.endswith("\n")
