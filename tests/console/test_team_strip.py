"""The team at a glance: a cell per agent, however many there are."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from team_console.store.views.rows import AgentState
from team_console.widgets.signs import AGENTS, FAILING
from team_console.widgets.team import AgentCell, TeamStrip, strip_parts
from team_console.widgets.text import text_of

from tests.console.conftest import AUTHOR, LEAD, hand_in_plan, opened
from tests.memory_team import MemoryTeam

pytestmark = pytest.mark.slow

NOW = datetime(2026, 2, 24, 12, tzinfo=UTC)


def agents(number: int, *, failing: int = 2) -> tuple[AgentCell, ...]:
    """So many agents with long names that differ at their ends; the last ones fail, the first one is gone."""
    cells = [AgentCell(f"agent-with-a-long-name-{order:02}", f"{order}", WORKING) for order in range(number - failing)]
    failed = [
        AgentCell(f"agent-with-a-long-name-x{order}", f"x{order}", FAILING, urgent=True) for order in range(failing)
    ]
    return (AgentCell("gone", "gone", GONE, is_gone=True), *cells, *failed)


@pytest.mark.parametrize(
    ("number", "width", "shown"),
    [
        (3, 120, "■ gone  ● agent-with-a-long-name-00  ✗ agent-with-a-long-name-x0  ✗ agent-with-a-long-name-x1  "),
        (3, 60, "team 4:  2 failing · 1 working · 1 gone"),
        (300, 120, "team 301:  2 failing · 298 working · 1 gone"),
    ],
)
def test_agents_have_their_whole_names_or_are_counted(number: int, width: int, shown: str) -> None:
    assert "".join(text_of(line) for _, line in strip_parts(agents(number), width)) == shown


WORKING, GONE = AGENTS[AgentState.ACTIVE], AGENTS[AgentState.STOPPED]


@pytest.mark.anyio
async def test_every_agent_has_a_cell_and_a_click_leads_to_its_inbox(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        strip = desk.app.main.query_one(TeamStrip)
        await desk.until(lambda: "◆ task-manager" in strip.text, "the agent that waits")
        assert LEAD not in strip.text.split("  ")
        await desk.pilot.click(strip, offset=(strip.text.index("file-manager") + 2, 0))
        await desk.until(lambda: desk.app.main.mode == "agents", "the agents")
        pane = desk.app.main.pane
        await desk.until(lambda: pane.roster.cursor_key == "file-manager", "its inbox")  # type: ignore[attr-defined]


@pytest.mark.anyio
async def test_the_roster_of_inboxes_says_of_an_agent_what_the_strip_says(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team, size=(200, 40)) as desk:
        await desk.press("2")
        await desk.shows("Agents ·")
        lines = [line.partition("▏")[0] for line in desk.text.splitlines()]
        row = next(number for number, line in enumerate(lines) if "waits for you" in line and AUTHOR not in line)
        assert f"{AGENTS[AgentState.WAITING].glyph} {AUTHOR}" in lines[row - 1]
        assert "planning" not in desk.text
