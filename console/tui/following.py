"""Following the store: one reading at a time, at the pace the machine bears, and what each reading brings about."""

from __future__ import annotations

import asyncio
from asyncio import Future, TimerHandle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import takewhile
from time import monotonic, process_time
from typing import Any

from msgspec.structs import replace
from team_console.console.tui.guarded_app import GuardedApp
from team_console.console.tui.main import MainScreen
from team_console.console.tui.notices import Notifier
from team_console.console.tui.outcomes import reason_of
from team_console.console.tui.reader import ReadResult, StoreReader
from team_console.console.tui.seat_presence import SeatPresence
from team_console.console.tui.situation import Situation
from team_console.console.tui.textual_fixes import call_later_on, start_worker
from team_console.store.contract.team import STARTING, WatchHint, WatchState
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message as StoreMessage
from team_console.store.protocol.client_requests import asker_of
from team_console.store.views.rows import Flag, View
from team_console.store.views.status import is_in_the_way
from textual.css.query import NoMatches
from textual.message import Message

_REST = 2.0
"""Seconds of rest for each second of processor time a reading took with its painting: a third of a core at most."""
_LONGEST = 1.0
"""Seconds a change waits at most for that."""


class Pace:
    """Space the readings under a stream of changes: say how long the next one should wait."""

    def __init__(self, clock: Callable[[], float] = monotonic, used: Callable[[], float] = process_time) -> None:
        """`clock` is in seconds that only go forward, `used` in seconds of processor time of this process."""
        self._clock, self._used = clock, used
        self._before = used()
        self._until = float("-inf")

    def begin(self) -> None:
        """Note that a reading begins."""
        self._before = self._used()

    def end(self) -> None:
        """Note that the reading was painted."""
        self._until = self._clock() + min(_LONGEST, _REST * (self._used() - self._before))

    @property
    def rest(self) -> float:
        """Seconds until the next reading, 0 when it may begin."""
        return max(0.0, self._until - self._clock())


BESIDE = 1.0
"""Seconds until a look when only lock and trail changed: a write has begun, whose messages come first, or is over."""
_PROGRESS_APART = 0.1
"""Seconds between two words on how far a long reading is."""
LEFT_BEHIND = 1.0
"""Seconds between two looks whether those who wait for an answer are still there."""
HOLDER_LOOK = 1.0
"""Seconds until the next look while somebody holds the lock or the store could not be read."""
_TOGETHER = 0.5
"""Seconds in which news is gathered before it is told."""
_SOON = 0.05
"""Seconds after the end of a request at which the clock is sure to have come there."""
WATCH_AGAIN = 5.0
"""Seconds until a watch that ended is begun again."""


class LookWanted(Message):
    """Asks for a look at the store; many of these are one."""

    def can_replace(self, message: Message) -> bool:
        """Keep the latest alone."""
        return isinstance(message, LookWanted)


@dataclass
class Progressed(Message):
    """A long reading goes on."""

    done: int
    total: int

    def can_replace(self, message: Message) -> bool:
        """Keep the latest progress alone."""
        return isinstance(message, Progressed)


class StoreFollower:
    """Reads the store of one console whenever `look` is called or it changed, and shows what was read.

    Attributes:
        is_left: Whether the console is being left, so that nothing is read any more.
    """

    def __init__(
        self,
        app: GuardedApp[Any],
        main: MainScreen,
        reader: StoreReader,
        notifier: Notifier,
        presence: SeatPresence,
    ) -> None:
        self._app, self._main, self._reader, self._notifier = app, main, reader, notifier
        self._presence = presence
        self._team = main.caller.team
        self.is_left = False
        self._pace = Pace()
        self._is_reading = self._must_read_again = self._is_urgent = self._has_read = False
        self._later: dict[str, TimerHandle] = {}
        """What was put off, by a name for each reason, so that it waits only once."""
        self._progress_told_at = 0.0
        self._looks_asked = self._looks_begun = self._looks_shown = 0
        """How many looks were asked for, how many of those a reading covers, and how many of those are shown."""

    @property
    def is_behind(self) -> bool:
        """Whether a reading that was asked for is not on the screen yet."""
        return self._looks_shown < self._looks_asked

    @property
    def _situation(self) -> Situation:
        """The state of the store as far as it is known."""
        return self._main.situation

    def _call_later(
        self, name: str, seconds: float | None, function: Callable[[], None], *, anew: bool = False
    ) -> None:
        """Call `function` in so many seconds, unless something of that name waits already; None for never.

        `anew` lets go of what waits under the name.
        """
        if name in self._later:
            if not anew:
                return
            self._later.pop(name).cancel()

        def due() -> None:
            self._later.pop(name, None)
            function()

        if seconds is not None:
            self._later[name] = call_later_on(self._app, seconds, due)

    def begin(self) -> None:
        """Show what is at hand, so that it is in the first picture, and look at the store."""
        self._reader.tell = self._tell_progress
        reading = self._reader.first_if_read()
        if reading is not None:
            self._show_known(
                reading=reading, looked_at=reading.snapshot.taken_at, shown_read_at=reading.snapshot.taken_at
            )
        self.look()

    def look(self, *, archives: bool = False) -> None:
        """Look at the store again now, with `archives` at those too."""
        if archives:
            self._reader.ask_for_archives()
        self._looks_asked += 1
        self._app.post_message(LookWanted())

    def changed(self, hint: WatchHint | None = None) -> None:
        """Read again because something changed, now or when the machine bears it; now where a look is wanted."""
        if hint is not None:
            self._note_hint(hint)
            only_lock_or_trail = hint.beside and not hint.notes  # no message came or went
            if only_lock_or_trail and not self._shows_lock:
                self._call_later("beside", BESIDE, self.look)  # when the next reading would not have seen it anyway
                return
        if self._is_reading:
            self._must_read_again, self._is_urgent = True, self._is_urgent or hint is None
        elif hint is None or not self._pace.rest:
            self._begin_reading()
        else:
            self._read_later()

    def _begin_reading(self) -> None:
        self._call_later("beside", None, self.look, anew=True)
        self._is_reading, self._is_urgent = True, False
        self._looks_begun = self._looks_asked
        self._pace.begin()
        # Not a worker of Textual's: its states are messages, and all of them take longer than a short reading.
        reading = asyncio.get_running_loop().run_in_executor(None, self._reader.read)
        reading.add_done_callback(self._read_ended)

    def _read_later(self) -> None:
        """Read once the processor had its rest from the reading before."""
        self._call_later("rest", self._pace.rest, self.look)

    @property
    def _goes_on(self) -> bool:
        """Whether the app is not being left."""
        return self._app.is_running and not self.is_left

    def _read_ended(self, reading: Future[ReadResult]) -> None:
        """Show what a reading saw, then read again if more changed meanwhile."""
        error = asyncio.CancelledError() if reading.cancelled() else reading.exception()
        if not self._goes_on:
            return
        self._is_reading, self._looks_shown = False, self._looks_begun
        self._app.call_after_refresh(self._note_painted)
        if error is None:
            first, self._has_read = not self._has_read, True
            self._show_reading(reading.result(), first=first)
        else:
            self._show_failure(error)
            if not isinstance(error, TeamError | OSError | asyncio.CancelledError):
                self._app.report(error)

    def _note_painted(self) -> None:
        """Note that the last reading is on the screen."""
        if self._is_reading:
            return
        self._pace.end()
        if self._must_read_again:
            self._must_read_again = False
            self.look() if self._is_urgent else self._read_later()

    def progressed(self, event: Progressed) -> None:
        """Show how far the first reading of the whole store is."""
        if self._is_reading and not self._situation.is_read:
            self._show_known(progress=(event.done, event.total))

    def _tell_progress(self, done: int, total: int) -> bool:
        """Tell, from the thread that reads, how far it is; return whether it is to go on."""
        moment = monotonic()
        if moment - self._progress_told_at > _PROGRESS_APART:
            self._progress_told_at = moment
            self._app.post_message(Progressed(done, total))
        return self._goes_on

    async def _watch(self) -> None:
        """Follow changes of the store for as long as the app runs."""
        while True:
            try:
                async for hint in self._team.watch():
                    self.changed(hint)
            except Exception as error:
                self.changed(WatchHint(WatchState.STALLED, reason_of(error)))
            await asyncio.sleep(WATCH_AGAIN)

    @property
    def _shows_lock(self) -> bool:
        """Whether it is shown that somebody holds the lock, so that its end is news."""
        holder = self._situation.snapshot.holder if self._situation.snapshot is not None else None
        return holder is not None and is_in_the_way(holder, self._team.clock())

    def _note_hint(self, hint: WatchHint) -> None:
        """Take notice of how changes are noticed."""
        known = self._situation.watch
        if hint.reason != STARTING and (hint.state, hint.reason) != (known.state, known.reason):
            self._show_known(watch=hint)

    def _show_reading(self, reading: ReadResult, *, first: bool) -> None:
        """Show what was read, unless a later reading was shown already."""
        if not first and self._situation.reading is not None and reading.number < self._situation.reading.number:
            return
        self._presence.follow(reading)
        now = self._team.clock()
        good = now if reading.is_fresh else self._situation.shown_read_at
        self._show_known(reading=reading, progress=None, failure="", looked_at=now, shown_read_at=good)
        # Somebody holds the lock; a write that is over needs no further look.
        self._call_later("holder", HOLDER_LOOK if reading.snapshot.holder is not None else None, self.look, anew=True)
        self._look_when_one_ends(reading.view if reading.is_fresh else None, now)
        self._watch_askers()
        self.tell_news(reading.view)
        if first:
            self._app.call_after_refresh(
                lambda: start_worker(self._app, self._watch, group="watch", exit_on_error=True)
            )

    def tell_news(self, view: View | None) -> None:
        """Tell of new decisions, what comes within a while together."""
        self._notifier.take(view, self._team_name)
        seconds = self._notifier.seconds_left()
        if seconds is not None:
            tell = lambda: self._notifier.tell(self._team_name)  # noqa: E731
            self._call_later("news", max(_TOGETHER, seconds), tell)

    @property
    def _team_name(self) -> str:
        snapshot = self._situation.snapshot
        return snapshot.config.name if snapshot is not None else "team-console"

    def _look_when_one_ends(self, view: View | None, now: datetime) -> None:
        """Schedule a look for the moment when the next request expires, so that it leaves the list in time.

        Nothing leaves a view that is kept because the store cannot be read: a look for that would follow another.
        """
        waiting = takewhile(lambda row: row.is_open, view.requests if view is not None else ())
        end = min((row.expires_at for row in waiting if row.expires_at is not None), default=None)
        seconds = max(0.0, (end - now).total_seconds()) + _SOON if end is not None else None
        self._call_later("end", seconds, self.look, anew=True)

    def _show_failure(self, error: BaseException) -> None:
        """Say that the store could not be read."""
        self._show_known(failure=reason_of(error))
        self._call_later("failed", HOLDER_LOOK, self.look)

    def _show_known(self, **known: Any) -> None:
        """Show what is `known` of the store now, by fields of `Situation`, with what was known before."""
        situation, now = replace(self._situation, **known), self._team.clock()
        if self._main.is_mounted:
            with suppress(NoMatches):  # a reading may end while the screen is being taken down
                self._main.show(situation, now)
        else:
            self._main.situation, self._main.now = situation, now

    def _watch_askers(self, *, is_due: bool = False) -> None:
        """End requests whose asker has ended, and agents that were asked to stop and kept silent for too long.

        Nobody would carry out an answer to such a request. At rest, while nothing of both waits, no clock runs.
        """
        rows = () if self._main.cannot_write else self._situation.requests
        waiting = takewhile(lambda row: row.is_open, rows)
        questions = {row.request_id: row.question for row in waiting if asker_of(row.question.payload)}
        if questions or any(Flag.STOPPING in row.flags for row in rows):
            if is_due:
                end, group = partial(self._end_left_behind, questions), "withdraw"
                self._app.run_worker(
                    end, group=group, description=group, thread=True, exclusive=True, exit_on_error=False
                )
            self._call_later("askers", LEFT_BEHIND, partial(self._watch_askers, is_due=True))

    def _end_left_behind(self, questions: Mapping[str, StoreMessage]) -> None:
        from team_console.store.service.agents import finish_due  # the first picture does not wait for these
        from team_console.store.service.sessions import end_orphaned_requests

        with suppress(TeamError):  # the next look tries again
            end_orphaned_requests(self._main.caller, questions)
            if (view := self._main.view) is not None:
                finish_due(self._main.caller, view.snapshot)
