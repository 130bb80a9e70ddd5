"""The one screen: status, modes, banner, the pane of the present mode and its keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, TypeVar

from msgspec.structs import replace
from team_console.console.app.background import Background
from team_console.console.app.drafts import Drafts
from team_console.console.app.faults import Fault
from team_console.console.app.last_place import Place
from team_console.console.app.unwritten import Unwritten
from team_console.console.display.screen_state import ScreenState, no_writing
from team_console.console.input.action import Group
from team_console.console.input.actions import ACTIONS, BY_ID, actions_in, shown_key
from team_console.console.input.subject import NOTHING, Mode, Subject
from team_console.console.panes.attachments import AttachmentCache
from team_console.console.panes.beside import EvidenceWanted
from team_console.console.panes.list_pane import ListPane
from team_console.console.panes.pane import AgentPane, Pane
from team_console.console.preferences.model import Preferences
from team_console.console.screens.breakpoints import BROAD, HORIZONTAL, VERTICAL, size_classes
from team_console.console.screens.frame import Frame, Shown
from team_console.console.screens.outside import Outside
from team_console.console.screens.pane_stack import PaneStack
from team_console.console.screens.performer import Performer
from team_console.console.screens.reading import ReadingScreen
from team_console.console.screens.standing_forms import StandingForms
from team_console.console.screens.toasts import Toasts
from team_console.console.terminal.compositor import SparingCompositor
from team_console.store.service.caller import Caller
from team_console.widgets.bars.banner import Banner
from team_console.widgets.bars.grace_bar import GraceBar
from team_console.widgets.bars.key_bar import KeyBar
from team_console.widgets.bars.status_line import StatusLine
from team_console.widgets.bars.tab_bar import TabBar
from team_console.widgets.bars.tip_bar import TipBar
from team_console.widgets.guarded import Guarded
from team_console.widgets.layered import Layered
from team_console.widgets.team.column import TeamColumn
from team_console.widgets.team.strip import TeamStrip
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import DescendantFocus, Resize, ScreenResume, ScreenSuspend
from textual.screen import Screen

if TYPE_CHECKING:
    from team_console.store.views.rows import RequestRow, View
    from team_console.widgets.forms.form import Form

ResultT = TypeVar("ResultT")


class MainScreen(Guarded, Layered, Screen[None]):
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
        self._compositor = SparingCompositor()
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
        self.performer = Performer(self, self, self.forms, subject=self.subject, contained=self._contained)

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

    def compose(self) -> ComposeResult:
        """The frame and the first pane; the others are made when they are gone to."""
        self.add_class(*size_classes(self.app.size))
        yield StatusLine(id="status")
        yield TabBar(id="tabs")
        yield TeamStrip(id="strip")
        yield Banner(id="banner")
        yield Banner(id="fault")
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
        with self._contained():
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
        with self._contained():
            self._show_frame()
        if self._is_drawn:
            self.pane.tick(now)

    def go(self, mode: Mode) -> None:
        """Go to a mode."""
        if mode is self.mode:
            if self._is_drawn:
                self.pane.focus_first()
            return
        fresh = self.panes.bring(mode)
        self.set_class(mode is Mode.INBOXES, "-roster")
        with self._contained():
            self._show_frame()
        if fresh:
            self.run_worker(self._bring_in(self.pane), group="panes")
        else:
            self._enter()

    def back(self) -> None:
        """Back out of the innermost thing; at the outside, take away the banner of a defect and stop asking agents."""
        if not (self._is_drawn and self.pane.back()) and not self.frame.dismiss_tip():
            self.frame.hide_fault()
            self.background.cancel_stopping()
        self._show_keys()

    def subject(self) -> Subject:
        """What keys act on now."""
        caller = self.caller
        lead = self.situation.snapshot.config.lead if self.situation.snapshot else caller.actor
        selection = NOTHING
        with self._contained():
            selection = self.pane.subject() if self._is_drawn else NOTHING
        return Subject(
            mode=self.mode,
            me=caller.actor,
            lead=lead,
            view=self.view,
            no_writing=no_writing(self.situation, read_only=self.read_only),
            selection=selection,
            unwritten=self.unwritten.subjects,
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
            with self._contained():
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
        self.shelf.unwritten = self.unwritten.subjects
        self.show_again()
        self.frame.count_down(self.unwritten)

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
        with self._contained():
            self.pane.focus_first()
        self.app.call_later(self._show_keys)  # behind the focus, which moves later: its keys are written once

    def show_fault(self, fault: Fault) -> None:
        """Say that a part of the console failed and where that is logged."""
        self.frame.show_fault(fault)

    @contextmanager
    def _contained(self) -> Iterator[None]:
        """One part of the screen must not keep the others from being shown."""
        try:
            yield
        except Exception as error:
            self.report(error)

    def _show_frame(self) -> None:
        has_column = self.has_class("-broad")
        self.frame.show(Shown(self.situation, self.now, self.mode, self.cannot_write, self.busy, has_column))

    def _show_keys(self) -> None:
        if self.is_mounted:
            self.frame.show_keys(self.subject(), cannot_write=self.cannot_write, is_filtering=self.pane.is_asking)

    @on(Pane.Looked)
    @on(DescendantFocus)
    def _looked(self) -> None:
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
        self.call_after_refresh(self._show_keys)

    def on_resize(self, event: Resize) -> None:
        """The team beside list and detail where there is room for it."""
        self.set_class(event.size.width >= BROAD, "-broad")
        self.call_after_refresh(self._show_frame)
