"""The console application: it wires the team, the reader and the screen, and leaves the terminal as it was."""

from __future__ import annotations

import asyncio
import sys
from asyncio import Future, TimerHandle
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import takewhile
from time import monotonic
from typing import Any, ClassVar

from msgspec.structs import replace
from team_console.console.actions import BY_ID, configure_keys, usual_keys
from team_console.console.preferences import Preferences, load, mistakes_in_words
from team_console.console.selection import ActionContext
from team_console.console.tui.crash_guard import ContainedApp
from team_console.console.tui.drafts import Drafts, LastVisit
from team_console.console.tui.keys import KeyQueue
from team_console.console.tui.main import MainScreen
from team_console.console.tui.notices import Notifier
from team_console.console.tui.reader import Pace, ReadResult, StoreReader
from team_console.console.tui.textual_fixes import unbind, write_to_terminal
from team_console.console.tui.themes import TERMINAL, THEMES, first_theme, native_colours
from team_console.console.tui.words import ScreenState, reason_of
from team_console.store.backends.open import open_team
from team_console.store.contract.team import STARTING, Team, WatchHint, WatchState
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message as StoreMessage
from team_console.store.model.names import USER
from team_console.store.model.safe import counted
from team_console.store.protocol.client_requests import asker_of
from team_console.store.service.caller import Caller
from team_console.store.service.waiting import announce_presence, human_present
from team_console.store.views.rows import Flag, View
from team_console.store.views.status import is_in_the_way
from team_console.widgets.later import later
from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.css.stylesheet import Stylesheet
from textual.message import Message


class PatientStylesheet(Stylesheet):
    """A stylesheet that is read when it is first asked for its rules: the theme is chosen before the start."""

    def reparse(self) -> None:
        """Read the styles again, with other variables; nothing yet where they wait to be read for the first time."""
        if not self._require_parse:
            super().reparse()


BESIDE = 1.0
"""Seconds until a look when only lock and ledger changed: a write has begun, whose messages come first, or is over."""
_PERFORM = "screen.perform('"
"""The beginning of what a key does that is bound while the console runs."""
_TELL_PROGRESS = 0.1
"""Seconds between two words on how far a long reading is."""
LOCK_WAIT = 2.0
"""Seconds a write in the console waits for the lock (decision D7)."""
TICK = 10.0
"""Seconds between two looks at the clock, for ages, and at the store: nothing tells that somebody takes its lock."""
_TURN = 0.001
"""Seconds after which a reading in its thread lets a key have its turn; Python's own five are felt with each key."""
LEFT_BEHIND = 1.0
"""Seconds between two looks whether those who wait for an answer are still there."""
HOLDER_LOOK = 1.0
"""Seconds until the next look while somebody holds the lock or the store could not be read."""


_TOGETHER = 0.5
"""Seconds in which news is gathered before it is told."""
_SOON = 0.05
"""Seconds after the end of a request at which the clock is sure to have come there."""
IDLE = 900.0
"""Seconds without a key after which the human is told what happened meanwhile."""


class ConsoleApp(ContainedApp[int]):
    """The human's seat at one team: it reads the team whenever `look` is called or the store changed."""

    ENABLE_COMMAND_PALETTE = True
    TITLE = "team-console"
    CSS_PATH = "console.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Quit", show=False, priority=True)]

    WATCH_AGAIN: ClassVar[float] = 5.0
    """Seconds until a watch that ended is begun again."""

    @dataclass
    class StoreChanged(Message):
        """Look again; many of these are one."""

        hint: WatchHint | None = None

        def can_replace(self, message: Message) -> bool:
            """A newer hint says all that an older one did, unless it is of less."""
            return isinstance(message, ConsoleApp.StoreChanged) and (self.is_beside or not message.is_beside)

        @property
        def is_beside(self) -> bool:
            """Whether no message came or went."""
            return self.hint is not None and self.hint.beside and not self.hint.notes

    @dataclass
    class Progressed(Message):
        """A long reading goes on."""

        done: int
        total: int

        def can_replace(self, message: Message) -> bool:
            """Only the latest progress is of interest."""
            return isinstance(message, ConsoleApp.Progressed)

    def __init__(self, team: Team, *, me: str, read_only: bool = False, reader: StoreReader | None = None) -> None:
        super().__init__(ansi_color=native_colours())
        self.team, self.reader = team, reader or StoreReader(team, me)
        team.look_wait = LOCK_WAIT
        self._pace = Pace()
        self._reading = self._again = self._urgent = self._has_read = False
        self._later: dict[str, TimerHandle] = {}
        self._reported = self._key_at = 0.0
        self._asked = self._begun = self._ended = 0
        self.read_only = read_only or team.read_only
        self.drafts = Drafts(team.location, me, enabled=not self.read_only)
        checked = load(usual_keys())
        self.preferences, self._mistakes = checked.preferences, checked.mistakes
        self.last_visit = LastVisit(team.location, me, enabled=not self.read_only)
        self.next_team: str | None = None
        self._notifier = Notifier(
            self.preferences, partial(write_to_terminal, self), monotonic, read_only=self.read_only
        )
        self.main = MainScreen(
            self,
            Caller(team, me, LOCK_WAIT),
            self.drafts,
            read_only=self.read_only,
            preferences=self.preferences,
            last=self.last_visit.read(),
        )
        self.main.situation = ScreenState(root=str(team.root or ""))
        self._keys = KeyQueue(self, super().on_event, self.frames)
        for theme in (*THEMES, *TERMINAL):
            self.register_theme(theme)
        self.stylesheet = PatientStylesheet(variables=self.theme_variables)
        self.theme = first_theme(self.console.color_system, self.preferences.theme)

    def take_preferences(self, preferences: Preferences) -> None:
        """Make what the human chose hold from now on."""
        if preferences.theme != self.preferences.theme:
            self.theme = first_theme(self.console.color_system, preferences.theme)
        self.preferences = self._notifier.preferences = preferences
        self._take_keys()

    def _take_keys(self) -> None:
        """Bind the keys that the human chose, and those of own commands; keys that are given up do nothing any more."""
        chosen = {name: ",".join(keys) for name, keys in self.preferences.keys.items()}
        configure_keys(self.preferences.keys)
        self.set_keymap({name: keys for name, keys in chosen.items() if BY_ID[name].keys})
        unbind(self, _PERFORM)
        for name, keys in chosen.items():
            if not BY_ID[name].keys:  # the toolkit's keymap knows those alone that have a key
                self.bind(keys, f"{_PERFORM}{name}')", show=False)
        for number, command in enumerate(self.preferences.commands):
            self.bind(command.key, f"{_PERFORM}own:{number}')", description=command.name, show=False)

    def perform(self, name: str, context: ActionContext) -> None:
        """Do an action of the registry, or the human's own command `own:NUMBER`, on what it is about."""
        from team_console.console.tui.commands import HANDLERS, run_own  # the first picture does not wait for them

        if name.startswith("own:"):
            run_own(self.main, context, self.preferences.commands[int(name.removeprefix("own:"))])
        else:
            HANDLERS[name](self.main, context)

    def action_command_palette(self) -> None:
        """Everything by its name: ours, and not the toolkit's."""
        self.main.action_perform("palette")

    def get_default_screen(self) -> MainScreen:
        """Return the one screen."""
        return self.main

    def on_mount(self) -> None:
        """Begin to read at once; watch when there is something to see."""
        self.app_resume_signal.subscribe(self, lambda _: self.redraw())
        # At once: an agent would wait for its verdict for as long as an editor is open or the process is stopped.
        self.app_suspend_signal.subscribe(self, lambda _: self.main.pending_decisions.write_here(), immediate=True)
        self._take_keys()
        self.call_after_refresh(self._tell_of_mistakes)
        self.begin_to_read()
        self.set_interval(TICK, self._tick)

    def _tell_of_mistakes(self) -> None:
        """Say what is wrong in the user's settings; what is right in them holds all the same."""
        if self._mistakes:
            self.main.toast(mistakes_in_words(self._mistakes), severity="warning")

    def switch_team(self, location: str) -> None:
        """Leave this team for another one.

        Raises:
            TeamError: There is no such team, or it cannot be opened.
        """
        team = open_team(location, read_only=self.read_only)
        try:
            team.config()
        finally:
            team.close()
        self.next_team = location
        self.exit(0)

    def exit(self, *arguments: Any, **options: Any) -> None:
        """Leave; when that was is kept for next time."""
        with suppress(Exception):
            self.last_visit.keep(self.main.visit)
            self._notifier.close()
        super().exit(*arguments, **options)

    async def on_event(self, event: events.Event) -> None:
        """Let what comes from a hand take effect one by one, in its order."""
        if not self._keys.takes(event):
            await super().on_event(event)
            return
        moment = monotonic()
        if self._key_at and moment - self._key_at > IDLE:
            self.main.absence.came_back(moment - self._key_at)
        self._key_at = moment
        await self._keys.take(event)

    def keep_typed(self) -> None:
        """See `ContainedApp.keep_typed`."""
        if self.main.form is not None:
            self.main.form.keep()

    def write_decided(self) -> list[str]:
        """See `ContainedApp.write_decided`; drafts are written, too."""
        lost = self.main.pending_decisions.flush()
        self.drafts.flush()
        return lost

    def action_help_quit(self) -> None:
        """Say how to leave: the toolkit would say it in its own words, and they lie over the text."""
        self.main.toast("ctrl+q leaves; what you typed is kept")

    def where(self) -> str:
        """Return the mode that is shown."""
        return f"mode {self.main.lists.mode}"

    def redraw(self) -> None:
        """Forget what the terminal shows, and look again."""
        self.canvas.forget()
        self.refresh(layout=True)
        self.look(back=True)

    def on_resize(self, event: events.Resize) -> None:
        """A terminal that was resized shows nothing that is known, even where it has the size again that it had."""
        self.canvas.forget()
        self.refresh()

    # Following the store: one reading at a time, at the pace the machine bears.

    @property
    def is_behind(self) -> bool:
        """Whether a reading that was asked for is not on the screen yet."""
        return self._ended < self._asked

    @property
    def situation(self) -> ScreenState:
        """The state of the store as far as it is known."""
        return self.main.situation

    def _wait(self, name: str, seconds: float | None, function: Callable[[], None], *, anew: bool = False) -> None:
        """Call `function` in so many seconds, unless something of that name waits already; None for never.

        `anew` lets go of what waits.
        """
        if name in self._later:
            if not anew:
                return
            self._later.pop(name).cancel()

        def due() -> None:
            self._later.pop(name, None)
            function()

        if seconds is not None:
            self._later[name] = later(self, seconds, due)

    def begin_to_read(self) -> None:
        """Show what is at hand, so that it is in the first picture, and look at the store."""
        self.reader.tell = self._report
        reading = self.reader.at_hand()
        if reading is not None:
            self.learned(reading=reading, looked_at=reading.snapshot.taken_at, good_at=reading.snapshot.taken_at)
        self.look()

    def look(self, *, back: bool = False) -> None:
        """Look at the store again now, with `back` at its archives too."""
        if back:
            self.reader.look_back()
        self._asked += 1
        self.post_message(self.StoreChanged())

    @on(StoreChanged)
    def _changed(self, event: StoreChanged) -> None:
        if event.hint is not None:
            self.hinted(event.hint)
        if event.is_beside and not self.shows_lock:
            self._wait("beside", BESIDE, self.look)  # when the next reading would not have seen it anyway
        elif self._reading:
            self._again, self._urgent = True, self._urgent or event.hint is None
        elif event.hint is None or not self._pace.rest:
            self._begin_reading()
        else:
            self._read_later()

    def _begin_reading(self) -> None:
        self._wait("beside", None, self.look, anew=True)
        self._reading, self._urgent = True, False
        self._begun = self._asked
        self._pace.begin()
        # Not a worker of Textual's: its states are messages, and all of them take longer than a short reading.
        reading = asyncio.get_running_loop().run_in_executor(None, self.reader.read)
        reading.add_done_callback(self._read_ended)

    def _read_later(self) -> None:
        """Read once the processor had its rest from the reading before."""
        self._wait("rest", self._pace.rest, self.look)

    @property
    def _goes_on(self) -> bool:
        """Whether the app is not being left."""
        return self.is_running and not self._exit

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
        """Note that the last reading is on the screen."""
        if self._reading:
            return
        self._pace.end()
        if self._again:
            self._again = False
            self.look() if self._urgent else self._read_later()

    @on(Progressed)
    def _progressed(self, event: Progressed) -> None:
        if self._reading and not self.is_read:
            self.learned(progress=(event.done, event.total))

    def _report(self, done: int, total: int) -> bool:
        moment = monotonic()
        if moment - self._reported > _TELL_PROGRESS:
            self._reported = moment
            self.post_message(self.Progressed(done, total))
        return self._goes_on

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

    @property
    def is_read(self) -> bool:
        """Whether all of the store is shown, not only its newest messages."""
        return self.situation.is_read

    @property
    def shows_lock(self) -> bool:
        """Whether it is shown that somebody holds the lock, so that its end is news."""
        holder = self.situation.snapshot.holder if self.situation.snapshot is not None else None
        return holder is not None and is_in_the_way(holder, self.team.clock())

    def hinted(self, hint: WatchHint) -> None:
        """Take notice of how changes are noticed."""
        known = self.situation.watch
        if hint.reason != STARTING and (hint.state, hint.reason) != (known.state, known.reason):
            self.learned(watch=hint)

    def saw(self, reading: ReadResult, *, first: bool) -> None:
        """Show what was read, unless a later reading was shown already."""
        if not first and self.situation.reading is not None and reading.number < self.situation.reading.number:
            return
        now = self.team.clock()
        good = now if reading.fresh else self.situation.good_at
        self.learned(reading=reading, progress=None, failure="", looked_at=now, good_at=good)
        # Somebody holds the lock; a write that is over needs no further look.
        self._wait("holder", HOLDER_LOOK if reading.snapshot.holder is not None else None, self.look, anew=True)
        self._look_when_one_ends(reading.view if reading.fresh else None, now)
        self._watch_askers()
        self._tell_news(reading.view)
        if first:
            self.call_after_refresh(self.watch_store)

    def _tell_news(self, view: View | None) -> None:
        """Tell of new decisions, what comes within a while together."""
        self._notifier.take(view, self._team_name)
        seconds = self._notifier.seconds_left()
        if seconds is not None:
            tell = lambda: self._notifier.tell(self._team_name)  # noqa: E731
            self._wait("news", max(_TOGETHER, seconds), tell)

    @property
    def _team_name(self) -> str:
        snapshot = self.situation.snapshot
        return snapshot.config.name if snapshot is not None else "team-console"

    def _look_when_one_ends(self, view: View | None, now: datetime) -> None:
        """Schedule a look for the moment when the next request expires, so that it leaves the list in time.

        Nothing leaves a view that is kept because the store cannot be read: a look for that would follow another.
        """
        waiting = takewhile(lambda row: row.is_open, view.requests if view is not None else ())
        end = min((row.expires_at for row in waiting if row.expires_at is not None), default=None)
        seconds = max(0.0, (end - now).total_seconds()) + _SOON if end is not None else None
        self._wait("end", seconds, self.look, anew=True)

    def failed(self, error: BaseException) -> None:
        """Say that the store could not be read."""
        self.learned(failure=reason_of(error))
        self._wait("failed", HOLDER_LOOK, self.look)

    def learned(self, **known: Any) -> None:
        """Show what is known of the store now, with what was known before."""
        situation, now = replace(self.situation, **known), self.team.clock()
        if self.main.is_mounted:
            with suppress(NoMatches):  # a reading may end while the screen is being taken down
                self.main.show(situation, now)
        else:
            self.main.situation, self.main.now = situation, now

    def _watch_askers(self, *, is_due: bool = False) -> None:
        """End requests whose asker has ended, and agents that were asked to stop and kept silent for too long.

        Nobody would carry out an answer to such a request. At rest, while nothing of both waits, no clock runs.
        """
        view = self.main.view
        rows = view.requests if view is not None and not self.main.cannot_write else ()
        waiting = takewhile(lambda row: row.is_open, rows)
        questions = {row.request_id: row.question for row in waiting if asker_of(row.question.payload)}
        if questions or any(Flag.STOPPING in row.flags for row in rows):
            if is_due:
                self._end(questions)
            self._wait("askers", LEFT_BEHIND, partial(self._watch_askers, is_due=True))

    @work(thread=True, exclusive=True, exit_on_error=False, group="withdraw")
    def _end(self, questions: Mapping[str, StoreMessage]) -> None:
        from team_console.store.service.agents import finish_due  # the first picture does not wait for these
        from team_console.store.service.sessions import end_orphaned_requests

        with suppress(TeamError):  # the next look tries again
            end_orphaned_requests(self.main.caller, questions)
            if (view := self.main.view) is not None:
                finish_due(self.main.caller, view.snapshot)

    def _tick(self) -> None:
        self.look()
        if self.main.is_mounted:
            with suppress(NoMatches):
                self.main.tick(self.team.clock())


def run_console(
    team: Team,
    *,
    me: str | None = None,
    read_only: bool = False,
    reader: StoreReader | None = None,
) -> int:
    """Run the console on `team`, and on those that are gone to from there, until it is left.

    Args:
        me: Who sits there, in every team; None for the lead of each. A name that was given is never exchanged for
            another: an agent, whose process is bound to its name, would become the lead of a team it is not in.
        reader: What reads `team`, if that began already.

    Returns:
        The exit status.
    """
    sys.setswitchinterval(_TURN)
    with ExitStack() as opened:
        while True:
            # guard: seat-in-another-team
            seat = me or team.config().lead
            app = ConsoleApp(team, me=seat, read_only=read_only, reader=reader)
            with announce_presence(team) if _may_answer(app, seat) else nullcontext():
                status = app.run_to_the_end()[1]
            if app.next_team is None and not status and _may_answer(app, seat):
                _say_what_waits(team)
            opened.close()
            if app.next_team is None:
                return status
            team, reader = opened.enter_context(closing(open_team(app.next_team, read_only=read_only))), None


def _say_what_waits(team: Team) -> None:
    """Say how many requests of sessions wait while the last console closes, and what becomes of them."""
    from team_console.store.service.sessions import open_requests  # 10 ms, when there is time for it

    waiting = [asked for asked in open_requests(team.snapshot()).values() if asker_of(asked.payload)]
    if waiting and not human_present(team):
        text = (
            f"{counted(len(waiting), 'request')} waited for you. What stands in the terminal of its session, too, waits"
        )
        print(f"{text} there,\nand for a minute for a console; all else goes on as without one.", file=sys.stderr)


def _may_answer(app: ConsoleApp, me: str) -> bool:
    """Return whether agents may count on whoever sits here: somebody who may write, and whom they ask."""
    if app.read_only or app.team.obstacle():
        return False
    try:
        return me in (USER, app.team.config().lead)
    except TeamError:
        return False
