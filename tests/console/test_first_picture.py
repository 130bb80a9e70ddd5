"""The first picture: the newest messages of a large team before the rest is read, and no key that decides till then."""

from __future__ import annotations

from collections.abc import Callable, Collection
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.console.app import ConsoleApp
from team_console.console.early_reading import EarlyFeed
from team_console.console.reader import Feed
from team_console.store.contract.team import Condition, Snapshot
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import sending
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, WAIT, Desk, hand_in_plan
from tests.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


class LargeTeam(MemoryTeam):
    """A team whose newest message is known at once and whose others are read when `rest` is set."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.rest = Event()
        self.asked = 0

    def newest(self, limit: int, names: Collection[str] = ()) -> Snapshot | None:
        """The last message."""
        whole = super().snapshot()
        newest = whole.messages[-1:]
        return replace(whole, messages=newest, condition=Condition.OK, left_out=len(whole.messages) - 1)

    def snapshot(self, *, progress: Callable[[int, int], bool] | None = None) -> Snapshot:
        """Everything, after a while."""
        while not self.rest.wait(0.01):
            if progress is not None and not progress(1, 3):
                raise InterruptedError
        return super().snapshot()


@pytest.fixture
def large(team: MemoryTeam) -> LargeTeam:
    """Three plans, of which the newest is quick to read."""
    found = LargeTeam(config=team.config(), clock=team.clock)
    found.rest.set()
    for title in ("Split the oldest loader in two", "Split the older loader in two", "Split the newest loader in two"):
        hand_in_plan(found, title)
    found.rest.clear()
    return found


@pytest.mark.parametrize("kind", [Feed, EarlyFeed])
async def test_the_newest_messages_show_while_the_rest_is_read(large: LargeTeam, kind: type[Feed]) -> None:
    app = ConsoleApp(large, me=LEAD, feed=kind(large, LEAD))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        desk = Desk(app, pilot)
        await desk.until(lambda: "newest loader" in desk.text and "READING" in desk.text, "the newest plan")
        assert "oldest loader" not in desk.text
        await desk.until(lambda: "Shown are 1 of them" in desk.text, "a banner that says how much is shown")
        large.rest.set()
        await desk.until(lambda: "older loader" in desk.text and "READING" not in desk.text, "the whole team")


@pytest.mark.parametrize(("keys", "chosen"), [((), "Split the newest loader"), (("enter",), "The report is ready")])
async def test_the_cursor_begins_at_the_top_of_the_whole_unless_something_was_done(
    large: LargeTeam, keys: tuple[str, ...], chosen: str
) -> None:
    large.rest.set()
    sending.send(Caller(large, AUTHOR), to=LEAD, summary="The report is ready for reading", content="Here it is")
    large.rest.clear()
    app = ConsoleApp(large, me=LEAD, feed=EarlyFeed(large, LEAD))
    async with app.run_test(size=(120, 40)) as pilot:
        desk = Desk(app, pilot)
        await desk.until(lambda: "The report is ready" in desk.detail, "the newest message")
        await desk.press(*keys)
        large.rest.set()
        await desk.until(lambda: app.situation.is_read and "Split the newest" in desk.text, "the whole team")
        await pilot.pause()
        assert chosen in desk.detail
        assert (app.main.pane.undisturbed_for() < WAIT) is (not keys), "only another thing is a change"


async def test_nothing_is_decided_on_a_picture_that_is_not_whole(large: LargeTeam) -> None:
    app = ConsoleApp(large, me=LEAD, feed=EarlyFeed(large, LEAD))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        desk = Desk(app, pilot)
        await desk.until(lambda: "newest loader" in desk.text, "the newest plan")
        await desk.press("a")
        await desk.until(lambda: bool(desk.toasts), "a word on why not")
        assert "still being read" in desk.toasts[-1]
        assert app.screen is app.main
        large.rest.set()
        await desk.until(lambda: app.situation.is_read, "the whole team")


async def test_an_empty_glimpse_does_not_say_that_nothing_waits(large: LargeTeam) -> None:
    app = ConsoleApp(large, me="file-manager", feed=EarlyFeed(large, "file-manager"))
    async with app.run_test(size=(120, 40)) as pilot:
        desk = Desk(app, pilot)
        await desk.until(lambda: "so far" in desk.text, "words on the empty list")
        assert "Nothing waits" not in desk.text
        large.rest.set()
        await desk.until(lambda: "Nothing waits" in desk.text, "the whole team")


async def test_leaving_stops_a_long_first_reading(large: LargeTeam) -> None:
    app = ConsoleApp(large, me=LEAD, feed=Feed(large, LEAD))
    async with app.run_test(size=(120, 40)) as pilot:
        desk = Desk(app, pilot)
        await desk.until(lambda: "newest loader" in desk.text, "the newest plan")
        app.exit()
    assert not large.rest.is_set()


async def test_what_was_read_before_the_screen_was_there_is_in_the_first_picture(team: MemoryTeam) -> None:
    hand_in_plan(team, "Split the loader from the renderer")
    feed = EarlyFeed(team, LEAD)
    assert feed._first is not None
    feed._first.join(WAIT)
    app = ConsoleApp(team, me=LEAD, feed=feed)
    async with app.run_test(size=(120, 40)) as pilot:
        await Desk(app, pilot).until(lambda: "Split the loader" in Desk(app, pilot).text, "the plan")


def test_an_early_reading_that_fails_says_so_where_it_is_waited_for(team: MemoryTeam) -> None:
    class Failing(MemoryTeam):
        def snapshot(self, *, progress: Callable[[int, int], bool] | None = None) -> Snapshot:
            raise TeamError(Code.STORE_FAILED, "the disk is gone")

    feed = EarlyFeed(Failing(config=team.config()), LEAD)
    assert feed.glimpse() is None
    with pytest.raises(TeamError, match="the disk is gone"):
        feed.read()


def test_a_small_team_has_no_glimpse_and_is_read_early(team: MemoryTeam) -> None:
    hand_in_plan(team)
    feed = EarlyFeed(team, LEAD)
    assert feed.glimpse() is None
    first, second = feed.read(), feed.read()
    assert len(first.snapshot.messages) == 1
    assert first.number < second.number
