"""The numbers the console is held to: keys that a task takes, rows of the list, keys and signs to know, contrast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest
from team_console.console.cli.tools import key_rows
from team_console.console.tui.modes.pane import Pane
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent, TeamConfig
from team_console.widgets import signs
from textual.color import Color
from textual.events import Key

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam

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
async def test_a_held_key_decides_nothing(team: MemoryTeam) -> None:
    hand_in_plans(team)
    async with opened(team) as desk:
        for _ in range(15):
            desk.app.post_message(Key("a", "a"))
        await desk.form()
        await desk.settle()
        assert verdicts(team) == []
        await desk.press("escape")
        await desk.is_back()
        assert verdicts(team) == []


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
    agents = {name: Agent(name) for name in (LEAD, *(f"author-{number}" for number in range(12)))}
    config = TeamConfig(name="atlas", lead=LEAD, agents=MappingProxyType(agents), declared=True)
    team = MemoryTeam(config=config, clock=clock)
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
async def test_what_happened_meanwhile_takes_one_key_and_leaves_out_what_one_did_oneself(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.approves(team)
        await desk.press("full_stop")
        await desk.shows(". shows all", "Nothing that is on record happened")


@pytest.mark.anyio
async def test_a_question_takes_three_keys_and_a_permission_two(team: MemoryTeam) -> None:
    options = [{"label": "Blue"}, {"label": "Green"}]
    asked = [{"question": "Which colour has the report?", "header": "Colour", "options": options, "multiSelect": False}]
    asking.ask_question(Caller(team, AUTHOR), questions=asked, directory="/srv", client="claude-code")
    async with opened(team) as desk:
        await desk.shows("Which colour")
        await desk.asks("a")
        await desk.press("2", "enter")
        await desk.until(lambda: _answers(team) == 1, "an answer")
        asking.ask_permission(Caller(team, AUTHOR), tool="Bash", input={"command": "git push"}, client="claude-code")
        await desk.shows("git push")
        await desk.calm()
        await desk.asks("a")
        await desk.press("enter")
        await desk.until(lambda: _answers(team) == 2, "a second answer")


@pytest.mark.anyio
async def test_a_permission_takes_three_keys_for_always(team: MemoryTeam) -> None:
    rules = [{"toolName": "Bash", "ruleContent": "npm test *"}]
    rule = {"type": "addRules", "behavior": "allow", "destination": "localSettings", "rules": rules}
    ask_for(team, suggestions=[rule])
    async with opened(team) as desk:
        await desk.asks("a")
        await desk.press("2", "enter")
        await desk.until(lambda: _answers(team) == 1, "an answer")
        (answer,) = (message for message in team.snapshot().messages if message.type == "permission_response")
        assert answer.payload["scope"] == "always"


@pytest.mark.anyio
async def test_a_permission_takes_five_keys_until_an_end(team: MemoryTeam) -> None:
    team = MemoryTeam(config=team.config(), clock=team.clock, keeps_trail=True)
    ask_for(team)
    async with opened(team) as desk:
        await desk.asks("a")
        await desk.press("3", "enter")
        await desk.shows("would have answered")
        await desk.press("2", "enter")
        await desk.until(lambda: _answers(team) == 1, "an answer")
        ask_for(team)
        assert _answers(team) == 2, "the very same is answered"


def ask_for(team: MemoryTeam, suggestions: Sequence[Mapping[str, object]] = ()) -> None:
    """The author asks to run the tests."""
    command = {"command": "npm test"}
    asking.ask_permission(
        Caller(team, AUTHOR),
        tool="Bash",
        input=command,
        client="claude-code",
        directory="/srv",
        suggestions=suggestions,
    )


def _answers(team: MemoryTeam) -> int:
    return sum(message.type.endswith("_response") for message in team.snapshot().messages)


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
