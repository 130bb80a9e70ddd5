"""The frame around the pane: status line, tabs, team, banners, tips, what is not written yet, and keys."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.app.faults import Fault
from team_console.console.app.unwritten import Unwritten
from team_console.console.display.screen_state import ScreenState, notice_of, pulse_of
from team_console.console.display.tabs import tabs_of
from team_console.console.display.team import Events, cells_of
from team_console.console.display.tips import step_of, tip_lines
from team_console.console.input.actions import BY_ID, PINNED, actions_in, shown_key
from team_console.console.input.reasons import alone
from team_console.console.input.subject import Mode, Subject
from team_console.store.model.safe import safe_line
from team_console.store.service.caller import Caller
from team_console.widgets.bars.banner import Banner, Notice, NoticeKind
from team_console.widgets.bars.grace_bar import GraceBar
from team_console.widgets.bars.key_bar import KeyBar, KeyHint
from team_console.widgets.bars.status_line import Standing, StatusLine
from team_console.widgets.bars.tab_bar import TabBar
from team_console.widgets.bars.tip_bar import TipBar
from team_console.widgets.team.column import TeamColumn
from team_console.widgets.team.strip import TeamStrip
from textual.screen import Screen
from textual.timer import Timer

_OF_THE_FILTER = (KeyHint("enter", "keep these rows"), KeyHint("esc", "all rows"))
"""Keys while words to filter by are typed: all others are letters."""


class Shown(Struct, frozen=True):
    """What the frame is drawn from.

    Attributes:
        cannot_write: Nothing can be written, by choice or for want of permissions.
        busy: What is going on; empty for nothing.
        has_column: There is room for the team as a column.
    """

    situation: ScreenState
    now: datetime
    mode: Mode
    cannot_write: bool
    busy: str
    has_column: bool


class _Bars(NamedTuple):
    """What the frame is made of."""

    status: StatusLine
    tabs: TabBar
    strip: TeamStrip
    banner: Banner
    fault: Banner
    column: TeamColumn
    tip: TipBar
    grace: GraceBar
    keys: KeyBar


class Frame:
    """Draws what stands around the pane of one screen.

    Attributes:
        tip: Which tip is shown, None for none.
    """

    def __init__(self, screen: Screen[Any], caller: Caller) -> None:
        self._screen, self._caller = screen, caller
        self._events = Events()
        self._counting: Timer | None = None
        self._keys_about: tuple[object, ...] = ()
        self.tip: int | None = None

    @cached_property
    def _bars(self) -> _Bars:
        part = self._screen.query_one
        return _Bars(
            part(StatusLine),
            part(TabBar),
            part(TeamStrip),
            part("#banner", Banner),
            part("#fault", Banner),
            part(TeamColumn),
            part(TipBar),
            part(GraceBar),
            part(KeyBar),
        )

    def show(self, shown: Shown) -> None:
        """Show all of it but the keys."""
        situation = shown.situation
        snapshot = situation.snapshot
        standing = Standing(
            team=safe_line(snapshot.config.name if snapshot else "team-console", 40),
            me=safe_line(self._caller.actor, 40),
            place=safe_line(self._caller.team.location, 300),
            pulse=pulse_of(situation, shown.now),
            read_only=shown.cannot_write,
            busy=shown.busy,
        )
        self._bars.status.show(standing)
        self._bars.tabs.show(tabs_of(situation.view if situation.is_read else None), str(shown.mode))
        self._bars.banner.show(notice_of(situation, shown.now))
        self._show_team(shown)

    def _show_team(self, shown: Shown) -> None:
        """The team: the strip always, the column where there is room for it."""
        view = shown.situation.view
        self._events.take(view)
        cells, events = cells_of(view), self._events.newest
        self._bars.strip.show(cells, events[0] if events else None)
        if shown.has_column:
            self._bars.column.show(cells, events, shown.now)

    def show_keys(self, subject: Subject, *, cannot_write: bool, is_filtering: bool = False) -> None:
        """The keys that do something to `subject`; none while something stands in front that has its own."""
        if self._screen.app.screen is not self._screen or is_filtering:
            self._keys_about = ()
            self._bars.keys.show(_OF_THE_FILTER if is_filtering else ())
            if is_filtering:
                self._show_tip(None)
            return
        self._show_tip(subject)
        about = _of_keys(subject, cannot_write=cannot_write)
        if about == self._keys_about:
            return
        self._keys_about = about
        here = (action for action in actions_in(subject.mode, read_only=cannot_write) if action.footer)
        usable = (action for action in here if action.disabled(subject) is None)
        hints = tuple(KeyHint(shown_key(action), action.label_on(subject)) for action in usable)
        pinned = tuple(KeyHint(shown_key(BY_ID[name]), BY_ID[name].label) for name in PINNED)
        self._bars.keys.show(hints, pinned)

    def _show_tip(self, subject: Subject | None) -> None:
        """What to try with `subject`; nothing while what is typed are letters."""
        if self.tip is None:
            return
        if subject is not None:
            self.tip = step_of(subject, self.tip)
        self._bars.tip.show(tip_lines(self.tip, subject) if subject is not None else ())

    def show_fault(self, fault: Fault) -> None:
        """Say that a part of the console failed and where that is logged; of several the first, the others follow."""
        banner = self._bars.fault
        if banner.notice is not None:
            return
        where = f" in {fault.where}" if fault.where else ""
        text = f"a part of the console failed ({fault.kind}{where}); the rest goes on"
        place = f"Where, but no message, is in {safe_line(fault.log, 200)}. " if fault.log is not None else ""
        notice = Notice(NoticeKind.DEFECT, safe_line(text, 200), f"{place}esc takes this away.")
        banner.show(notice)

    def hide_fault(self) -> None:
        """Take the banner of a defect away."""
        self._bars.fault.show(None)

    def dismiss_tip(self) -> bool:
        """Take the tip away for good; False when there was none."""
        return self._bars.tip.dismiss()

    def count_down(self, unwritten: Unwritten) -> None:
        """What is not written yet and the seconds left, each second anew while something waits."""
        last = unwritten.last
        words = safe_line(last.words, 200) if last is not None else ""
        more = len(unwritten) - len(last.acts) if last is not None else 0
        self._bars.grace.show(words, unwritten.seconds, more=more)
        self._bars.tip.set_class(bool(words), "-behind")  # one line for both, so that nothing jumps
        if last is not None and self._counting is None:
            self._counting = self._screen.set_interval(1.0, lambda: self.count_down(unwritten))
        elif last is None and self._counting is not None:
            self._counting.stop()
            self._counting = None


def _of_keys(subject: Subject, *, cannot_write: bool) -> tuple[object, ...]:
    """All that the keys are chosen by: of the view only what waits for the human and whether anybody is there."""
    view = subject.view
    waits = (view.attention, view.requests) if view is not None else ()
    return replace(subject, view=None), waits, alone(subject), cannot_write
