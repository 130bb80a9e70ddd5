"""How much is done for a change: a look that found nothing new paints nothing, another paints once what it changed."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from team_console.console.compositor import SpansUpdate, SparingCompositor
from team_console.console.main import Frame, Shown
from team_console.console.modes.pane import ListPane
from team_console.store.service.caller import Caller
from team_console.store.service.sending import send
from team_console.widgets.bars import changed_cells
from team_console.widgets.text import Line, fit
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened
from tests.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[Shown]:
    """What the frame was drawn from, each time it was."""
    known: list[Shown] = []
    show = Frame.show

    def counted(self: Frame, shown: Shown) -> None:
        known.append(shown)
        show(self, shown)

    monkeypatch.setattr(Frame, "show", counted)
    return known


async def looked(desk: Desk) -> None:
    """Have the store looked at once more."""
    before = desk.app.situation.sight
    desk.app.look()
    await desk.until(lambda: desk.app.situation.sight is not before and not desk.app.is_behind, "another look")
    await desk.pilot.pause()


async def test_a_look_that_found_nothing_new_paints_nothing(
    team: MemoryTeam, clock: Clock, painted: list[Shown]
) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.until(lambda: "Refactor the report" in desk.text, "the plan")
        await looked(desk)
        before = len(painted)
        clock.advance(1)
        await looked(desk)
        await looked(desk)
        assert len(painted) == before
        assert desk.app.main.pane.situation is desk.app.situation


async def test_a_look_that_found_something_paints_it(team: MemoryTeam, painted: list[Shown]) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.until(lambda: "Refactor the report" in desk.text, "the plan")
        await looked(desk)
        before = len(painted)
        send(Caller(team, AUTHOR), to=LEAD, summary="One more thing", content="Look.")
        await desk.until(lambda: "One more thing" in desk.text, "the message")
        assert before < len(painted) <= before + 2


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What was done, and how often: updates of the screen and their lines by widget, layouts, details, messages."""
    known: Counter[str] = Counter()
    update, lines = SparingCompositor.render_partial_update, Widget.render_lines
    layout, detail, post = Screen._refresh_layout, ListPane._show_detail, MessagePump.post_message

    def updated(self: SparingCompositor) -> object:
        known["update"] += 1
        return update(self)

    def rendered(self: Widget, crop: Region) -> list[Strip]:
        if getattr(self.screen._compositor, "_bands", ()):
            known[f"{type(self).__name__} {crop.height}"] += 1
        return lines(self, crop)

    def posted(self: MessagePump, message: Message) -> bool:
        known[type(message).__name__] += 1
        return post(self, message)

    def laid_out(self: Screen[object], *arguments: object, **options: object) -> None:
        known["layout"] += 1
        layout(self, *arguments, **options)  # type: ignore[arg-type]

    def detailed(self: ListPane[object]) -> None:
        known["detail"] += 1
        detail(self)

    monkeypatch.setattr(SparingCompositor, "render_partial_update", updated)
    monkeypatch.setattr(Widget, "render_lines", rendered)
    monkeypatch.setattr(MessagePump, "post_message", posted)
    monkeypatch.setattr(Screen, "_refresh_layout", laid_out)
    monkeypatch.setattr(ListPane, "_show_detail", detailed)
    return known


async def test_a_message_between_two_agents_is_one_update_of_the_two_bars_it_changes(
    team: MemoryTeam, done: Counter[str]
) -> None:
    hand_in_plan(team)
    send(Caller(team, AUTHOR), to="file-manager", summary="A first thing", content="Look.")
    async with opened(team) as desk:
        await desk.until(lambda: "Refactor the report" in desk.text, "the plan")
        await looked(desk)
        await looked(desk)
        send(Caller(team, AUTHOR), to="file-manager", summary="One more thing", content="Look.")
        done.clear()
        await looked(desk)
        assert (done["update"], done["layout"], done["detail"]) == (1, 0, 0)
        assert {name for name in done if name[-1].isdigit()} == {"TabBar 1", "TeamStrip 1"}
        assert done["StateChanged"] == 0, "states of a worker are messages, and a reading needs none"
        assert done["Update"] == 0, "lines of ours are marked on the screen itself"
        assert "file-manager: One mor…" in desk.text


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 55)])
async def test_a_part_of_the_screen_is_painted_as_it_is_in_the_whole(team: MemoryTeam, size: tuple[int, int]) -> None:
    hand_in_plan(team, "Refactor the report 漢字")
    random = Random(81)
    async with opened(team, size=size) as desk:
        await desk.until(lambda: "Refactor the report" in desk.text, "the plan")
        compositor = desk.app.main._compositor
        whole = compositor.render_strips()
        for _ in range(60):
            places = [(random.randrange(size[0]), random.randrange(size[1])) for _ in range(random.randint(1, 4))]
            regions = {Region(x, y, random.randint(1, 30), random.randint(1, 6)) for x, y in places}
            compositor._dirty_regions = {region.intersection(Region(0, 0, *size)) for region in regions}
            cells = {
                cell
                for region in compositor._dirty_regions
                for cell in product(range(region.x, region.right), range(region.y, region.bottom))
            }
            update = compositor.render_partial_update()
            assert isinstance(update, SpansUpdate)
            for y, start, stop in update.spans:
                pieces = list(update.pieces(y, start, stop))
                assert [x for x, _ in pieces][:1] == [start]
                assert Strip.join([strip for _, strip in pieces]).text == whole[y].crop(start, stop).text
            assert sum(stop - start for _, start, stop in update.spans) == len(cells)


def test_cells_of_a_line_that_are_not_painted_again_are_as_they_were() -> None:
    random = Random(82)
    words = ("alpha", "漢字", "b ", " 12 ", "…")

    def drawn() -> Line:
        return fit(tuple((random.choice(words), random.choice(("", "muted"))) for _ in range(random.randint(0, 8))), 30)

    for _ in range(400):
        before, after = drawn(), drawn()
        shared = random.randint(0, 3)
        after = fit((*before[:shared], *after), 30)
        start, stop = changed_cells(before, after)
        old, new = _cells(before), _cells(after)
        assert old[:start] == new[:start]
        assert old[stop:] == new[stop:]
        assert changed_cells(before, before) == (30, 30)


def _cells(line: Line) -> list[tuple[str, str]]:
    """Each cell with its tone; the right half of a wide character holds nothing."""
    return [
        (cell, tone) for text, tone in line for sign in text for cell in ((sign, "") if sign in "漢字" else (sign,))
    ]
