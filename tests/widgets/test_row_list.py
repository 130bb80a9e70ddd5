"""The list keeps its place by key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from team_console.widgets.row_drawing import Drawing
from team_console.widgets.row_list import RowList
from team_console.widgets.text import Line, age
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot

from tests.equipment.cases import cases

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 2, 24, 10, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Row:
    key: str
    text: str = ""
    since: datetime = NOW


def draw(row: Row, drawing: Drawing) -> tuple[Line, ...]:
    first: Line = ((f"{row.key} {row.text} {age(row.since, drawing.now)}", ""),)
    return (first, (("below", "muted"),))[: drawing.lines]


class Lists(App[None]):
    """One list of rows."""

    def __init__(self, **more: Any) -> None:
        super().__init__()
        self.ticks = 100.0
        self.told: list[RowList.Moved | RowList.Opened | RowList.Marked] = []
        self.list = RowList[Row](lambda row: row.key, draw, clock=lambda: self.ticks, **more)

    def compose(self) -> ComposeResult:
        yield self.list

    def put(self, *shown: str | Row) -> None:
        """Show these rows; a text is the key of one."""
        self.list.set_rows(tuple(Row(one) if isinstance(one, str) else one for one in shown), now=NOW)

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        self.told.append(event)

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        self.told.append(event)


@asynccontextmanager
async def listed(
    *shown: str | Row, size: tuple[int, int] = (80, 24), **more: Any
) -> AsyncIterator[tuple[Lists, Pilot[None]]]:
    """An app with a list of these rows, and keys for it."""
    app = Lists(**more)
    async with app.run_test(size=size) as pilot:
        app.put(*shown)
        await pilot.pause()
        yield app, pilot


def many(number: int) -> tuple[Row, ...]:
    return tuple(Row(f"k{index}") for index in range(number))


def shown(row_list: RowList[Row]) -> list[str]:
    return [row_list.render_line(y).text.rstrip() for y in range(row_list.size.height)]


@cases
async def test_the_list_keeps_its_place_by_key_and_notes_what_moves_by_itself(steps: list[str]) -> None:
    async with listed() as (app, pilot):
        for step in steps:
            verb, *words = step.split()
            if verb == "press":
                await pilot.press(*words)
            elif verb == "put":
                app.put(*(Row(word[0], word[2:]) for word in words))
            elif verb == "treat":
                app.list.step_on(lambda row: row.key == words[0])  # noqa: B023
            elif verb == "later":
                app.ticks += float(words[0])
            else:
                rows = app.list
                since = rows.disturbances.seconds_since()
                holds: dict[str, Iterable[object]] = {"cursor": [rows.cursor_key], "position": rows.position}
                holds |= {"marks": sorted(rows.marks), "since": [since]}
                assert [str(one) for one in holds[verb]] == words, step


async def test_when_its_row_goes_the_cursor_stays_at_the_place_and_says_so() -> None:
    async with listed("a", "b", "c") as (app, pilot):
        await pilot.press("j")
        app.told.clear()
        app.put("a", "c")
        await pilot.pause()
        assert app.list.cursor_key == "c"
        assert [(event.key, event.by_user) for event in app.told if isinstance(event, RowList.Moved)] == [("c", False)]
        assert app.list.disturbances.seconds_since() == 0


async def test_enter_and_a_double_click_open_the_row() -> None:
    async with listed("a", "b", size=(80, 10)) as (app, pilot):
        await pilot.press("enter")
        await pilot.click(RowList, offset=(5, 1), times=2)
        for _ in range(200):  # the app hears of it when it gets to that
            if [event.key for event in app.told if isinstance(event, RowList.Opened)] == ["a", "b"]:
                return
            await pilot.pause()
    raise AssertionError(app.told)


async def test_big_moves_stay_inside_the_list() -> None:
    async with listed(*many(30), size=(80, 10)) as (app, pilot):
        await pilot.press("pageup", "k")
        assert app.list.cursor_key == "k0"
        await pilot.press("G", "pagedown", "ctrl+d")
        assert app.list.cursor_key == "k29"
        await pilot.press("g")
        assert app.list.cursor_key == "k0"


async def test_in_rows_of_one_line_the_one_under_the_cursor_has_a_second() -> None:
    rows = [Row(f"k{number}", "even" if number < 3 else "odd") for number in range(30)]
    async with listed(*rows, size=(60, 10), two_lines_from=30, group=lambda row: row.text) as (app, pilot):
        for key, index in (("k1", 1), ("k2", 2), ("k3", 3), ("k29", 29)):
            assert app.list.select(key)
            await pilot.pause()
            lines = shown(app.list)
            place = next(number for number, line in enumerate(lines) if f"{key} " in line)
            assert "below" in lines[place + 1]
            assert sum("below" in line for line in lines) == 1
            assert app.list.virtual_size.height == 30 + 2 + 1
            assert app.list.position[0] == index + 1
        app.list.select("k0")
        await pilot.pause()
        await pilot.click(RowList, offset=(5, 4))
        assert app.list.cursor_key == "k2", "the second line of the first row and the heading are above it"
        app.list.styles.height = 7
        await pilot.pause()
        assert not any("below" in line for line in shown(app.list)), "where room is small, rows are worth more"


async def test_headings_stand_above_their_groups_and_the_cursor_steps_over_them() -> None:
    async with listed(
        *("a1", "a2", "b1", "c1", "c2"),
        size=(40, 4),
        group=lambda row: row.key[0],
        heading=lambda below, drawing: ((f"{below[0].key[0]} has {len(below)}", ""),),
    ) as (app, pilot):
        assert [line.split()[0:3] for line in shown(app.list)[::3]] == [["a", "has", "2"], ["b", "has", "1"]]
        await pilot.press("j", "j")
        assert app.list.cursor_key == "b1"
        await pilot.press("j")
        await pilot.pause()
        assert any(line.startswith("▌ c1") for line in shown(app.list))
        await pilot.press("g")
        await pilot.pause()
        assert shown(app.list)[0].startswith("a has 2")
        await pilot.click(app.list, offset=(3, 3))
        assert app.list.cursor_key == "a1", "a heading is no row"
        await pilot.press("G")
        await pilot.pause()
        assert [line.strip("▌ ").split()[0] for line in shown(app.list)] == ["b1", "c", "c1", "c2"]


async def test_at_a_tick_the_lines_whose_age_reads_otherwise_are_painted_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with listed(Row("days", since=NOW - timedelta(days=2)), Row("now")) as (app, _):
        painted: list[Region] = []
        monkeypatch.setattr(app.list, "refresh", lambda *regions: painted.extend(regions))
        app.list.tick(NOW + timedelta(minutes=5))
        assert [(region.y, region.height) for region in painted] == [(1, 1)]
