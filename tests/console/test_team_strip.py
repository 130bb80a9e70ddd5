"""The team at a glance: a cell per agent, however many there are, a ticker, and a column where there is room."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest
from team_console.console.team import Events
from team_console.store.contract.team import Condition, Snapshot
from team_console.store.model.message import Message, from_record
from team_console.store.service import sending
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.rows import AgentState, View
from team_console.widgets.signs import AGENTS, FAILING
from team_console.widgets.team import AgentCell, TeamColumn, TeamStrip, strip_parts
from team_console.widgets.text import short_names, text_of, width_of

from tests.console.conftest import AUTHOR, LEAD, hand_in_plan, opened
from tests.memory_team import MemoryTeam

NOW = datetime(2026, 2, 24, 12, tzinfo=UTC)


def agents(number: int, *, failing: int = 2) -> tuple[AgentCell, ...]:
    """So many agents with long names that differ at their ends; the last ones fail, the first one is gone."""
    cells = [AgentCell(f"agent-with-a-long-name-{order:02}", f"{order}", WORKING) for order in range(number - failing)]
    failed = [
        AgentCell(f"agent-with-a-long-name-x{order}", f"x{order}", FAILING, urgent=True) for order in range(failing)
    ]
    return (AgentCell("gone", "gone", GONE, is_gone=True), *cells, *failed)


@pytest.mark.parametrize("width", [20, 60, 80, 120, 200])
@pytest.mark.parametrize("number", [3, 9, 60, 300])
def test_the_strip_fits_and_keeps_the_names_of_those_that_fail(number: int, width: int) -> None:
    parts = strip_parts(agents(number), width)
    text = "".join(text_of(part.line) for part in parts)
    assert sum(width_of(part.line) for part in parts) <= width
    assert text.count("✗ ") == 2 or "+" in text
    shown = sum(bool(part.key) for part in parts)
    assert shown == number + 1 or f"+{number + 1 - shown}" in text, "what does not fit is counted"


WORKING, GONE = AGENTS[AgentState.ACTIVE], AGENTS[AgentState.STOPPED]
SPRINT = ("task-manager", "schedule-manager", "file-manager", "knowledge-manager", "knowledge-researcher", "architect")


def test_agents_are_called_by_as_few_words_as_tell_them_apart() -> None:
    forms = short_names((*SPRINT, "slave-batch-1", "slave-batch-2", "dev-runner-3-1", "dev-runner-3-2", "档案管理员"))
    shortest = {name: names[-1] for name, names in forms.items()}
    assert shortest["schedule-manager"] == "schedule"
    assert shortest["knowledge-manager"] == "knowledge-m", "there is another knowledge"
    assert shortest["dev-runner-3-2"] == "dev-3-2"
    assert shortest["slave-batch-1"] == "slave-1"
    assert shortest["档案管理员"] == "档案管理员"
    assert len(set(shortest.values())) == len(forms)
    assert short_names(("dev", "dev-runner"))["dev-runner"][-1] == "dev-r", "another one is called dev"


@pytest.mark.parametrize("width", [94, 120])
def test_at_120_columns_whoever_waits_is_recognised(width: int) -> None:
    cells = tuple(AgentCell(name, name, WORKING, urgent=True) for name in (*SPRINT[:4], "architect", "dev-runner-3-2"))
    quiet = tuple(AgentCell(f"other-{number}", f"o{number}", WORKING) for number in range(8))
    text = "".join(text_of(part.line) for part in strip_parts((*cells, *quiet), width))
    for word in ("task", "schedule", "file", "knowledge", "architect", "dev-"):
        assert f"{WORKING.glyph} {word}" in text
    assert "…" not in text


@pytest.mark.parametrize("width", [58, 94])
def test_of_more_agents_than_have_room_those_that_fail_keep_a_name(width: int) -> None:
    parts = strip_parts(agents(300), width)
    text = "".join(text_of(part.line) for part in parts)
    assert "✗ agent-x0" in text
    assert "+" in text


@pytest.mark.anyio
async def test_every_agent_has_a_cell_and_a_click_leads_to_its_inbox(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        strip = desk.app.main.query_one(TeamStrip)
        await desk.until(lambda: "◆ task-manager" in strip.text, "the agent that waits")
        assert "you" in strip.text, "the ticker"
        assert LEAD not in strip.text.split("  ")
        await desk.pilot.click(strip, offset=(strip.text.index("file-manager") + 2, 0))
        await desk.until(lambda: desk.app.main.mode == "inboxes", "the inboxes")
        pane = desk.app.main.pane
        await desk.until(lambda: pane.roster.cursor_key == "file-manager", "its inbox")  # type: ignore[attr-defined]


@pytest.mark.anyio
async def test_the_ticker_says_what_happened_last_and_a_broadcast_is_one_event(team: MemoryTeam) -> None:
    async with opened(team, size=(200, 50)) as desk:
        strip, column = desk.app.main.query_one(TeamStrip), desk.app.main.query_one(TeamColumn)
        sending.send(Caller(team, AUTHOR), to=LEAD, summary="The loader is split from the renderer", content="x")
        await desk.until(lambda: "The loader is" in strip.text, "the event")
        sending.broadcast(
            Caller(team, LEAD), summary="Code freeze begins today at four", content="Merge what is reviewed"
        )
        await desk.until(lambda: "Code freeze" in strip.text, "the broadcast")
        lines = [column.render_line(y).text for y in range(column.size.height)]
        assert sum("+2: Code" in line for line in lines) == 1
        assert any("task-manager" in line for line in lines[:4])


@pytest.mark.anyio
async def test_the_column_is_there_from_160_columns_on(team: MemoryTeam) -> None:
    async with opened(team, size=(159, 40)) as desk:
        column = desk.app.main.query_one(TeamColumn)
        assert not column.display
        await desk.pilot.resize_terminal(160, 40)
        await desk.until(lambda: column.display, "the column")
        await desk.press("2")
        await desk.until(lambda: not column.display, "no second roster beside the roster")
        await desk.press("6")
        await desk.until(lambda: column.display, "the column again")
        await desk.until(lambda: column.region.x > desk.app.main.pane.region.x, "it stays at the right")


@pytest.mark.anyio
async def test_the_roster_of_inboxes_says_of_an_agent_what_the_strip_says(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team, size=(200, 40)) as desk:
        await desk.press("2")
        await desk.until(lambda: "Agents ·" in desk.text, "the roster")
        row = next(line for line in desk.text.splitlines() if AUTHOR in line and "waits for you" in line)
        assert f"{AGENTS[AgentState.WAITING].glyph} {AUTHOR}" in row
        assert "planning" not in desk.text


def letter(number: int, moment: int) -> Message:
    """One of the copies of what task-manager wrote to several agents at a moment."""
    created = f"2026-02-24T10:{moment // 60:02}:{moment % 60:02}Z"
    record = {"message_id": f"MSG-{number}", "type": "message", "from": AUTHOR, "to": f"agent-{number}"}
    return from_record({**record, "created": created, "status": "pending", "payload": {"summary": f"Note {moment}"}})


def events_of(messages: list[Message], events: Events) -> list[tuple[str, int]]:
    """What is told of the messages: when, and to how many more."""
    snapshot = Snapshot(
        messages[-1].message_id, NOW, NOW, TeamConfig(), messages=tuple(messages), condition=Condition.OK
    )
    events.take(View(snapshot.revision, NOW, LEAD, snapshot))
    return [(event.key[:19], event.more) for event in events.newest]


def test_of_hundreds_of_messages_the_sixty_latest_events_are_told_each_with_all_its_copies() -> None:
    messages = [letter(number, number // 4) for number in range(400)]
    Random(5).shuffle(messages)
    told = events_of(messages, Events())
    assert told == [(letter(0, moment).created[:19], 3) for moment in range(99, 39, -1)]


def test_a_message_that_was_too_old_to_be_told_is_not_told_later() -> None:
    messages, events = [letter(number, number) for number in range(400)], Events()
    before = events_of(messages, events)
    assert events_of([*messages[1:], letter(400, 0)], events) == before
    assert events_of([*messages[2:], letter(400, 0), letter(401, 500)], events)[0] == (letter(0, 500).created[:19], 0)
