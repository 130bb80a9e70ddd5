"""The bars around the list: head, banner, seconds left to undo, and keys, each as it is now."""

from __future__ import annotations

from time import monotonic

from team_console.console.actions import BY_ID, FOOTER_END, FOOTER_WHILE_READING, actions_in, shown_key
from team_console.console.selection import Mode
from team_console.console.tui.freshness import notice_of, pulse_of
from team_console.console.tui.pending_decisions import PendingDecisions
from team_console.console.tui.screen_protocols import MainScreenProtocol
from team_console.console.tui.tabs import places_with_something, tabs_of
from team_console.store.model.safe import safe_line
from team_console.widgets.bars import Banner, Head, HeadFacts, KeyBar, KeyHint, UndoBar
from textual.timer import Timer

_KEYS_OF_SEARCH = (KeyHint("enter", "keep the words"), KeyHint("esc", "end the search"))
"""Keys while words to filter by, or to look for in what is read, are typed: all others are letters."""


class ScreenBars:
    """The bars around the list.

    Attributes:
        busy: What is going on, for the head; empty for nothing.
    """

    def __init__(self, screen: MainScreenProtocol, pending: PendingDecisions) -> None:
        self._screen, self._pending = screen, pending
        self.head, self.banner = Head(id="head"), Banner(id="banner")
        self.undo, self.keys = UndoBar(id="grace"), KeyBar(id="keys")
        self.busy = ""
        self._places: frozenset[Mode] = frozenset()
        self._counting: Timer | None = None

    def show(self) -> None:
        """Show head and banner as they are now."""
        screen = self._screen
        situation, now, mode = screen.situation, screen.now, screen.lists.mode
        view = situation.view
        me = safe_line(screen.caller.actor, 40)
        self._places |= places_with_something(view) | {mode.place}
        facts = HeadFacts(
            safe_line(situation.snapshot.config.name if situation.snapshot else "team-console", 40),
            "" if screen.read_only else me,
            pulse_of(situation, now),
            screen.cannot_write,
            self._position_words(),
            self.busy,
        )
        tabs = tabs_of(view, self._places, watched=me if screen.read_only else "")
        self.head.show(tabs, str(mode.place), facts)
        self.banner.show(notice_of(situation, now))

    def _position_words(self) -> str:
        """Return the position among the things to read; empty in a list."""
        pane = self._screen.lists.front
        here, number = pane.chosen_from.position if pane.is_reading else (0, 0)
        return f"{here:,} of {number:,}" if number else ""

    def show_keys(self) -> None:
        """Show the keys that do something to what is chosen; none while something in front has its own."""
        screen = self._screen
        if not screen.is_mounted:
            return
        is_filtering = screen.lists.front.search.is_open
        self.keys.display = screen.is_in_front or is_filtering  # a form has keys of its own, and the row
        if not screen.is_in_front or is_filtering:
            self.keys.show(_KEYS_OF_SEARCH)
            return
        context = screen.context()
        here = (action for action in actions_in(context.mode, read_only=screen.cannot_write) if action.footer)
        if context.is_reading:
            here = (BY_ID[name] for name in FOOTER_WHILE_READING if not (screen.cannot_write and BY_ID[name].writes))
        usable = (action for action in here if shown_key(action) and action.disabled(context) is None)
        hints = tuple(KeyHint(shown_key(action), action.label_on(context)) for action in usable)
        hints = (KeyHint("space", "page"), *hints) if context.is_reading else hints
        names = ("back", "help") if context.is_reading else FOOTER_END
        self.keys.show(hints, tuple(KeyHint(shown_key(BY_ID[name]), BY_ID[name].label) for name in names))

    def count_down(self) -> None:
        """Show the pending decisions and the seconds left, again each second while one is pending."""
        last = self._pending.last
        if last is None:
            self.undo.show("", 0)
            if self._counting is not None:
                self._counting.stop()
                self._counting = None
            return
        more = len(self._pending) - len(last.pending.writes)
        self.undo.show(safe_line(last.pending.words, 200), max(0, round(last.due - monotonic())), more=more)
        if self._counting is None:
            self._counting = self.undo.set_interval(1.0, self.count_down)
