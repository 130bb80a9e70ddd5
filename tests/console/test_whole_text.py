"""Nobody decides on half a text: what lies beside the queue is read first, and nothing else is shown for it."""

from __future__ import annotations

import threading
from types import MappingProxyType

import pytest
from team_console.console.tui import background
from team_console.store.service import sending
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent, TeamConfig

from tests.console.conftest import AUTHOR, LEAD, Clock, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
LAST = "and then the backups are deleted"
LONG = "A plan of many words.\n" * 5_000 + LAST


class SlowShelf(MemoryTeam):
    """Gives contents out only when the test says so, and perhaps others than were stored."""

    gate: threading.Event
    swapped = b""

    def attachment(self, reference: str) -> bytes:
        self.gate.wait(10)
        return self.swapped or super().attachment(reference)


@pytest.fixture
def cache(clock: Clock) -> SlowShelf:
    agents = {name: Agent(name, plan_mode_required=name == AUTHOR) for name in (LEAD, AUTHOR)}
    config = TeamConfig(lead=LEAD, agents=MappingProxyType(agents), declared=True)
    team = SlowShelf(config=config, clock=clock)
    team.gate = threading.Event()
    return team


async def test_a_long_plan_can_be_decided_only_when_all_of_it_is_there(cache: SlowShelf) -> None:
    hand_in_plan(cache, content=LONG)
    async with opened(cache) as desk:
        await desk.reads("Only the beginning is shown")
        await desk.press("a")
        await desk.tells("full text is still loading")
        assert desk.front is desk.app.main
        cache.gate.set()
        await desk.until(lambda: "Only the beginning" not in desk.detail, "all of it")
        await desk.performs("raw")
        ends = ("more characters are not shown here", LAST)
        await desk.until(lambda: any(words in desk.detail for words in ends), "its end, which is laid out later")
        await desk.calm()
        await desk.asks("a")


async def test_a_text_that_could_not_be_read_is_read_again(cache: SlowShelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_FETCH_AGAIN", 0.0)
    cache.gate.set()
    hand_in_plan(cache, content=LONG)
    kept = dict(cache._state.attachments)
    cache._state.attachments.clear()
    async with opened(cache) as desk:
        await desk.tells("no attachment")
        cache._state.attachments.update(kept)
        desk.app._tick()
        await desk.until(lambda: not desk.app.main.context().selection.incomplete, "all of it")
        assert sum("no attachment" in toast for toast in desk.toasts) == 1


async def test_a_stored_content_that_was_changed_is_not_shown_as_the_message(cache: SlowShelf) -> None:
    cache.swapped = b"Something else entirely"
    cache.gate.set()
    sending.send(Caller(cache, AUTHOR), to=LEAD, summary="The report is ready for reading", content=LONG)
    async with opened(cache) as desk:
        await desk.tells("is not what the message says")
        await desk.reads("Only the beginning is shown")
        assert "Something else entirely" not in desk.detail
