"""The one screen: status, modes, banner, the pane of the present mode and its keys."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.actions import ACTIONS, BY_ID, PINNED, READING, Action, Group, actions_in, alone, shown_key
from team_console.console.background import Background
from team_console.console.decisions import Unwritten, Workspace
from team_console.console.drafts import Drafts, Place
from team_console.console.editor import edit_text
from team_console.console.modes.pane import AgentPane, AttachmentCache, EvidenceWanted, ListPane, Pane
from team_console.console.preferences import Preferences
from team_console.console.screens import ReadingScreen, Toasts
from team_console.console.selection import NOTHING, Mode, Subject
from team_console.console.team import Events, cells_of
from team_console.console.words import (
    DRAFT,
    ScreenState,
    no_writing,
    notice_of,
    pulse_of,
    shows_the_same,
    step_of,
    tabs_of,
    tip_lines,
)
from team_console.store.model.safe import safe_line
from team_console.store.service.caller import Caller
from team_console.store.views.rows import RequestRow
from team_console.widgets.bars import (
    Banner,
    GraceBar,
    KeyBar,
    KeyHint,
    Standing,
    StatusLine,
    TabBar,
    TipBar,
)
from team_console.widgets.form import Behind
from team_console.widgets.team import TeamColumn, TeamStrip
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import DescendantFocus, Resize, ScreenResume, ScreenSuspend
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.timer import Timer

if TYPE_CHECKING:
    from team_console.store.views.rows import View
    from team_console.widgets.form import Form


_OF_THE_FILTER = (KeyHint("enter", "keep these rows"), KeyHint("esc", "all rows"))
"""Keys while words to filter by are typed: all others are letters."""


class Shown(Struct, frozen=True):
    """What the frame is drawn from.

    Attributes:
        cannot_write: Nothing can be written, by choice or for want of permissions.
        busy: What is going on; empty for nothing.
        has_column: There is room for the team as a column.
        place: Where one is among the things that are read, in place of the place of the team; empty in a list.
    """

    situation: ScreenState
    now: datetime
    mode: Mode
    cannot_write: bool
    busy: str
    has_column: bool
    place: str = ""


class _Bars(NamedTuple):
    """What the frame is made of."""

    status: StatusLine
    tabs: TabBar
    strip: TeamStrip
    banner: Banner
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
            place=shown.place or safe_line(self._caller.team.location, 300),
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
        if subject.is_reading:
            here = (BY_ID[name] for name in READING if not (cannot_write and BY_ID[name].writes))
        usable = (action for action in here if action.disabled(subject) is None)
        hints = tuple(KeyHint(shown_key(action), action.label_on(subject)) for action in usable)
        hints = (KeyHint("space", "page"), *hints) if subject.is_reading else hints
        pinned_names = ("back", "help") if subject.is_reading else PINNED
        pinned = tuple(KeyHint(shown_key(BY_ID[name]), BY_ID[name].label) for name in pinned_names)
        self._bars.keys.show(hints, pinned)

    def _show_tip(self, subject: Subject | None) -> None:
        """What to try with `subject`; nothing while what is typed are letters."""
        if self.tip is None:
            return
        if subject is not None:
            self.tip = step_of(subject, self.tip)
        self._bars.tip.show(tip_lines(self.tip, subject) if subject is not None else ())

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


# The panes of the modes: each is made when it is first gone to, and told only what it was not told yet.

_PANES = {
    Mode.NEEDS: "needs:NeedsPane",
    Mode.INBOXES: "inboxes:InboxesPane",
    Mode.REQUESTS: "requests:RequestsPane",
    Mode.DELIVERIES: "deliveries:DeliveriesPane",
    Mode.SPRINT: "sprint:SprintPane",
    Mode.HISTORY: "history:HistoryPane",
    Mode.HEALTH: "health:HealthPane",
    Mode.DECISIONS: "decisions:DecisionsPane",
}


class PaneStack:
    """Panes by their mode, one of them in front.

    Attributes:
        mode: The mode in front.
    """

    def __init__(self, mode: Mode, shelf: AttachmentCache, report: Callable[[Exception], None]) -> None:
        self.mode, self._shelf, self._report = mode, shelf, report
        self._panes: dict[Mode, Pane] = {}
        self._shown: dict[Mode, ScreenState] = {}

    @property
    def shown_in_front(self) -> ScreenState | None:
        """The situation that stands in front."""
        return self._shown.get(self.mode)

    @property
    def front(self) -> Pane:
        """The pane in front."""
        return self._panes[self.mode]

    @property
    def listing(self) -> ListPane[Any] | None:
        """The list in front; None when it is not complete."""
        return self.front if isinstance(self.front, ListPane) and self.front.is_complete else None

    def bring(self, mode: Mode) -> bool:
        """Put the pane of `mode` in front; whether it was made for that and must be mounted."""
        fresh = mode not in self._panes
        if fresh:
            self._panes[mode] = _make(mode, self._shelf)
        if self.mode in self._panes:
            self.front.remove_class("-active")
        self.mode = mode
        self.front.add_class("-active")
        return fresh

    def show(self, situation: ScreenState, now: datetime, *, again: bool = False) -> None:
        """Show a situation in front, if it is another one or `again` is set.

        A pane that fails says so instead of showing what was true before.
        """
        if self._shown.get(self.mode) is situation and not again:
            return
        self._shown[self.mode] = situation
        try:
            self.front.show(situation, now)
        except Exception as error:
            self._report(error)
            self.front.give_up()

    def keeps(self, situation: ScreenState) -> bool:
        """Whether what stands in front is true of this situation as well, so that nothing needs to be painted."""
        shown = self.shown_in_front
        if shown is None or shown is situation or not shows_the_same(shown, situation):
            return False
        self._shown[self.mode] = self.front.situation = situation
        return True

    def stay(self) -> None:
        """What was decided about stays in every list after all: that it leaves later is a change like any other."""
        for pane in self._panes.values():
            if isinstance(pane, ListPane) and pane.is_complete:
                pane.rows.stay()

    def forget_shown(self) -> None:
        """Show the same situation anew, because more is known of it."""
        self._shown.clear()


def _make(mode: Mode, shelf: AttachmentCache) -> Pane:
    """The pane of a mode; its module is imported when it is first gone to."""
    module, _, name = _PANES[mode].partition(":")
    made: type[Pane] = getattr(import_module(f"team_console.console.modes.{module}"), name)
    return made(shelf)


# What the screen may ask the application for, as plain functions: it does not know the application.


class Outside(Struct, frozen=True):
    """What the screen asks for from outside.

    Attributes:
        look: Has the store looked at again.
        redraw: Has the team read again and every cell drawn anew.
        report: Takes an exception nobody expected.
        is_behind: Whether the store was asked to be looked at and that is not on the screen yet.
    """

    look: Callable[[], None]
    redraw: Callable[[], None]
    report: Callable[[Exception], None]
    is_behind: Callable[[], bool] = lambda: False


# Breakpoints: the classes a terminal's size gives the screen, which style sheets fit their layout to.

HORIZONTAL = [(0, "-slim"), (72, "-narrow"), (100, "-wide")]
VERTICAL = [(0, "-low"), (20, "-middle"), (30, "-tall")]
BROAD = 160
"""Columns from which on a third column shows the team; Textual gives a screen one class of width only."""


def size_classes(size: Size) -> tuple[str, ...]:
    """The classes of a size, to have from the first picture on and not only after the first resize."""
    fitting = (
        max((least, name) for least, name in steps if least <= cells)[1]
        for cells, steps in zip(size, (HORIZONTAL, VERTICAL), strict=True)
    )
    return (*fitting, "-broad") if size.width >= BROAD else tuple(fitting)


# Opens forms below the thing they are about, and gives the room back when they close.

ResultT = TypeVar("ResultT")


class StandingForms:
    """The forms of one screen, one at a time."""

    def __init__(self, screen: Screen[Any], pane: Callable[[], Pane]) -> None:
        self._screen, self._pane = screen, pane
        self.warning = ""
        self._answering: Form[Any] | None = None
        self._is_about_request = False

    @property
    def is_closing(self) -> bool:
        """Whether a form has gone whose answer is still on its way: what it decided is not known here yet."""
        return self._answering is not None and self._answering not in self._screen.app.screen_stack

    def open(
        self, form: Form[ResultT], answered: Callable[[ResultT], None], *, about: RequestRow | None = None
    ) -> None:
        """Show `form`, which may ask `about` one request; `answered` gets its result unless it was left.

        What it was opened on stays shown, whatever becomes of it.
        """
        pane = self._pane()
        self._is_about_request = about is not None
        form.behind = Behind(
            lambda: self._room(pane),
            lambda lines: _cover(pane, lines),
            self._scroll,
            self._edit,
            self._screen.screen_layout_refresh_signal,
        )
        form.warning, self.warning = self.warning, ""

        def closed(result: ResultT | None) -> None:
            self._answering = None
            _cover(pane, 0)
            if result is not None:
                answered(result)

        self._screen.app.clear_notifications()  # they would lie over the fields
        self._screen.app.push_screen(form, closed)
        self._answering = form

    def follow(self) -> None:
        """The team changed: the form says what became of the request it asks about."""
        pane = self._pane()
        if self._answering is not None and self._is_about_request and isinstance(pane, ListPane):
            self._answering.show_fate(pane.fate)

    def wait_for(self, words: str, give_up: Callable[[], None]) -> bool:
        """Have the form that is at work say what is waited for; False when none is."""
        if self._answering is None or not self._answering.is_at_work:
            return False
        self._answering.wait_for(words, give_up)
        return True

    def _room(self, pane: Pane) -> Region:
        """Where the pane shows the thing itself, down to the bottom of the pane; all of it when it shows none."""
        whole = pane.region
        if not isinstance(pane, ListPane) or not pane.is_complete:
            return whole
        detail = pane.detail.region
        if not pane.detail.display or detail.width < 1:
            return whole
        return Region(detail.x, detail.y, detail.width, max(1, whole.bottom - detail.y))

    def _edit(self, text: str) -> str:
        return edit_text(self._screen.app, text, suffix=".md")

    def _scroll(self, pages: float) -> None:
        pane = self._pane()
        if isinstance(pane, ListPane) and pane.is_complete:
            pane.detail.scroll_relative(y=round(pages * pane.detail.size.height), animate=False)


def _cover(pane: Pane, lines: int) -> None:
    """Keep `lines` free below the thing, or below the rows where only they are shown; a narrow list gives way."""
    if isinstance(pane, ListPane) and pane.is_complete:
        shows_thing = bool(pane.detail.display)
        pane.set_class(lines > 0 and shows_thing, "-asking")
        pane.detail.styles.margin = (0, 0, lines, 0)
        pane.query_one(".pane--rows").styles.margin = (0, 0, 0 if shows_thing else lines, 0)


# The performer of actions: does what a key means to what is drawn, or says why it cannot.

GUARD = 0.7
"""Seconds for which a deciding key asks to look again after the row under the cursor changed by itself."""
_CHANGED = "The list changed."
_LOOKS = 10
"""So many times the screen comes to rest before an action is done though what it is about was not painted."""


class Performer:
    """Does the actions of one screen."""

    def __init__(
        self,
        screen: Screen[Any],
        workspace: Workspace,
        forms: StandingForms,
        *,
        subject: Callable[[], Subject],
    ) -> None:
        """Make a performer.

        Args:
            screen: Where it acts; nothing is done while another screen is in front.
            workspace: What handlers get.
            forms: Where a warning of the next form is left.
            subject: What keys act on now.
        """
        self._screen, self._workspace, self._forms = screen, workspace, forms
        self._subject = subject
        self._waiting = 0

    @property
    def is_idle(self) -> bool:
        """Whether no action waits for the screen to be drawn."""
        return self._waiting == 0

    def perform(self, action: Action) -> None:
        """Do `action`; one that decides only once what it is about stands on the screen."""
        if action.deciding:
            self._workspace.pane.draw_now()
            self._waiting += 1  # until then keys wait: what they are meant for is about to change
            self._screen.call_after_refresh(self._do_drawn, action, _LOOKS)
        else:
            self._do(action)

    def _do_drawn(self, action: Action, looks: int) -> None:
        waits, pane = False, self._workspace.pane
        try:
            if not pane.is_complete:
                return  # what it was about is not in front any more
            if looks and not pane.is_drawn:
                # A widget tells its screen by a message that it is to be painted; until that has come the screen rests.
                pane.draw_now(whole=True)
                waits = self._screen.call_after_refresh(self._do_drawn, action, looks - 1)
            else:
                self._do(action)
        finally:
            self._waiting -= not waits  # whatever fails here, the keys after it are not held for ever

    def _do(self, action: Action) -> None:
        if self._screen.app.screen is not self._screen:
            return
        subject = self._subject()
        why = action.disabled(subject)
        if why is not None:
            if action.is_here(subject.mode):
                self._workspace.toast(f"{action.label.rstrip('…')}: {why}", severity="warning")
            return
        self._forms.warning = ""
        if action.deciding and self._workspace.pane.undisturbed_for() < GUARD:
            if not action.asks:
                self._workspace.toast(f"{_CHANGED} Review it, then press the key again.", severity="warning")
                return
            self._forms.warning = _CHANGED
        from team_console.console.commands import handlers

        handlers()[action.id](self._workspace, subject)


class MainScreen(Screen[None]):
    """Everything the human sees; what it knows comes in through `show`, what it wants goes out through handlers."""

    HORIZONTAL_BREAKPOINTS = HORIZONTAL
    VERTICAL_BREAKPOINTS = VERTICAL
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), f"perform('{action.id}')", action.label, show=False, id=action.id)
        for action in ACTIONS
        if action.id not in ("open", "mark")
    ]

    def __init__(
        self,
        caller: Caller,
        drafts: Drafts,
        outside: Outside,
        *,
        read_only: bool,
        preferences: Preferences | None = None,
        place: Place | None = None,
    ) -> None:
        super().__init__()
        self.preferences, self._place = preferences or Preferences(), place or Place()
        self.caller, self.drafts, self.read_only = replace(caller, tell=self._tell_wait), drafts, read_only
        self.look, self.redraw, self.report = outside.look, outside.redraw, outside.report
        self._is_behind = outside.is_behind
        self.shelf = AttachmentCache(caller.team, preferences=self.preferences)
        self.background = Background(self)
        self.unwritten = Unwritten(self)
        self.panes = PaneStack(self._place.mode, self.shelf, self.report)
        self.frame = Frame(self, caller)
        self.toasts = Toasts(lambda: self.app)
        self.forms = StandingForms(self, lambda: self.pane)
        self.situation = ScreenState()
        self.now = caller.team.clock()
        self.busy = ""
        self.performer = Performer(self, self, self.forms, subject=self.subject)

    @property
    def pane(self) -> Pane:
        """The pane of the present mode."""
        return self.panes.front

    @property
    def mode(self) -> Mode:
        """The present mode."""
        return self.panes.mode

    @property
    def view(self) -> View | None:
        """What is shown, as plain rows."""
        return self.situation.view

    @property
    def cannot_write(self) -> bool:
        """Whether nothing can be written, by choice or for want of permissions."""
        return self.read_only or bool(self.situation.obstacle)

    @property
    def is_reading(self) -> bool:
        """Whether one thing has the whole screen."""
        return isinstance(self.pane, ListPane) and self.pane.is_reading

    def compose(self) -> ComposeResult:
        """The frame and the first pane; the others are made when they are gone to."""
        self.add_class(*size_classes(self.app.size))
        yield StatusLine(id="status")
        yield TabBar(id="tabs")
        yield TeamStrip(id="strip")
        yield Banner(id="banner")
        with Container(id="body"):
            self.panes.bring(self.mode)
            yield self.pane
            yield TeamColumn(id="team")
        yield TipBar(id="tip")
        yield GraceBar(id="grace")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin in the list of what waits."""
        self.set_class(self.mode is Mode.INBOXES, "-roster")
        self.query_one(TeamStrip).moves = self.preferences.motion
        self.pane.focus_first()
        self.show(self.situation, self.now)
        if self._place.filter and isinstance(self.pane, ListPane):
            self.pane.set_filter(self._place.filter)
        if not self.read_only:
            self.call_after_refresh(self.background.tell_left_behind)

    @property
    def place(self) -> Place:
        """Where the human is, to come back to."""
        return Place(self.mode, self.pane.query_text if isinstance(self.pane, ListPane) else "")

    @property
    def takes_keys(self) -> bool:
        """Whether keys can act now: what they would act on is drawn and not decided, no form is opening or closing."""
        if not self._is_drawn or self.forms.is_closing or self.background.opens_form:
            return False
        listing = self.panes.listing
        is_decided = listing is not None and listing.is_leaving and self._is_behind()
        return self.performer.is_idle and not is_decided

    def show(self, situation: ScreenState, now: datetime) -> None:
        """Show another situation in the present pane; other panes follow when they are gone to."""
        self.situation, self.now = situation, now
        if self.panes.keeps(situation):
            return
        self._show_frame()
        if self._is_drawn:
            self.panes.show(situation, now)
        self._show_keys()
        self._followed()

    def _followed(self) -> None:
        """What stands in front and follows the team is told that it changed."""
        if isinstance(front := self.app.screen, ReadingScreen):
            front.follow()
        self.forms.follow()

    def tick(self, now: datetime) -> None:
        """Let ages go on; only what reads otherwise is repainted."""
        self.now = now
        self._show_frame()
        if self._is_drawn:
            self.pane.tick(now)

    def go(self, mode: Mode) -> None:
        """Go to a mode."""
        if mode is self.mode:
            if self._is_drawn:
                self.pane.focus_first()
            return
        if self.is_reading and isinstance(self.pane, ListPane):
            self.pane.read(False)
        fresh = self.panes.bring(mode)
        self.set_class(mode is Mode.INBOXES, "-roster")
        self._show_frame()
        if fresh:
            self.run_worker(self._bring_in(self.pane), group="panes")
        else:
            self._enter()

    def back(self) -> None:
        """Back out of the innermost thing; at the outside, stop asking agents."""
        if not (self._is_drawn and self.pane.back()) and not self.frame.dismiss_tip():
            self.background.cancel_stopping()
        self._show_keys()

    def subject(self) -> Subject:
        """What keys act on now."""
        caller = self.caller
        lead = self.situation.snapshot.config.lead if self.situation.snapshot else caller.actor
        selection = self.pane.subject() if self._is_drawn else NOTHING
        return Subject(
            mode=self.mode,
            me=caller.actor,
            lead=lead,
            view=self.view,
            no_writing=no_writing(self.situation, read_only=self.read_only),
            selection=selection,
            unwritten=self.unwritten.subjects,
            is_reading=self.is_reading,
        )

    def action_perform(self, name: str) -> None:
        """Do an action of the registry, or say why not."""
        action = BY_ID[name]
        if not self._is_drawn and action.group is not Group.CONSOLE:
            return
        self.performer.perform(action)

    def ask(
        self,
        form: Form[ResultT],
        told: Callable[[ResultT], str] | None,
        *,
        then: Callable[[ResultT], None] | None = None,
        about: RequestRow | None = None,
    ) -> None:
        """Ask the human; say what was done once it is done, and look at the store again."""

        def answered(result: ResultT) -> None:
            if told is not None:
                self.look()
                self.toast(told(result))
            if then is not None:
                then(result)

        self.forms.open(form, answered, about=about)

    def step_on(self, decided: Collection[str]) -> None:
        """Go from what was just decided to the next thing; that it leaves the list is no disturbance."""
        if (listing := self.panes.listing) is not None:
            listing.step_on(decided)

    def stay(self) -> None:
        """What was decided was taken back or refused, so that its rows stay, in whichever mode it was decided."""
        self.panes.stay()

    def seek(self, subject: str) -> None:
        """Put the cursor on the row of what was taken back."""
        if (listing := self.panes.listing) is not None:
            listing.seek_subject(subject)

    def show_unwritten(self) -> None:
        """Show what is not written yet in its rows, and the seconds left."""
        self.shelf.unwritten = self._marks()
        self.show_again()
        self.frame.count_down(self.unwritten)

    def _marks(self) -> dict[str, str]:
        """Id of a request or message -> what was decided about it and is not written, or that an answer was begun."""
        return {**dict.fromkeys(self.drafts.requests(), DRAFT), **self.unwritten.subjects}

    def toast(self, text: str, *, severity: str = "information") -> None:
        """Say something for a few seconds, a warning that still stands there only once; it is only ever text."""
        self.toasts.say(text, severity=severity)

    def show_again(self) -> None:
        """Show the same situation anew, because more is known of it."""
        self.panes.forget_shown()
        self.show(self.situation, self.now)

    def set_busy(self, words: str) -> None:
        """Say in the status line what is going on; empty for nothing."""
        self.busy = words
        self._show_frame()

    def _tell_wait(self, words: str, give_up: Callable[[], None]) -> None:
        """In a thread that writes: a human's key is waited for."""
        self.app.call_from_thread(self._show_wait, words, give_up)

    def _show_wait(self, words: str, give_up: Callable[[], None]) -> None:
        if not self.forms.wait_for(words, give_up):
            self.set_busy(words)

    @property
    def _is_drawn(self) -> bool:
        """Whether the present pane is complete; before that no key acts on it and nothing is shown in it."""
        return self.pane.is_complete

    async def _bring_in(self, pane: Pane) -> None:
        await self.query_one("#body").mount(pane, before="#team")
        if self.pane is pane:
            self._enter()

    def _enter(self) -> None:
        if not self._is_drawn:
            return
        self.panes.show(self.situation, self.now, again=True)
        self.pane.focus_first()
        self.app.call_later(self._show_keys)  # behind the focus, which moves later: its keys are written once

    def _show_frame(self) -> None:
        has_column, place = self.has_class("-broad") and not self.is_reading, ""
        if self.is_reading and isinstance(self.pane, ListPane):
            here, number = self.pane.rows.position
            place = f"{here:,} of {number:,}"
        self.frame.show(Shown(self.situation, self.now, self.mode, self.cannot_write, self.busy, has_column, place))

    def _show_keys(self) -> None:
        if self.is_mounted:
            self.frame.show_keys(self.subject(), cannot_write=self.cannot_write, is_filtering=self.pane.is_asking)

    @on(Pane.Looked)
    @on(DescendantFocus)
    def _looked(self) -> None:
        self._show_frame()
        self._show_keys()

    @on(Pane.Wanted)
    def _wanted(self, event: Pane.Wanted) -> None:
        event.stop()
        self.background.fetch(event.message)

    @on(EvidenceWanted)
    def _evidence_wanted(self, event: EvidenceWanted) -> None:
        event.stop()
        self.background.gather(event.wish)

    @on(Pane.GoTo)
    def _go_to(self, event: Pane.GoTo) -> None:
        event.stop()
        self.go_to_row(event.mode, event.key)

    def go_to_row(self, mode: Mode, key: str) -> None:
        """Go to a row of a mode."""
        self.go(mode)
        self.pane.seek(key)

    @on(KeyBar.Pressed)
    def _pressed(self, event: KeyBar.Pressed) -> None:
        if self.pane.is_asking and isinstance(self.pane, ListPane):
            self.pane.end_asking(keep=event.key == "enter")
            return
        here = actions_in(self.mode, read_only=self.cannot_write)
        action = next((action for action in here if shown_key(action) == event.key), None)
        if action is not None:
            self.action_perform(action.id)

    @on(TeamStrip.Chosen)
    @on(TeamColumn.Chosen)
    def _agent_chosen(self, event: TeamStrip.Chosen | TeamColumn.Chosen) -> None:
        event.stop()
        self.go_to_agent(event.agent)

    def go_to_agent(self, name: str) -> None:
        """Go to the inbox of an agent."""
        self.go(Mode.INBOXES)
        if isinstance(self.pane, AgentPane):
            self.pane.seek_agent(name)

    @on(TabBar.Chosen)
    def _chosen(self, event: TabBar.Chosen) -> None:
        self.go(Mode(event.id))

    @on(ScreenSuspend)
    @on(ScreenResume)
    def _another_front(self) -> None:
        if self.app.screen is self and self._marks() != self.shelf.unwritten:
            self.show_unwritten()
        self.call_after_refresh(self._show_keys)

    def on_resize(self, event: Resize) -> None:
        """The team beside list and detail where there is room for it."""
        self.set_class(event.size.width >= BROAD, "-broad")
        self.call_after_refresh(self._show_frame)
