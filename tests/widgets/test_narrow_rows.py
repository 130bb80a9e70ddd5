"""Where room is small the words that matter stay, columns keep apart, and what is cut says so."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from team_console.console.tui.modes.agents import inbox_lines, roster_lines
from team_console.console.tui.modes.history import history_lines
from team_console.console.tui.modes.needs import request_lines
from team_console.console.tui.modes.sprint import sprint_lines
from team_console.store.backends.open import open_team
from team_console.store.views.projection import Projection
from team_console.store.views.rows import View
from team_console.widgets.bars import DOUBT, STALE, Banner, Head, HeadFacts, Notice, Tab
from team_console.widgets.row_list import Drawing
from team_console.widgets.rows import kind_word
from team_console.widgets.signs import AGENTS
from team_console.widgets.text import Line, fit, text_of
from textual.app import App

from tests.showcase import LEAD, NOW, build

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    """A team with something of everything."""
    folder: Path = tmp_path_factory.mktemp("showcase") / "team"
    build(folder)
    team = open_team(str(folder), read_only=True, clock=lambda: NOW)
    return Projection(LEAD).update(team.snapshot(), NOW)


def drawing(width: int, lines: int = 1, now: datetime = NOW) -> Drawing:
    """A row of `width` cells."""
    return Drawing(width, now, lines)


def cut(line: Line, width: int) -> str:
    """What of a line is on the screen."""
    return text_of(fit(line, width))


@pytest.mark.parametrize("width", [30, 40, 44])
def test_a_narrow_inbox_shows_what_a_message_is_about_rather_than_its_kind(view: View, width: int) -> None:
    plan = next(inbox for inbox in view.inboxes[LEAD] if inbox.type == "plan_approval_request")
    shown = cut(inbox_lines(plan, drawing(width))[0], width)
    assert plan.summary[:8] in shown
    assert "plan_approval" not in shown


def test_the_kind_and_the_asker_of_a_request_do_not_touch(view: View) -> None:
    for row in view.requests:
        words = cut(request_lines(row, drawing(94))[0], 94).split()
        assert kind_word(row.kind) in words


def test_an_answered_request_tells_since_when_it_is_answered(view: View) -> None:
    row = next(request for request in view.requests if request.answered_at is not None and request.asked_at is not None)
    assert row.answered_at is not None
    minutes = int((NOW - row.answered_at).total_seconds() // 60)
    assert cut(request_lines(row, drawing(94))[0], 94).rstrip().endswith(f" {minutes}m")


@pytest.mark.parametrize("width", [40, 48, 60])
def test_the_steps_of_a_temporary_agent_are_counted_in_full(view: View, width: int) -> None:
    lives = view.lifecycles
    assert lives
    for life in lives:
        assert "of 11" in cut(sprint_lines(life, drawing(width))[0], width)


def test_no_agent_is_said_to_wait_twice(view: View) -> None:
    for row in view.roster:
        state = text_of(roster_lines(row, drawing(60, lines=2), AGENTS[row.state])[1])
        assert state.count("waits") < 2
        assert state.count("not ") < 2


@pytest.mark.anyio
async def test_what_a_banner_cannot_hold_ends_in_an_ellipsis() -> None:
    banner, app = Banner(), App[None]()
    async with app.run_test(size=(60, 12)) as pilot:
        await app.mount(banner)
        banner.show(Notice(DOUBT, "the queue is older than what was written", "Restore it, or look. " * 20))
        await pilot.pause()
        shown = [banner.render_line(y).text.rstrip() for y in range(banner.size.height)]
        assert len(shown) == 4
        assert shown[-1].endswith("…")
        assert not any(line.endswith("…") for line in shown[:-1])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, " 1 Needs mara 18  2 Agents  3 History  6·1         atlas  READ-ONLY  ◌ 12 s old"),
        (56, " 1 Needs mara 18  2  3  6·1  READ-ONLY  ◌ 12 s old"),
    ],
)
async def test_names_of_tabs_give_way_then_the_team_never_a_number_or_the_mark(width: int, shown: str) -> None:
    tabs = (
        Tab("needs", "1", "Needs mara", "18"),
        Tab("agents", "2", "Agents"),
        Tab("history", "3", "History"),
        Tab("deliveries", "6", "Deliveries", "1"),
    )
    facts = HeadFacts("atlas", pulse=replace(STALE, word="12 s old"), read_only=True)
    bar, app = Head(), App[None]()
    async with app.run_test(size=(width, 5)) as pilot:
        await app.mount(bar)
        bar.show(tabs, "needs", facts)
        await pilot.pause()
        assert bar.text.split() == shown.split()
        assert len(bar.text) <= width - 1


def test_a_narrow_past_has_whole_titles(view: View) -> None:
    plan = next(inbox for inbox in view.inboxes[LEAD] if inbox.type == "plan_approval_request")
    narrow = history_lines(plan, Drawing(78, NOW, 1))[0]
    assert "task-manager" in text_of(narrow)
    assert plan.summary in cut(narrow, 78)


def test_an_unread_row_stands_out_as_a_whole_and_both_signs_say_how_urgent_it_is(view: View) -> None:
    plan = next(inbox for inbox in view.inboxes[LEAD] if inbox.type == "plan_approval_request")
    signs, _, title, *_ = inbox_lines(plan, drawing(100))[0]
    assert (plan.status, plan.priority) == ("pending", "high")
    assert (signs[1], title[1]) == ("warn", "strong")
