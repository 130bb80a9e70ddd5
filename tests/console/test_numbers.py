"""The numbers the console is held to: keys that a task takes, rows of the list, keys and signs to know, contrast."""

from __future__ import annotations

import pytest
from team_console.console.cli.help_and_config import key_rows
from team_console.console.tui.modes.pane import Pane
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent
from team_console.widgets import signs
from textual.color import Color

from tests.console.conftest import Clock, Desk, hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import team_of

MOST_KEYS_TO_KNOW, MOST_SIGNS = 46, 45
MOST_KEYS_FOR_TWELVE = 70
"""Keys to read twelve plans of 67 to 192 lines to their ends, and to decide them; words of a refusal not counted."""
READABLE = 4.5
"""The least contrast of a text, as the W3C asks for it."""
_NAMES = ("task-manager", "schedule-manager", "file-manager")
_TABLES = (
    signs.NEEDS, signs.PRIORITIES, signs.STATUSES, signs.AGENTS, signs.REQUESTS, signs.DELIVERIES, signs.STORIES,
    signs.SEVERITIES,
)  # fmt: skip


def plan_of(lines: int) -> str:
    """A plan with so many lines."""
    return "\n".join(f"{number}. Step {number} of what is to be done" for number in range(1, lines + 1))


def hand_in_plans(team: MemoryTeam) -> None:
    """A plan of each of three agents."""
    for name in _NAMES:
        requests.submit_plan(Caller(team, name), content=plan_of(12), summary=f"A plan of {name}")


def rows_of_list(desk: Desk) -> int:
    """How many rows the list in front has room for."""
    pane = desk.app.main.pane
    assert isinstance(pane, Pane)
    return pane.rows.content_size.height


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours (WCAG 2.2)."""
    darker, brighter = sorted((luminance(one), luminance(other)))
    return (brighter + 0.05) / (darker + 0.05)


def luminance(colour: Color) -> float:
    """How bright a colour is, from 0 to 1 (WCAG 2.2)."""
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def too_faint(desk: Desk) -> set[tuple[str, float]]:
    """Words on the screen whose contrast is too low, each with its contrast."""
    found = set()
    for strip in desk.app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if style is None or style.color is None or style.bgcolor is None or not any(map(str.isalnum, text)):
                continue
            front, back = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
            ratio = contrast(front, back)
            if ratio < READABLE:
                found.add((text.strip(), round(ratio, 1)))
    return found


def test_the_reference_has_few_keys_and_the_lists_few_signs() -> None:
    assert len(list(key_rows())) <= MOST_KEYS_TO_KNOW
    assert len({sign.glyph for table in _TABLES for sign in table.values()}) <= MOST_SIGNS


@pytest.mark.anyio
async def test_a_long_plan_is_read_whole_and_decided_with_eight_keys(team: MemoryTeam) -> None:
    hand_in_plan(team, content=plan_of(192))
    async with opened(team) as desk:
        await desk.press("f")
        keys = 1
        while "shown 100 %" not in desk.text and "shown whole" not in desk.text and keys < 8:
            await desk.press("space")
            keys += 1
        await desk.approves(team)
        assert keys + 2 <= 8


@pytest.mark.anyio
async def test_twelve_plans_read_to_the_end_and_decided_take_seventy_keys(clock: Clock) -> None:
    lengths = (67, 72, 80, 84, 85, 90, 96, 105, 118, 134, 160, 192)
    team = MemoryTeam(config=team_of(*(Agent(f"author-{number}") for number in range(12))), clock=clock)
    for number, lines in enumerate(lengths):
        author = Caller(team, f"author-{number}")
        requests.submit_plan(author, content=plan_of(lines), summary=f"Plan {number} of twelve to be read")
        clock.advance(1)
    async with opened(team) as desk:
        await desk.press("f")
        keys = 1
        for number in range(12):
            await desk.shows(f"Plan {number} of twelve")
            while "shown 100 %" not in desk.text and "shown whole" not in desk.text:
                await desk.press("space")
                keys += 1
                assert keys < MOST_KEYS_FOR_TWELVE
            await desk.calm()
            await desk.asks("r" if number in (3, 7) else "a")
            await desk.type("why so" if number in (3, 7) else "")
            await desk.press("enter")
            await desk.decided(team, number + 1)
            keys += 2
        assert keys <= MOST_KEYS_FOR_TWELVE
        assert len(verdicts(team)) == 12


@pytest.mark.anyio
async def test_a_small_terminal_has_ten_rows_of_list_and_four_beside_a_form(team: MemoryTeam) -> None:
    hand_in_plans(team)
    async with opened(team, size=(80, 24)) as desk:
        assert rows_of_list(desk) >= 10
        await desk.asks("a")
        assert rows_of_list(desk) >= 4


@pytest.mark.anyio
@pytest.mark.parametrize("theme", ["dark", "light", "contrast"])
async def test_whatever_informs_can_be_read(theme: str, team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_CONSOLE_THEME", theme)
    hand_in_plans(team)
    code = "```python\nreturn load(1)  # all of it\n```"
    requests.submit_plan(Caller(team, _NAMES[0]), content=code, summary="The first of them again")
    async with opened(team) as desk:
        for place in ("1", "2", "3", "4"):
            await desk.press(place)
            assert too_faint(desk) == set(), place
        await desk.press("1", "g")
        for form in ("a", "m"):
            await desk.asks(form)
            assert too_faint(desk) == set(), form
            await desk.press("escape")
