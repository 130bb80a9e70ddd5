"""The application that follows a store: one reading at a time, at the pace the machine bears, and what came of each."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from asyncio import Future, TimerHandle
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Any, ClassVar, TypeVar

from team_console.console.crash_guard import ContainedApp
from team_console.console.reader import Feed, Pace, ReadResult
from team_console.console.words import reason_of
from team_console.store.contract.team import Team, WatchHint, WatchState
from team_console.store.model.errors import TeamError
from team_console.widgets.later import later
from textual import on, work
from textual.message import Message

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
        self._resting: TimerHandle | None = None
        self._beside: TimerHandle | None = None
        self._reported = 0.0
        self._asked = self._begun = self._ended = 0
        self._has_read = False

    @property
    def is_behind(self) -> bool:
        """Whether a reading that was asked for is not on the screen yet."""
        return self._ended < self._asked

    @property
    @abstractmethod
    def is_read(self) -> bool:
        """Whether all of the store is shown, not only its newest messages."""

    @property
    @abstractmethod
    def shows_lock(self) -> bool:
        """Whether it is shown that somebody holds the lock, so that its end is news."""

    @abstractmethod
    def saw(self, sight: ReadResult, *, first: bool) -> None:
        """Show what was read; `first` when nothing was before."""

    @abstractmethod
    def failed(self, error: BaseException) -> None:
        """Say that the store could not be read."""

    @abstractmethod
    def learned(self, **known: Any) -> None:
        """Show what is known until all is read: the newest messages as `sight`, or the `progress`: done, total."""

    @abstractmethod
    def hinted(self, hint: WatchHint) -> None:
        """Take notice of how changes are noticed."""

    def begin_to_read(self) -> None:
        """Show what is at hand, so that it is in the first picture, and look at the store."""
        sight = self.feed.at_hand()
        if sight is not None:
            self.learned(sight=sight, looked_at=sight.snapshot.taken_at, good_at=sight.snapshot.taken_at)
        self.look()

    def look(self, *, back: bool = False) -> None:
        """Look at the store again now, with `back` at its archives too."""
        if back:
            self.feed.look_back()
        self._asked += 1
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
            self._beside = later(self, BESIDE, self.look)

    def _begin_reading(self) -> None:
        if self._beside is not None:
            self._beside.cancel()
            self._beside = None
        self._reading, self._urgent = True, False
        self._begun = self._asked
        self._pace.begin()
        # Not a worker of Textual's: its states are messages, and all of them take longer than a short reading.
        reading = asyncio.get_running_loop().run_in_executor(None, self._read)
        reading.add_done_callback(self._read_ended)

    def _read_later(self) -> None:
        """Read once the processor had its rest from the reading before."""
        if self._resting is None:
            self._resting = later(self, self._pace.rest, self._rested)

    def _rested(self) -> None:
        self._resting = None
        self.look()

    def _read(self) -> ReadResult:
        """One reading; in a thread."""
        if self._has_read:
            self.feed.deepen()
        elif (glimpse := self.feed.glimpse()) is not None:
            self.post_message(self.Glimpsed(glimpse, shown := Event()))
            shown.wait(GLIMPSE_WAIT)
        return self.feed.read(lambda done, total: self._report(done, total) and self._goes_on)

    @property
    def _goes_on(self) -> bool:
        """Whether the app is not being left."""
        return self._running and not self._exit

    def _read_ended(self, reading: Future[ReadResult]) -> None:
        """A reading ended: show what it saw, then read again if more changed meanwhile."""
        error = asyncio.CancelledError() if reading.cancelled() else reading.exception()
        if not self._goes_on:
            return
        self._reading, self._ended = False, self._begun
        self.call_after_refresh(self._painted)
        if error is None:
            first, self._has_read = not self._has_read, True
            self.saw(reading.result(), first=first)
        else:
            self.failed(error)
            if not isinstance(error, TeamError | OSError | asyncio.CancelledError):
                self.report(error)

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
                    self._changed(self.StoreChanged(hint))  # no message: the watch gathers what comes together
            except Exception as error:
                self.post_message(self.StoreChanged(WatchHint(WatchState.STALLED, reason_of(error))))
            await asyncio.sleep(self.WATCH_AGAIN)
