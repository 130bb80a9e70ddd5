"""The application that follows a store: one reading at a time, at the pace the machine bears, and what came of each."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Any, ClassVar, TypeVar

from team_console.console.app.containment import ContainedApp
from team_console.console.app.feed import Feed, ReadResult
from team_console.console.display.wording import reason_of
from team_console.console.following.pace import Pace
from team_console.store.contract.team import Team, WatchHint, WatchState
from textual import on, work
from textual.message import Message
from textual.timer import Timer
from textual.worker import Worker, WorkerState, get_current_worker

ReturnT = TypeVar("ReturnT")

GLIMPSE_WAIT = 1.0
"""Seconds the reading of a large store holds back at most until its newest messages are on the screen."""
BESIDE = 1.0
"""Seconds until a look when only lock and ledger changed: a write has begun, whose messages come first, or is over."""
_TELL_PROGRESS = 0.1
"""Seconds between two words on how far a long reading is."""


class FollowingApp(ContainedApp[ReturnT]):
    """Reads `team` through `feed` whenever `look` is called or the store changed."""

    WATCH_AGAIN: ClassVar[float] = 5.0
    """Seconds until a watch that ended is begun again."""

    @dataclass
    class StoreChanged(Message):
        """Look again; many of these are one."""

        hint: WatchHint | None = None

        def can_replace(self, message: Message) -> bool:
            """A newer hint says all that an older one did, unless it is of less."""
            return isinstance(message, FollowingApp.StoreChanged) and (self.is_beside or not message.is_beside)

        @property
        def is_beside(self) -> bool:
            """Whether no message came or went."""
            return self.hint is not None and self.hint.beside

    @dataclass
    class Progressed(Message):
        """A long reading goes on."""

        done: int
        total: int

        def can_replace(self, message: Message) -> bool:
            """Only the latest progress is of interest."""
            return isinstance(message, FollowingApp.Progressed)

    @dataclass
    class Glimpsed(Message):
        """The newest messages can be shown while the rest is still being read."""

        sight: ReadResult
        shown: Event

    def __init__(self, team: Team, feed: Feed, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.team, self.feed = team, feed
        self._pace = Pace()
        self._reading = self._again = self._urgent = False
        self._resting: Timer | None = None
        self._beside: Timer | None = None
        self._reported = 0.0

    @property
    @abstractmethod
    def is_read(self) -> bool:
        """Whether the whole store was read once."""

    @property
    @abstractmethod
    def shows_lock(self) -> bool:
        """Whether it is shown that somebody holds the lock, so that its end is news."""

    @abstractmethod
    def saw(self, sight: ReadResult) -> None:
        """Show what was read."""

    @abstractmethod
    def failed(self, error: BaseException) -> None:
        """Say that the store could not be read."""

    @abstractmethod
    def learned(self, **known: Any) -> None:
        """Show what is known until all is read: the newest messages as `sight`, or the `progress`: done, total."""

    @abstractmethod
    def hinted(self, hint: WatchHint) -> None:
        """Take notice of how changes are noticed."""

    def look(self, *, back: bool = False) -> None:
        """Look at the store again now, with `back` at its archives too."""
        if back:
            self.feed.look_back()
        self.post_message(self.StoreChanged())

    @on(StoreChanged)
    def _changed(self, event: StoreChanged) -> None:
        if event.hint is not None:
            self.hinted(event.hint)
        if event.is_beside and not self.shows_lock:
            self._look_beside()
        elif self._reading:
            self._again, self._urgent = True, self._urgent or event.hint is None
        elif event.hint is None or not self._pace.rest:
            self._begin_reading()
        else:
            self._read_later()

    def _look_beside(self) -> None:
        """Look when the next reading would not have seen it anyway."""
        if self._beside is None:
            self._beside = self.set_timer(BESIDE, self.look)

    def _begin_reading(self) -> None:
        if self._beside is not None:
            self._beside.stop()
            self._beside = None
        self._reading, self._urgent = True, False
        self._pace.begin()
        self._read()

    def _read_later(self) -> None:
        """Read once the processor had its rest from the reading before."""
        if self._resting is None:
            self._resting = self.set_timer(self._pace.rest, self._rested)

    def _rested(self) -> None:
        self._resting = None
        self.look()

    @work(thread=True, exit_on_error=False, group="read")
    def _read(self) -> ReadResult:
        worker = get_current_worker()
        if self.is_read:
            self.feed.deepen()
        elif (glimpse := self.feed.glimpse()) is not None:
            self.post_message(self.Glimpsed(glimpse, shown := Event()))
            shown.wait(GLIMPSE_WAIT)
        return self.feed.read(lambda done, total: self._report(done, total) and not worker.is_cancelled)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A reading ended: show what it saw, then read again if more changed meanwhile."""
        if event.worker.group != "read" or event.state not in (WorkerState.SUCCESS, WorkerState.ERROR):
            return
        self._reading = False
        self.call_after_refresh(self._painted)
        if event.state is WorkerState.SUCCESS and event.worker.result is not None:
            self.saw(event.worker.result)
        elif event.worker.error is not None:
            self.failed(event.worker.error)

    def _painted(self) -> None:
        """What was read is on the screen."""
        if self._reading:
            return
        self._pace.end()
        if self._again:
            self._again = False
            self.look() if self._urgent else self._read_later()

    @on(Glimpsed)
    def _glimpsed(self, event: Glimpsed) -> None:
        if self._reading and not self.is_read:
            self.learned(sight=event.sight)
        self.call_after_refresh(event.shown.set)

    @on(Progressed)
    def _progressed(self, event: Progressed) -> None:
        if self._reading and not self.is_read:
            self.learned(progress=(event.done, event.total))

    def _report(self, done: int, total: int) -> bool:
        moment = monotonic()
        if moment - self._reported > _TELL_PROGRESS:
            self._reported = moment
            self.post_message(self.Progressed(done, total))
        return True

    @work(group="watch")
    async def watch_store(self) -> None:
        """Follow changes of the store for as long as the app runs."""
        while True:
            try:
                async for hint in self.team.watch():
                    self.post_message(self.StoreChanged(hint))
            except Exception as error:
                self.post_message(self.StoreChanged(WatchHint(WatchState.STALLED, reason_of(error))))
            await asyncio.sleep(self.WATCH_AGAIN)
