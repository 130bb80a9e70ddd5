"""The one screen: its head, banner, the list of the present place and its keys."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from msgspec.structs import replace
from team_console.console.actions import ACTIONS, BY_ID, Action, Group
from team_console.console.preferences import Preferences
from team_console.console.selection import NOTHING, ActionContext
from team_console.console.tui.absence import Absence, Visit
from team_console.console.tui.background import Background
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.drafts import Drafts
from team_console.console.tui.lists import Lists
from team_console.console.tui.modes.listing import ContentWanted, EvidenceWanted
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.pending_decisions import PendingDecision, PendingDecisions
from team_console.console.tui.screen_bars import ScreenBars
from team_console.console.tui.screen_protocols import ConsoleProtocol
from team_console.console.tui.situation import Situation, no_writing
from team_console.console.tui.terminal_programs import edit_text
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.service.caller import Caller
from team_console.store.views.rows import RequestRow
from team_console.widgets.detail import Detail
from team_console.widgets.held_frames import Frames, frames_of
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import DescendantFocus, Event, Key, Resize, ScreenResume, ScreenSuspend
from textual.geometry import Size
from textual.screen import Screen

if TYPE_CHECKING:
    from team_console.store.views.rows import View
    from team_console.widgets.form import Form
    from textual.widget import Widget

# Breakpoints: the classes a terminal's size gives the screen, which style sheets fit their layout to.

# Columns or lines from which on a screen has a class, in rising order.
HORIZONTAL = [(0, "-slim"), (72, "-narrow"), (100, "-wide")]
VERTICAL = [(0, "-low"), (20, "-middle"), (30, "-tall")]
BROAD = 160
"""Columns from which on history shows what is under its cursor; Textual gives a screen one class of width only."""


def size_classes(size: Size) -> tuple[str, ...]:
    """Return the classes of a size, to have from the first picture on and not only after the first resize."""
    width = [name for least, name in HORIZONTAL if least <= size.width][-1]
    height = [name for least, name in VERTICAL if least <= size.height][-1]
    return (width, height, "-broad") if size.width >= BROAD else (width, height)


ResultT = TypeVar("ResultT")

_TOAST_SECONDS, _WARNING_SECONDS = 6.0, 9.0
"""How long a toast stands there."""


class MainScreen(Screen[None]):
    """Everything the human sees; what it knows comes in through `show`, what it wants goes out through handlers.

    Attributes:
        lists: The lists, one of them in front.
        bars: Head, banner, keys and the seconds left to undo.
        absence: What happened while the human was away.
        form: What is asked now, one at a time.
        last_said: When, how serious and what the console said, the newest first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), f"perform('{action.id}')", action.label, show=False, id=action.id)
        for action in ACTIONS
        if action.keys and action.id not in ("open", "mark")
    ]

    def __init__(
        self,
        console: ConsoleProtocol,
        caller: Caller,
        drafts: Drafts,
        *,
        read_only: bool,
        preferences: Preferences,
        last: Visit,
    ) -> None:
        super().__init__()
        self.caller, self.drafts, self.read_only = replace(caller, tell=self._tell_wait), drafts, read_only
        self.look: Callable[[], None] = console.look
        self.redraw: Callable[[], None] = console.redraw
        self.report: Callable[[BaseException], None] = console.report
        self._console_app = console
        self.now = caller.team.clock()
        self.cache = ScreenCache(
            caller.team,
            read_only=read_only,
            preferences=preferences,
            divider=last.divider,
            new_since=last.left_at or self.now,
            drafts=drafts,
        )
        self.background = Background(self)
        self.pending_decisions = PendingDecisions(self)
        self.bars = ScreenBars(self, self.pending_decisions)
        self.lists = Lists(
            self.cache,
            report=console.report,
            when_left=self.bars.show,
            when_entered=self.bars.show_keys,
        )
        self.absence = Absence(self, last.left_at)
        self.actions = KeyActions(self, console)
        self.last_said: deque[tuple[datetime, str, str]] = deque(maxlen=10)
        self.form: Form[Any] | None = None
        self._focus_below: Widget | None = None
        self._asks_about_request = False
        self.situation = Situation()

    @property
    def pane(self) -> Pane[Any]:
        """The list in front."""
        return self.lists.front

    @property
    def frames(self) -> Frames:
        """The frames of the console, and what was on them when a key was pressed."""
        frames = frames_of(self)
        assert frames is not None
        return frames

    def keep_painted(self) -> None:
        """Keep what was painted until now, in the list in front and in what its form shows."""
        self.cache.keep_painted(self.pane.detail)
        if self.form is not None:
            for excerpt in self.form.query(Detail):
                self.cache.keep_painted(excerpt)

    @property
    def view(self) -> View | None:
        """The view on the screen, as plain rows."""
        return self.situation.view

    @property
    def cannot_write(self) -> bool:
        """Whether nothing can be written, by choice or for want of permissions."""
        return self.read_only or bool(self.situation.obstacle)

    def compose(self) -> ComposeResult:
        """Yield the lists and what stands around them."""
        self.add_class(*size_classes(self.app.size))
        yield self.bars.head
        yield self.bars.banner
        yield self.absence.card
        yield self.lists
        yield self.bars.undo
        yield self.bars.keys

    def on_mount(self) -> None:
        """Begin with what waits for the human."""
        self.pane.focus_first()
        self.show(self.situation, self.now)
        if not self.read_only:
            self.call_after_refresh(self.pending_decisions.report_unsaved)

    def take_preferences(self, preferences: Preferences) -> None:
        """Make what the human chose hold from now on."""
        self.cache.preferences = preferences
        self.lists.take_preferences()
        self._console_app.take_preferences(preferences)
        self.bars.show_keys()

    # What is shown.

    def show(self, situation: Situation, now: datetime) -> None:
        """Show another situation in the present list; other lists follow when they are gone to."""
        self.situation, self.now = situation, now
        self.absence.tell_once_read()
        if self.view is not None:
            self.pending_decisions.check_again(self.view)
        self.bars.show()  # also where the rest looks the same: it may have said that the screen is old
        if self.lists.takes_unpainted(situation):
            return
        self.lists.show(situation, now)
        self.bars.show_keys()
        if follow := getattr(self.app.screen, "follow", None):  # something that is read, over this screen
            follow(self.view)
        if self.form is not None:
            self.form.look_again()
            if self._asks_about_request and self.pane.is_complete:
                self.form.show_outcome(self.pane.presenter.outcome)

    def show_again(self, *, is_listed_anew: bool = True) -> None:
        """Show the same situation anew, because more is known of it; unless it is listed anew, in the same rows."""
        if is_listed_anew:
            self.lists.forget_shown()
        self.show(self.situation, self.now)

    def tick(self, now: datetime) -> None:
        """Let ages go on; only what reads otherwise is repainted."""
        self.now = now
        self.bars.show()
        self.lists.tick(now)

    def show_pending(self) -> None:
        """Show what is not written yet in its rows, and the seconds left."""
        self.cache.pending = self.pending_decisions.marks
        self.show_again()
        self.bars.count_down()

    def toast(self, text: str, *, severity: str = "information") -> None:
        """Say something for a few seconds, a warning that still stands there only once; it is only ever text.

        A key that is held down says no ten times, and that is one warning.
        """
        text, now = safe_text(text), datetime.now(UTC)
        seconds = _TOAST_SECONDS if severity == "information" else _WARNING_SECONDS
        for at, how, said in self.last_said:
            if (how, said) == ("warning", text) and 0 <= (now - at).total_seconds() < seconds:
                return
        self.last_said.appendleft((now, severity, text))
        self.notify(text, severity=severity, markup=False, timeout=seconds)  # type: ignore[arg-type]

    def try_to(self, do: Callable[[], str | None]) -> None:
        """Do something with the terminal or another team, and say what there is to say of it, or why it failed."""
        try:
            said = do()
        except TeamError as error:
            self.toast(f"✗ {safe_line(error.message, 200)}. {safe_line(error.hint, 200)}", severity="error")
            return
        if said:
            self.toast(said)

    def set_busy(self, words: str) -> None:
        """Say in the head what is going on; empty for nothing."""
        self.bars.busy = words
        self.bars.show()

    # What keys mean.

    @property
    def is_in_front(self) -> bool:
        """Whether keys are about the lists: nothing lies over them, and no form is open."""
        return self.app.screen is self and self.form is None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let no key of the lists act while a form is open."""
        return super().check_action(action, parameters) and (action != "perform" or self.form is None)

    def leaves_work(self) -> bool:
        """See `GatedPanel.leaves_work`."""
        return self.form is not None and self.form.leaves_work()

    def refuses(self, event: Event) -> bool:
        """Let no letter of a remark that is typed too early act: on a line only the keys that choose one count."""
        if self.form is not None:
            return self.form.refuses(event)
        read = self.focused
        # guard: letters-of-a-remark
        if not (isinstance(read, Detail) and read.pointed and isinstance(event, Key) and event.is_printable):
            return False
        if event.key in ("j", "k"):
            return False
        self.toast("Nothing was done: enter writes on the line that is pointed at, esc ends it.", severity="warning")
        return True

    @property
    def takes_keys(self) -> bool:
        """Whether keys can act now: what they would act on is drawn and not decided, no form is opening."""
        if self.form is not None:
            return self.form.takes_keys
        if not self.lists.is_drawn or self.background.opens_form or self.actions.is_waiting:
            return False
        return not (self.pane.is_leaving and self._console_app.is_behind)

    def context(self) -> ActionContext:
        """Return the context that keys act on now."""
        caller = self.caller
        lead = self.situation.snapshot.config.lead if self.situation.snapshot else caller.actor
        return ActionContext(
            mode=self.lists.mode,
            me=caller.actor,
            lead=lead,
            view=self.view,
            no_writing=no_writing(self.situation, read_only=self.read_only),
            selection=self.pane.selection() if self.lists.is_drawn else NOTHING,
            pending=self.pending_decisions.subjects,
            is_reading=self.pane.is_reading,
        )

    def action_perform(self, name: str) -> None:
        """Do an action of the registry, or say why not; one that decides only once what it is about is drawn."""
        self.actions.perform(name)

    def back(self) -> None:
        """Let go of what the mouse selected, else back out of the innermost thing; at the outside, take the card
        away, or stop asking agents.
        """
        if self.selections:
            self.clear_selection()
            return
        is_backed_out = self.lists.is_drawn and self.pane.back()
        if not (is_backed_out or self.absence.card.dismiss()):
            self.background.cancel_stopping()
        self._show_bars()

    # Forms, one at a time, and what they decide.

    def ask(self, form: Form[ResultT], then: Callable[[ResultT], object], *, about: RequestRow | None = None) -> None:
        """Ask the human with `form`, which may ask `about` one request; `then` goes on with its result.

        It stands below the thing it is about, which stays shown whatever becomes of it.
        """
        if self.form is not None:  # a slow look was waited for, and another form opened meanwhile
            self.toast("Another form is open. Finish it, then press the key again.", severity="warning")
            return

        def close(result: ResultT | None) -> None:
            self.form = None
            pane.divider.remove_form(form)
            self.set_focus(self._focus_below)
            self._front_changed()
            if result is not None:
                then(result)

        pane = self.pane
        form.when_closed, form.editor = close, partial(edit_text, self.app)
        form.warning, self.actions.warning = self.actions.warning, ""
        self.app.clear_notifications()  # they would lie over the fields
        self.form, self._focus_below, self._asks_about_request = form, self.focused, about is not None
        pane.divider.show_form(form)
        self._front_changed()

    def set_focus(self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False) -> None:
        """Keep the focus in an open form; what asks for it meanwhile has it once the form is closed."""
        if self.form is not None and (widget is None or self.form not in widget.ancestors_with_self):
            self._focus_below = widget or self._focus_below
        else:
            super().set_focus(widget, scroll_visible=False, from_app_focus=from_app_focus)
            if widget is None and self.app.app_focus:  # else the terminal lost the keys, and gives them back
                self.call_after_refresh(self._take_focus)

    def _take_focus(self) -> None:
        """Give the keys to the list again; where a smaller terminal has no room for it, to what is read."""
        if self.focused is None and self.form is None and self.lists.is_drawn:
            pane = self.pane
            # By its styles: a place that was just gone to has no cells yet, and its list is about to have the keys.
            has_room = all(each.display for each in (pane.chosen_from, pane.query_one(".pane--rows")))
            pane.focus_first() if has_room else pane.detail.focus()

    def ask_to_decide(self, form: Form[PendingDecision], *, about: RequestRow | None = None) -> None:
        """Ask with `form`; the decision waits for its undo delay, and the cursor moves on to the next row."""
        self.ask(form, self.decided, about=about)

    def decide(self, pending: PendingDecision) -> None:
        """Decide without a form."""
        self.background.run(lambda: self.pending_decisions.prepare(pending), self.decided)

    def decided(self, pending: PendingDecision) -> None:
        """Go on from what was decided, and write it after its undo delay."""
        self.lists.step_on(pending.subjects)
        self.pending_decisions.schedule(pending)

    def _tell_wait(self, words: str, give_up: Callable[[], None]) -> None:
        """Say, from a thread that writes, that a key of the human is waited for."""

        def show() -> None:
            if self.form is not None and self.form.is_at_work:
                self.form.wait_for(words, give_up)
            else:
                self.set_busy(words)

        self.app.call_from_thread(show)

    @on(Pane.Looked)
    @on(DescendantFocus)
    def _show_bars(self) -> None:
        self.bars.show()
        self.bars.show_keys()

    @on(ContentWanted)
    def _fetch_content(self, event: ContentWanted) -> None:
        event.stop()
        self.background.fetch(event.message)

    @on(Detail.Wanted)
    def _perform_wanted(self, event: Detail.Wanted) -> None:
        self.action_perform(event.action)

    @on(EvidenceWanted)
    def _gather_evidence(self, event: EvidenceWanted) -> None:
        event.stop()
        self.background.gather(event.request)

    @on(Pane.GoTo)
    def _go_to(self, event: Pane.GoTo) -> None:
        event.stop()
        self.lists.go_to_row(event.mode, event.key)

    @on(ScreenSuspend)
    @on(ScreenResume)
    def _front_changed(self) -> None:
        if self.is_in_front and self.pending_decisions.marks != self.cache.pending:
            self.show_pending()
        self.call_after_refresh(self.bars.show_keys)

    def on_resize(self, event: Resize) -> None:
        """Fit the layout to a screen of that width."""
        self.set_class(event.size.width >= BROAD, "-broad")
        self.call_after_refresh(self.bars.show)


# What a key means.

LOOK_AGAIN = 0.7
"""Seconds for which a deciding key asks to look again after the row under the cursor changed by itself."""
_CHANGED = "The list changed."
_PAINTED_WITHIN = 1.0
"""Seconds for which an action waits until what it is about is painted: a busy machine takes some for it."""


class KeyActions:
    """Does actions by name, or says why not.

    Attributes:
        warning: What the form that an action opens has to warn of.
    """

    def __init__(self, screen: MainScreen, console: ConsoleProtocol) -> None:
        self._screen, self._console = screen, console
        self.warning = ""
        self._waiting_actions = 0

    @property
    def is_waiting(self) -> bool:
        """Whether an action waits until what it is about is painted."""
        return self._waiting_actions > 0

    def perform(self, name: str) -> None:
        """Do an action of the registry, or say why not; one that decides only once what it is about is drawn."""
        screen = self._screen
        if name.startswith("own:"):
            if screen.lists.is_drawn and screen.is_in_front:
                self._console.perform(name, screen.context())
            return
        action = BY_ID[name]
        if not screen.lists.is_drawn and action.group is not Group.CONSOLE:
            return
        if not action.deciding:
            self._do(action)
            return
        screen.lists.front.presenter.show_now()
        self._waiting_actions += 1  # until then keys wait: what they are meant for is about to change
        screen.call_after_refresh(self._do_drawn, action, monotonic() + _PAINTED_WITHIN)

    def _do_drawn(self, action: Action, until: float) -> None:
        """Do an action once what it is about is painted, or when that takes too long."""
        waits, pane = False, self._screen.lists.front
        try:
            if not pane.is_complete:
                return  # what it was about is not in front any more
            if not pane.presenter.is_drawn and monotonic() < until:
                # A widget tells its screen by a message that it is to be painted; until that has come the screen rests.
                pane.presenter.show_now(whole=True)
                waits = self._screen.call_after_refresh(self._do_drawn, action, until)
            else:
                self._do(action)
        finally:
            self._waiting_actions -= not waits  # whatever fails here, the keys after it are not held for ever

    def _do(self, action: Action) -> None:
        """Do an action, or say why not; a deciding one asks to look again where rows just moved."""
        screen = self._screen
        if not screen.is_in_front:
            return
        context = screen.context()
        why = action.disabled(context)
        if why is not None:
            if action.is_here(context.mode):
                screen.toast(f"{action.label.rstrip('…')}: {why}", severity="warning")
            return
        # guard: held-key-acts-once
        if action.writes and not action.asks and screen.frames.is_repeat:
            screen.toast("A key that is held down counts once. Press it again.", severity="warning")
            return
        self.warning = ""
        if action.deciding and screen.lists.front.chosen_from.disturbances.seconds_since() < LOOK_AGAIN:
            if not action.asks:
                screen.toast(f"{_CHANGED} Review it, then press the key again.", severity="warning")
                return
            self.warning = _CHANGED
        self._console.perform(action.id, context)
