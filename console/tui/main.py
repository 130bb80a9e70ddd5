"""The one screen: its head, banner, the list of the present place and its keys."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from msgspec.structs import replace
from team_console.console.actions import ACTIONS, BY_ID, PINNED, READING, Action, Group, actions_in, shown_key
from team_console.console.preferences import Preferences
from team_console.console.selection import NOTHING, ActionContext, Mode
from team_console.console.tui.background import Background
from team_console.console.tui.cache import AttachmentCache
from team_console.console.tui.decisions import PendingDecision, PendingDecisions
from team_console.console.tui.drafts import Drafts, Visit
from team_console.console.tui.editor import edit_text
from team_console.console.tui.modes.message_sources import ContentWanted, EvidenceWanted
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.words import (
    DRAFT,
    ScreenState,
    digest_lines,
    digest_title,
    no_writing,
    notice_of,
    places_with_something,
    pulse_of,
    shows_the_same,
    tabs_of,
)
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.service.caller import Caller
from team_console.store.views.digest import Digest, digest_of_team
from team_console.store.views.rows import RequestRow
from team_console.widgets.bars import Banner, Card, FewLines, Head, HeadFacts, KeyBar, KeyHint, UndoBar
from team_console.widgets.detail import Detail
from team_console.widgets.frames import Frames, frames_of
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import DescendantFocus, Event, Key, Resize, ScreenResume, ScreenSuspend
from textual.geometry import Size
from textual.screen import Screen
from textual.timer import Timer

if TYPE_CHECKING:
    from team_console.store.views.rows import View
    from team_console.widgets.form import Form
    from textual.widget import Widget

_OF_THE_FILTER = (KeyHint("enter", "keep these rows"), KeyHint("esc", "all rows"))
"""Keys while words to filter by are typed: all others are letters."""
_PANES = {
    Mode.NEEDS: "needs:NeedsPane",
    Mode.REQUESTS: "needs:RequestsPane",
    Mode.AGENTS: "agents:AgentsPane",
    Mode.HISTORY: "history:HistoryPane",
    Mode.DECISIONS: "decisions:DecisionsPane",
    Mode.HEALTH: "health:HealthPane",
    Mode.SPRINT: "sprint:SprintPane",
    Mode.DELIVERIES: "deliveries:DeliveriesPane",
}
"""The lists: each is made, and its module imported, when it is first gone to."""
GUARD = 0.7
"""Seconds for which a deciding key asks to look again after the row under the cursor changed by itself."""
_CHANGED = "The list changed."
_PAINTED_WITHIN = 1.0
"""Seconds for which an action waits until what it is about is painted: a busy machine takes some for it."""

# Breakpoints: the classes a terminal's size gives the screen, which style sheets fit their layout to.

HORIZONTAL = [(0, "-slim"), (72, "-narrow"), (100, "-wide")]
VERTICAL = [(0, "-low"), (20, "-middle"), (30, "-tall")]
BROAD = 160
"""Columns from which on history shows what is under its cursor; Textual gives a screen one class of width only."""


def size_classes(size: Size) -> tuple[str, ...]:
    """Return the classes of a size, to have from the first picture on and not only after the first resize."""
    fitting = (
        max((least, name) for least, name in steps if least <= cells)[1]
        for cells, steps in zip(size, (HORIZONTAL, VERTICAL), strict=True)
    )
    return (*fitting, "-broad") if size.width >= BROAD else tuple(fitting)


ResultT = TypeVar("ResultT")

_SECONDS, _SECONDS_OF_WARNING = 6.0, 9.0
"""How long a toast stands there."""


class Seat(Protocol):
    """The application, as far as the screen needs it."""

    @property
    def is_behind(self) -> bool:
        """Whether a reading that was asked for is not on the screen yet."""

    def look(self) -> None:
        """Look at the store again now."""

    def redraw(self) -> None:
        """Draw every cell anew, and look again."""

    def take_preferences(self, preferences: Preferences) -> None:
        """Make what the human chose hold from now on."""

    def report(self, error: BaseException) -> None:
        """Take an exception nobody expected."""

    def perform(self, name: str, context: ActionContext) -> None:
        """Do an action of the registry, or the human's own command `own:NUMBER`, on what it is about."""


class MainScreen(Screen[None]):
    """Everything the human sees; what it knows comes in through `show`, what it wants goes out through handlers.

    Attributes:
        mode: The list in front.
        last_said: When, how serious and what the console said, the newest first.
    """

    HORIZONTAL_BREAKPOINTS = HORIZONTAL
    VERTICAL_BREAKPOINTS = VERTICAL
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), f"perform('{action.id}')", action.label, show=False, id=action.id)
        for action in ACTIONS
        if action.keys and action.id not in ("open", "mark")
    ]

    def __init__(
        self,
        seat: Seat,
        caller: Caller,
        drafts: Drafts,
        *,
        read_only: bool,
        preferences: Preferences | None = None,
        last: Visit | None = None,
    ) -> None:
        super().__init__()
        self.preferences, last = preferences or Preferences(), last or Visit()
        self.caller, self.drafts, self.read_only = replace(caller, tell=self._tell_wait), drafts, read_only
        self.look: Callable[[], None] = seat.look
        self.redraw: Callable[[], None] = seat.redraw
        self.report: Callable[[BaseException], None] = seat.report
        self._seat = seat
        self.now = caller.team.clock()
        self.left_at = self._tells_since = last.left_at
        self.cache = AttachmentCache(
            caller.team,
            preferences=self.preferences,
            divider=last.divider,
            new_since=self.left_at or self.now,
            drafts=drafts,
        )
        self.background = Background(self)
        self.pending_decisions = PendingDecisions(self)
        self.mode = Mode.NEEDS
        self._panes: dict[Mode, Pane[Any]] = {}
        self._places: frozenset[Mode] = frozenset()
        self._shown: dict[Mode, ScreenState] = {}
        self.last_said: deque[tuple[datetime, str, str]] = deque(maxlen=10)
        self.form: Form[Any] | None = None
        self._focus_below: Widget | None = None
        self._asks_about_request, self._warning = False, ""
        self.situation = ScreenState()
        self.busy = ""
        self._counting: Timer | None = None
        self._undrawn = 0

    @property
    def pane(self) -> Pane[Any]:
        """The list in front."""
        return self._panes[self.mode]

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
    def complete_pane(self) -> Pane[Any] | None:
        """The list in front; None when it is not complete."""
        return self.pane if self.pane.is_complete else None

    @property
    def shown_in_front(self) -> ScreenState | None:
        """The situation that stands in front."""
        return self._shown.get(self.mode)

    @property
    def view(self) -> View | None:
        """The view on the screen, as plain rows."""
        return self.situation.view

    @property
    def cannot_write(self) -> bool:
        """Whether nothing can be written, by choice or for want of permissions."""
        return self.read_only or bool(self.situation.obstacle)

    @property
    def is_reading(self) -> bool:
        """Whether one thing has the whole screen."""
        return self.pane.is_reading

    def compose(self) -> ComposeResult:
        """Yield the frame and the first list; the others are made when they are gone to."""
        self.add_class(*size_classes(self.app.size))
        yield Head(id="head")
        yield Banner(id="banner")
        yield Card(id="since")
        with Container(id="body"):
            self._bring(self.mode)
            yield self.pane
        yield UndoBar(id="grace")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin with what waits for the human."""
        self.pane.focus_first()
        self.show(self.situation, self.now)
        if not self.read_only:
            self.call_after_refresh(self.pending_decisions.report_unsaved)

    def take_preferences(self, preferences: Preferences) -> None:
        """Make what the human chose hold from now on."""
        self.preferences = self.cache.preferences = preferences
        for pane in self._panes.values():
            if pane.is_complete:
                pane.take_preferences()
        self._seat.take_preferences(preferences)

    @property
    def visit(self) -> Visit:
        """The human's visit, as it ends now."""
        return Visit(self.caller.team.clock(), self.cache.divider)

    # The lists, one of them in front.

    def _bring(self, mode: Mode) -> bool:
        """Put the list `mode` in front; whether it was made for that and must be mounted."""
        is_fresh = mode not in self._panes
        if is_fresh:
            module, _, name = _PANES[mode].partition(":")
            made: type[Pane[Any]] = getattr(import_module(f"team_console.console.tui.modes.{module}"), name)
            self._panes[mode] = made(self.cache)
        if self.mode in self._panes:
            self.pane.remove_class("-active")
        self.mode = mode
        self.pane.add_class("-active")
        return is_fresh

    def go(self, mode: Mode) -> None:
        """Go to a list."""
        if mode is self.mode:
            if self._is_drawn:
                self.pane.focus_first()
            return
        if self.is_reading:
            self.pane.read(False)
        is_fresh = self._bring(mode)
        self._show_frame()
        if is_fresh:
            self.run_worker(self._bring_in(self.pane), group="panes")
        else:
            self._enter()

    async def _bring_in(self, pane: Pane[Any]) -> None:
        await self.query_one("#body").mount(pane)
        if self.pane is pane:
            self._enter()

    def _enter(self) -> None:
        if not self._is_drawn:
            return
        self.pane.divider.lay_out()
        self._show_pane(again=True)
        self.pane.focus_first()
        self.app.call_later(self._show_keys)  # behind the focus, which moves later: its keys are written once

    def go_to_row(self, mode: Mode, key: str) -> None:
        """Go to a row of a list."""
        self.go(mode)
        self.pane.seek(key)

    def go_to_agent(self, name: str) -> None:
        """Go to the page of an agent."""
        self.go(Mode.AGENTS)
        self.pane.seek_agent(name)  # type: ignore[attr-defined]

    @property
    def _is_drawn(self) -> bool:
        """Whether the list in front is complete; before that no key acts on it and nothing is shown in it."""
        return self.pane.is_complete

    # What is shown.

    def show(self, situation: ScreenState, now: datetime) -> None:
        """Show another situation in the present list; other lists follow when they are gone to."""
        self.situation, self.now = situation, now
        if self._tells_since is not None and situation.is_read:
            self.tell_since(self._tells_since)
            self._tells_since = None
        shown = self.shown_in_front
        if shown is not None and shown is not situation and shows_the_same(shown, situation):
            self._shown[self.mode] = self.pane.listing.situation = situation  # nothing needs to be painted
            return
        self._show_frame()
        if self._is_drawn:
            self._show_pane()
        self._show_keys()
        if follow := getattr(self.app.screen, "follow", None):  # something that is read, over this screen
            follow(self.view)
        if self.form is not None and self._asks_about_request and self.pane.is_complete:
            self.form.show_outcome(self.pane.presenter.outcome)

    def _show_pane(self, *, again: bool = False) -> None:
        """Show the situation in front; a list that fails says so instead of showing what was true before."""
        if self.shown_in_front is self.situation and not again:
            return
        self._shown[self.mode] = self.situation
        try:
            self.pane.show(self.situation, self.now)
        except Exception as error:
            self.report(error)
            self.pane.give_up()

    def show_again(self) -> None:
        """Show the same situation anew, because more is known of it."""
        self._shown.clear()
        self.show(self.situation, self.now)

    def tick(self, now: datetime) -> None:
        """Let ages go on; only what reads otherwise is repainted."""
        self.now = now
        self._show_frame()
        if self._is_drawn:
            self.pane.tick(now)

    def _show_frame(self) -> None:
        """Show all around the list but the keys."""
        situation, now = self.situation, self.now
        view = situation.view if situation.is_read else None
        me = safe_line(self.caller.actor, 40)
        self._places |= places_with_something(view) | {self.mode.place}
        facts = HeadFacts(
            safe_line(situation.snapshot.config.name if situation.snapshot else "team-console", 40),
            "" if self.read_only else me,
            pulse_of(situation, now),
            self.cannot_write,
            self._place_read,
            self.busy,
        )
        tabs = tabs_of(view, self._places, watched=me if self.read_only else "")
        self.query_one(Head).show(tabs, str(self.mode.place), facts)
        self.query_one("#banner", Banner).show(notice_of(situation, now))

    @property
    def _place_read(self) -> str:
        """The position among the things to read; empty in a list."""
        here, number = self.pane.chosen_from.position if self.is_reading else (0, 0)
        return f"{here:,} of {number:,}" if number else ""

    def _show_keys(self) -> None:
        """The keys that do something to what is chosen; none while something stands in front that has its own."""
        if not self.is_mounted:
            return
        bar, is_filtering = self.query_one(KeyBar), self.pane.search.is_open
        if not self._is_in_front or is_filtering:
            bar.show(_OF_THE_FILTER if is_filtering else ())
            return
        context = self.context()
        here = (action for action in actions_in(context.mode, read_only=self.cannot_write) if action.footer)
        if context.is_reading:
            here = (BY_ID[name] for name in READING if not (self.cannot_write and BY_ID[name].writes))
        usable = (action for action in here if shown_key(action) and action.disabled(context) is None)
        hints = tuple(KeyHint(shown_key(action), action.label_on(context)) for action in usable)
        hints = (KeyHint("space", "page"), *hints) if context.is_reading else hints
        names = ("back", "help") if context.is_reading else PINNED
        bar.show(hints, tuple(KeyHint(shown_key(BY_ID[name]), BY_ID[name].label) for name in names))

    def show_pending(self) -> None:
        """Show what is not written yet in its rows, and the seconds left."""
        self.cache.pending = self._marks()
        self.show_again()
        self._count_down()

    def _marks(self) -> dict[str, str]:
        """Return Id of a request or message -> what was decided about it and is not written, or that an answer was
        begun.
        """
        return {**dict.fromkeys(self.drafts.requests(), DRAFT), **self.pending_decisions.subjects}

    def _count_down(self) -> None:
        """Show the pending decisions and the seconds left, again each second while one is pending."""
        last = self.pending_decisions.last
        words = safe_line(last.pending.words, 200) if last is not None else ""
        more = len(self.pending_decisions) - len(last.pending.writes) if last is not None else 0
        seconds = max(0, round(last.due - monotonic())) if last is not None else 0
        self.query_one(UndoBar).show(words, seconds, more=more)
        if last is not None and self._counting is None:
            self._counting = self.set_interval(1.0, self._count_down)
        elif last is None and self._counting is not None:
            self._counting.stop()
            self._counting = None

    def toast(self, text: str, *, severity: str = "information") -> None:
        """Say something for a few seconds, a warning that still stands there only once; it is only ever text.

        A key that is held down says no ten times, and that is one warning.
        """
        text, now = safe_text(text), datetime.now(UTC)
        seconds = _SECONDS if severity == "information" else _SECONDS_OF_WARNING
        for at, how, said in self.last_said:
            if (how, said) == ("warning", text) and (now - at).total_seconds() < seconds:
                return
        self.last_said.appendleft((now, severity, text))
        self.notify(text, severity=severity, markup=False, timeout=seconds)  # type: ignore[arg-type]

    def tell_done(self, text: str) -> None:
        """Look at the store again, and say what was done."""
        self.look()
        self.toast(text)

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
        self.busy = words
        self._show_frame()

    # What happened while the human was away.

    def tell_since(self, since: datetime, *, always: bool = False) -> None:
        """Say what happened since a moment; without `always` only where something did."""
        view, team = self.view, self.caller.team

        def read() -> None:
            found = digest_of_team(team, view, since) if view is not None else None
            if found is not None and (always or found.happened):
                self.app.call_from_thread(self._show_since, found)

        self.run_worker(read, thread=True, group="since", exclusive=True, exit_on_error=False)

    def came_back(self, seconds: float) -> None:
        """The human was away for so long: say what happened, and mark what came meanwhile."""
        self.left_at = self.cache.new_since = self.caller.team.clock() - timedelta(seconds=seconds)
        self.tell_since(self.left_at)

    def _show_since(self, digest: Digest) -> None:
        title = digest_title(digest.since, self.now, has_left=self.left_at is not None)
        self.query_one(Card).show(title, digest_lines(digest))

    # What keys mean.

    @property
    def _is_in_front(self) -> bool:
        """Whether keys are about the lists: nothing lies over them, and no form is open."""
        return self.app.screen is self and self.form is None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let no key of the lists act while a form is open."""
        return super().check_action(action, parameters) and (action != "perform" or self.form is None)

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
        if not self._is_drawn or self.background.opens_form or self._undrawn:
            return False
        return not (self.pane.is_leaving and self._seat.is_behind)

    def context(self) -> ActionContext:
        """Return the context that keys act on now."""
        caller = self.caller
        lead = self.situation.snapshot.config.lead if self.situation.snapshot else caller.actor
        return ActionContext(
            mode=self.mode,
            me=caller.actor,
            lead=lead,
            view=self.view,
            no_writing=no_writing(self.situation, read_only=self.read_only),
            selection=self.pane.selection() if self._is_drawn else NOTHING,
            pending=self.pending_decisions.subjects,
            is_reading=self.is_reading,
        )

    def action_perform(self, name: str) -> None:
        """Do an action of the registry, or say why not; one that decides only once what it is about is drawn."""
        if name.startswith("own:"):
            if self._is_drawn and self._is_in_front:
                self._seat.perform(name, self.context())
            return
        action = BY_ID[name]
        if not self._is_drawn and action.group is not Group.CONSOLE:
            return
        if not action.deciding:
            self._do(action)
            return
        self.pane.presenter.show_now()
        self._undrawn += 1  # until then keys wait: what they are meant for is about to change
        self.call_after_refresh(self._do_drawn, action, monotonic() + _PAINTED_WITHIN)

    def _do_drawn(self, action: Action, until: float) -> None:
        waits, pane = False, self.pane
        try:
            if not pane.is_complete:
                return  # what it was about is not in front any more
            if not pane.presenter.is_drawn and monotonic() < until:
                # A widget tells its screen by a message that it is to be painted; until that has come the screen rests.
                pane.presenter.show_now(whole=True)
                waits = self.call_after_refresh(self._do_drawn, action, until)
            else:
                self._do(action)
        finally:
            self._undrawn -= not waits  # whatever fails here, the keys after it are not held for ever

    def _do(self, action: Action) -> None:
        if not self._is_in_front:
            return
        context = self.context()
        why = action.disabled(context)
        if why is not None:
            if action.is_here(context.mode):
                self.toast(f"{action.label.rstrip('…')}: {why}", severity="warning")
            return
        self._warning = ""
        if action.deciding and self.pane.chosen_from.undisturbed_for() < GUARD:
            if not action.asks:
                self.toast(f"{_CHANGED} Review it, then press the key again.", severity="warning")
                return
            self._warning = _CHANGED
        self._seat.perform(action.id, context)

    def back(self) -> None:
        """Back out of the innermost thing; at the outside, take the card away, or stop asking agents."""
        is_backed_out = self._is_drawn and self.pane.back()
        if not (is_backed_out or self.query_one(Card).dismiss()):
            self.background.cancel_stopping()
        self._show_keys()

    # Forms, one at a time, and what they decide.

    def ask(self, form: Form[ResultT], then: Callable[[ResultT], object], *, about: RequestRow | None = None) -> None:
        """Ask the human with `form`, which may ask `about` one request; `then` goes on with its result.

        It stands below the thing it is about, which stays shown whatever becomes of it.
        """
        if self.form is not None:  # a slow look was waited for, and another form opened meanwhile
            self.toast("Another form is open. Finish it, then press the key again.", severity="warning")
            return

        def closed(result: ResultT | None) -> None:
            self.form = None
            pane.divider.take_away(form)
            self.set_focus(self._focus_below)
            self._another_front()
            if result is not None:
                then(result)

        pane = self.pane
        form.closed, form.editor = closed, lambda text: edit_text(self.app, text, suffix=".md")
        form.warning, self._warning = self._warning, ""
        self.app.clear_notifications()  # they would lie over the fields
        self.form, self._focus_below, self._asks_about_request = form, self.focused, about is not None
        pane.divider.hold(form)
        self._another_front()

    def set_focus(self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False) -> None:
        """Keep the focus in an open form; what asks for it meanwhile has it once the form is closed."""
        if self.form is not None and (widget is None or self.form not in widget.ancestors_with_self):
            self._focus_below = widget or self._focus_below
        else:
            super().set_focus(widget, scroll_visible=False, from_app_focus=from_app_focus)

    def ask_to_decide(self, form: Form[PendingDecision], *, about: RequestRow | None = None) -> None:
        """Ask with `form`; the decision waits for its undo delay, and the cursor moves on to the next row."""
        self.ask(form, self.decided, about=about)

    def decide(self, pending: PendingDecision) -> None:
        """Decide without a form."""
        self.background.run(lambda: self.pending_decisions.prepare(pending), self.decided)

    def decided(self, pending: PendingDecision) -> None:
        """Go on from what was decided, and write it after its undo delay."""
        self.step_on(pending.subjects)
        self.pending_decisions.take(pending)

    def undo(self) -> None:
        """Take back what was decided last."""
        if not self.pending_decisions.undo():
            self.toast("It is being written already.", severity="warning")

    def text_read(self) -> str:
        """Return the source of the text being read, made safe: an editor or pager may print it to the terminal."""
        self.pane.presenter.show_now()
        document = self.pane.detail.document
        return safe_text(document.source).rstrip("\n") + "\n" if document is not None and document.source else ""

    def step_on(self, decided: Collection[str]) -> None:
        """Go from what was just decided to the next thing; that it leaves the list is no disturbance."""
        if (pane := self.complete_pane) is not None:
            pane.step_on(decided)

    def stay(self) -> None:
        """Keep the rows of decisions that were undone or refused, in whichever list they were decided."""
        for pane in self._panes.values():
            if pane.is_complete:
                pane.rows.stay()

    def seek(self, subject: str) -> None:
        """Put the cursor on the row of what was taken back."""
        if (pane := self.complete_pane) is not None:
            pane.seek_subject(subject)

    def _tell_wait(self, words: str, give_up: Callable[[], None]) -> None:
        """In a thread that writes: a human's key is waited for."""

        def show() -> None:
            if self.form is not None and self.form.is_at_work:
                self.form.wait_for(words, give_up)
            else:
                self.set_busy(words)

        self.app.call_from_thread(show)

    @on(Pane.Looked)
    @on(DescendantFocus)
    def _looked(self) -> None:
        self._show_frame()
        self._show_keys()

    @on(ContentWanted)
    def _wanted(self, event: ContentWanted) -> None:
        event.stop()
        self.background.fetch(event.message)

    @on(Detail.Wanted)
    def _wanted_of_detail(self, event: Detail.Wanted) -> None:
        self.action_perform(event.action)

    @on(EvidenceWanted)
    def _evidence_wanted(self, event: EvidenceWanted) -> None:
        event.stop()
        self.background.gather(event.request)

    @on(Pane.GoTo)
    def _go_to(self, event: Pane.GoTo) -> None:
        event.stop()
        self.go_to_row(event.mode, event.key)

    @on(FewLines.Clicked, "#keys")
    def _pressed(self, event: FewLines.Clicked) -> None:
        if self.pane.search.is_open:
            self.pane.search.close(keep=event.name == "enter")
            return
        here = actions_in(self.mode, read_only=self.cannot_write)
        action = next((action for action in here if shown_key(action) == event.name), None)
        if action is not None:
            self.action_perform(action.id)

    @on(FewLines.Clicked, "#head")
    def _chosen(self, event: FewLines.Clicked) -> None:
        self.go(Mode(event.name))

    @on(ScreenSuspend)
    @on(ScreenResume)
    def _another_front(self) -> None:
        if self._is_in_front and self._marks() != self.cache.pending:
            self.show_pending()
        self.call_after_refresh(self._show_keys)

    def on_resize(self, event: Resize) -> None:
        """Fit the layout to a screen of that width."""
        self.set_class(event.size.width >= BROAD, "-broad")
        self.call_after_refresh(self._show_frame)
