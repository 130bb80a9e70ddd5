"""The console application: it wires the team, the reader and the screen, and leaves the terminal as it was."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from functools import partial
from time import monotonic
from typing import Any, ClassVar

from team_console.console.actions import BY_ID, configure_keys, key_of_written
from team_console.console.preferences import Preferences, load_preferences, mistakes_in_words, wrong_environment
from team_console.console.selection import ActionContext
from team_console.console.tui.absence import LastVisit, Visit
from team_console.console.tui.drafts import Drafts
from team_console.console.tui.following import LookWanted, Progressed, StoreFollower
from team_console.console.tui.guarded_app import GuardedApp
from team_console.console.tui.key_queue import KeyQueue
from team_console.console.tui.main import HORIZONTAL, VERTICAL, MainScreen
from team_console.console.tui.notices import Notifier
from team_console.console.tui.reader import StoreReader
from team_console.console.tui.seat_presence import SeatPresence
from team_console.console.tui.situation import Situation
from team_console.console.tui.textual_fixes import unbind, write_to_terminal
from team_console.console.tui.themes import first_theme
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.safe import counted
from team_console.store.protocol.client_requests import asker_of
from team_console.store.service.caller import Caller
from team_console.store.service.waiting import human_present
from team_console.widgets.panel import KeyClicked
from textual import events, on
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches

_PERFORM = "screen.perform('"
"""The beginning of what a key does that is bound while the console runs."""
LOCK_WAIT = 2.0
"""Seconds a write in the console waits for the lock (decision D7)."""
TICK = 10.0
"""Seconds between two looks at the clock, for ages, and at the store: nothing tells that somebody takes its lock."""
_TURN_OF_A_THREAD = 0.001
"""Seconds after which a thread that reads lets a key have its turn: Python's own 5 ms can be felt with each key."""
IDLE = 900.0
"""Seconds without a key after which the human is told what happened meanwhile."""


class ConsoleApp(GuardedApp[int]):
    """The human's seat at one team: it reads the team whenever `look` is called or the store changed."""

    TITLE = "team-console"
    CSS_PATH = "console.tcss"
    HORIZONTAL_BREAKPOINTS = HORIZONTAL
    VERTICAL_BREAKPOINTS = VERTICAL
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Quit", show=False, priority=True)]

    def __init__(
        self,
        team: Team,
        *,
        me: str,
        read_only: bool = False,
        reader: StoreReader | None = None,
        is_temporary: bool = False,
    ) -> None:
        checked = load_preferences()
        super().__init__(checked.preferences.theme)
        self.team, self.reader = team, reader or StoreReader(team, me)
        team.look_wait = LOCK_WAIT
        self._last_key_at: tuple[float, datetime] | None = None
        self.read_only = read_only or team.read_only
        self.drafts = Drafts(team.location, me, enabled=not self.read_only)
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
        self.main.situation = Situation(root=str(team.root or ""), is_temporary=is_temporary)
        self.presence = SeatPresence(team, me, read_only=self.read_only)
        self.follower = StoreFollower(self, self.main, self.reader, self._notifier, self.presence)
        self._keys = KeyQueue(self, super().on_event, self.frames)

    def take_preferences(self, preferences: Preferences) -> None:
        """Make what the human chose hold from now on."""
        if preferences.theme != self.preferences.theme:
            self.theme = first_theme(self.console.color_system, preferences.theme)
        self.preferences = self._notifier.preferences = preferences
        self.follower.tell_news(self.main.view)
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
        """Show everything by its name: our list, and not the toolkit's."""
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
        self.follower.begin()
        self.set_interval(TICK, self._tick)

    def _tell_of_mistakes(self) -> None:
        """Say what is wrong in the user's settings; what is right in them holds all the same."""
        if self._mistakes:
            self.main.toast(mistakes_in_words(self._mistakes), severity="warning")
        if wrong := wrong_environment(self.preferences):
            self.main.toast(wrong, severity="warning")

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
        self.follower.is_left = True
        with suppress(Exception):
            self.last_visit.keep(Visit(self.team.clock(), self.main.cache.divider))
            self._notifier.close()
        super().exit(*arguments, **options)

    async def on_event(self, event: events.Event) -> None:
        """Let what comes from a hand take effect one by one, in its order."""
        if not self._keys.takes(event):
            await super().on_event(event)
            return
        moment, now = monotonic(), self.team.clock()
        if self._last_key_at is not None:
            before, then = self._last_key_at
            # The one clock stands still while the machine sleeps, the other may be set back.
            # guard: sleep-is-absence
            away = max(moment - before, (now - then).total_seconds())
            if away > IDLE:
                self.main.absence.tell_after_absence(away)
        self._last_key_at = moment, now
        await self._keys.take(event)

    @on(KeyClicked)
    async def _key_clicked(self, event: KeyClicked) -> None:
        await self._keys.click(key_of_written(event.key), event.widget)

    def keep_typed(self) -> None:
        """See `GuardedApp.keep_typed`; a form that is taken down has no fields any more."""
        # guard: form-taken-down-keeps-nothing
        if self.return_code is None and self.main.form is not None:
            self.main.form.keep()

    def stopping(self) -> None:
        """Let no agent count on a human whose console stands still."""
        self.presence.pause()

    def going_on(self) -> None:
        """Let agents count on the human again."""
        self.presence.resume()

    def write_decided(self) -> list[str]:
        """See `GuardedApp.write_decided`; drafts are written, too."""
        lost = self.main.pending_decisions.flush()
        self.drafts.flush()
        return lost

    def unwritten(self) -> list[str]:
        """See `GuardedApp.unwritten`."""
        return self.main.pending_decisions.unwritten

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
        self.look(archives=True)

    def on_resize(self, event: events.Resize) -> None:
        """Forget what the terminal shows: one that was resized may show anything, even where it has its former size."""
        self.canvas.forget()
        self.refresh()

    # Following the store.

    @property
    def is_behind(self) -> bool:
        """Whether a reading that was asked for is not on the screen yet."""
        return self.follower.is_behind

    def look(self, *, archives: bool = False) -> None:
        """Look at the store again now, with `archives` at those too."""
        self.follower.look(archives=archives)

    @on(LookWanted)
    def _look(self) -> None:
        self.follower.changed()

    @on(Progressed)
    def _progressed(self, event: Progressed) -> None:
        self.follower.progressed(event)

    def _tick(self) -> None:
        """Look at the clock, its zone and the store, and let ages go on."""
        zone = time.tzname
        time.tzset()  # the human may be in another zone by now, and the C library looks only when it is told to
        self.look()
        if self.main.is_mounted:
            with suppress(NoMatches):
                self.main.tick(self.team.clock())
                if time.tzname != zone:
                    self.main.show_again()


def run_console(
    team: Team,
    *,
    me: str | None = None,
    read_only: bool = False,
    reader: StoreReader | None = None,
    is_temporary: bool = False,
) -> int:
    """Run the console on `team`, and on those that are gone to from there, until it is left.

    Args:
        me: Who sits there, in every team; None for the lead of each. A name that was given is never exchanged for
            another: an agent, whose process is bound to its name, would become the lead of a team it is not in.
        reader: What reads `team`, if that began already.
        is_temporary: Whether `team` is gone when the console is left.

    Returns:
        The exit status.
    """
    sys.setswitchinterval(_TURN_OF_A_THREAD)
    with ExitStack() as opened:
        while True:
            # guard: seat-in-another-team
            seat = me or team.config().lead
            app = ConsoleApp(team, me=seat, read_only=read_only, reader=reader, is_temporary=is_temporary)
            with app.presence:
                status = app.run_to_the_end()[1]
            if app.next_team is None and not status and app.presence.may_answer:
                _say_what_is_unanswered(team)
            opened.close()
            if app.next_team is None:
                return status
            team, reader = opened.enter_context(closing(open_team(app.next_team, read_only=read_only))), None
            is_temporary = False


def _say_what_is_unanswered(team: Team) -> None:
    """Say how many requests of sessions wait while the last console closes, and what becomes of them."""
    from team_console.store.service.sessions import open_requests  # 10 ms, when there is time for it

    waiting = [asked for asked in open_requests(team.snapshot()).values() if asker_of(asked.payload)]
    if waiting and not human_present(team):
        print(f"You left {counted(len(waiting), 'request')} unanswered.", file=sys.stderr)
        print("What also shows in the terminal of its session can be answered there, or for a minute", file=sys.stderr)
        print("in a console; everything else goes on as when no console is open.", file=sys.stderr)
