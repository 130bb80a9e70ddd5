"""Changes are noticed: by events where the system gives them, by looking where it does not (cases 35, 61-63)."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import watchfiles
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.contract.team import WatchHint, WatchState
from watchfiles._rust_notify import WatchfilesRustInternalError

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import (
    QUEUE,
    open_yaml,
    queue_of,
)

pytestmark = pytest.mark.slow

PATIENCE = 20.0


class Watcher:
    """Collects hints of a team until told to stop."""

    def __init__(self, team: YamlTeam) -> None:
        self.hints: list[WatchHint] = []
        self._arrived = asyncio.Event()
        self._source = team.watch()
        self._task = asyncio.create_task(self._collect())

    async def _collect(self) -> None:
        async for hint in self._source:
            self.hints.append(hint)
            self._arrived.set()

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._arrived.clear()
                await self._arrived.wait()

    async def until_state(self, state: WatchState) -> WatchHint:
        await self.until(lambda: self.hints and self.hints[-1].state is state)
        return self.hints[-1]

    async def until_another(self, act: Callable[[], object]) -> WatchHint:
        count = len(self.hints)
        act()
        await self.until(lambda: len(self.hints) > count)
        return self.hints[-1]

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        assert isinstance(self._source, AsyncIterator)
        await self._source.aclose()  # type: ignore[attr-defined]


def run(team: YamlTeam, story: Callable[[Watcher], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        watcher = Watcher(team)
        try:
            await story(watcher)
        finally:
            await watcher.stop()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(whole())


def test_a_folder_made_anew_is_followed_again_and_its_absence_told(tmp_path: Path) -> None:
    root = tmp_path / "team"
    root.mkdir()
    put(open_yaml(root), make_message(1))

    async def story(watcher: Watcher) -> None:
        await watcher.until_state(WatchState.LIVE)
        shutil.rmtree(root)
        stalled = await watcher.until_state(WatchState.STALLED)
        assert "gone" in stalled.reason
        root.mkdir()
        (root / QUEUE).write_bytes(queue_of(make_message(1)))
        await watcher.until_state(WatchState.LIVE)
        await watcher.until_another(lambda: put(open_yaml(root), make_message(2)))

    run(open_yaml(root), story)


@pytest.mark.parametrize(
    "error",
    [
        OSError("OS file watch limit reached"),
        WatchfilesRustInternalError("Too many open files"),
    ],
    ids=["limit", "descriptors"],
)
def test_without_events_it_polls_says_why_and_still_notices(tmp_path: Path, error: Exception) -> None:
    async def refuse(*_: object, **__: object) -> AsyncIterator[object]:
        raise error
        yield

    put(open_yaml(tmp_path), make_message(1))
    refusing = pytest.MonkeyPatch()
    refusing.setattr(watchfiles, "awatch", refuse)

    async def story(watcher: Watcher) -> None:
        await watcher.until(lambda: watcher.hints and str(error) in watcher.hints[-1].reason)
        await watcher.until_another(lambda: put(team, make_message(2)))
        assert {hint.state for hint in watcher.hints} == {WatchState.POLLING}
        refusing.undo()
        await watcher.until_state(WatchState.LIVE)

    team = open_yaml(tmp_path)
    try:
        run(team, story)
    finally:
        refusing.undo()


def test_lost_events_are_made_up_for_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*_: object, stop_event: asyncio.Event, **__: object) -> AsyncIterator[object]:
        await stop_event.wait()
        return
        yield

    put(open_yaml(tmp_path), make_message(1))
    monkeypatch.setattr(watchfiles, "awatch", silent)

    async def story(watcher: Watcher) -> None:
        await watcher.until_state(WatchState.LIVE)
        await watcher.until_another(lambda: put(team, make_message(2)))

    team = open_yaml(tmp_path)
    run(team, story)
