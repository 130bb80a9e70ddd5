"""The one screen: status, modes, banner, the pane of the present mode and its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.app.background import Background
from team_console.console.app.drafts import Drafts
from team_console.console.app.faults import Fault
from team_console.console.app.last_place import Place
from team_console.console.app.unwritten import Unwritten, left_behind
from team_console.console.display.screen_state import ScreenState, no_writing, notice_of, pulse_of
from team_console.console.display.tabs import tabs_of
from team_console.console.display.team import Events, cells_of
from team_console.console.display.tips import step_of, tip_line
from team_console.console.handlers import handlers
from team_console.console.input.actions import ACTIONS, BY_ID, PINNED, Action, Group, actions_in, shown_key
from team_console.console.input.subject import NOTHING, Mode, Subject
from team_console.console.panes.attachments import AttachmentCache
from team_console.console.panes.beside import EvidenceWanted
from team_console.console.panes.list_pane import ListPane
from team_console.console.panes.pane import AgentPane, Pane
from team_console.console.preferences.model import Preferences
from team_console.console.screens.reading import ReadingScreen
from team_console.console.screens.standing_forms import StandingForms
from team_console.store.desk.caller import Caller
from team_console.store.model.safe import safe_line
from team_console.widgets.bars.banner import Banner, Notice, NoticeKind
from team_console.widgets.bars.grace_bar import GraceBar
from team_console.widgets.bars.key_bar import KeyBar, KeyHint
from team_console.widgets.bars.status_line import Standing, StatusLine
from team_console.widgets.bars.tab_bar import TabBar
from team_console.widgets.bars.tip_bar import TipBar
from team_console.widgets.guarded import Guarded
from team_console.widgets.team.column import TeamColumn
from team_console.widgets.team.strip import TeamStrip
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import DescendantFocus, Resize
from textual.screen import Screen
from textual.timer import Timer

if TYPE_CHECKING:
    from team_console.store.views.rows import View
    from team_console.widgets.forms.form import Form

ResultT = TypeVar("ResultT")

BROAD = 160
"""Columns from which on a third column shows the team."""
GUARD = 0.7
"""Seconds for which a deciding key asks to look again after the row under the cursor changed by itself."""
_CHANGED = "The list just changed under the cursor."


class Outside(Struct, frozen=True):
    """What the screen asks for from outside.

    Attributes:
        look: Has the store looked at again.
        redraw: Has the team read again and every cell drawn anew.
        report: Takes an exception nobody expected.
        drop_keys: Forgets keys that were typed and have not acted yet; returns how many.
    """

    look: Callable[[], None]
    redraw: Callable[[], None]
    report: Callable[[Exception], None]
    drop_keys: Callable[[], int] = lambda: 0


class MainScreen(Guarded, Screen[None]):
    """Everything the human sees; what it knows comes in through `show`, what it wants goes out through handlers."""

    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (72, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-middle"), (30, "-tall")]
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
        self.shelf = AttachmentCache(caller.team, preferences=self.preferences)
        self.background = Background(self)
        self.unwritten = Unwritten(self)
        self.forms = StandingForms(self, lambda: self.pane, outside.drop_keys)
        self.mode = self._place.mode
        self.situation = ScreenState()
        self.now = caller.team.clock()
        self.busy = ""
        self.events = Events()
        self.tip: int | None = None
        self._performing = 0
        self._counting: Timer | None = None
        self._warned: dict[str, float] = {}
        self._panes: dict[Mode, Pane] = {}
        self._shown: dict[Mode, ScreenState] = {}

    @property
    def pane(self) -> Pane:
        """The pane of the present mode."""
        return self._panes[self.mode]

    @property
    def view(self) -> View | None:
        """What is shown, as plain rows."""
        return self.situation.sight.view if self.situation.sight else None

    @property
    def cannot_write(self) -> bool:
        """Whether nothing can be written, by choice or for want of permissions."""
        return self.read_only or bool(self.situation.obstacle)

    def compose(self) -> ComposeResult:
        """The frame and the first pane; the others are made when they are gone to."""
        self._fit()
        yield StatusLine(id="status")
        yield TabBar(id="tabs")
        yield TeamStrip(id="strip")
        yield Banner(id="banner")
        yield Banner(id="fault")
        with Container(id="body"):
            pane = self._panes[self.mode] = _make(self.mode, self.shelf)
            pane.add_class("-active")
            yield pane
            yield TeamColumn(id="team")
        yield TipBar(id="tip")
        yield GraceBar(id="grace")
        yield KeyBar(id="keys")

    def _fit(self) -> None:
        """Have the classes of the terminal's size from the first picture on, not only after the first resize."""
        for size, steps in zip(self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True):
            self.add_class(max((least, name) for least, name in steps if least <= size)[1])
        self._fit_broad(self.app.size.width)

    def _fit_broad(self, width: int) -> None:
        """From so many columns on there is room for a third column; Textual gives a screen one class of width only."""
        self.set_class(width >= BROAD, "-broad")

    def on_mount(self) -> None:
        """Begin in the list of what waits."""
        self.set_class(self.mode is Mode.INBOXES, "-roster")
        self.query_one(TeamStrip).moves = self.preferences.motion
        self.pane.focus_first()
        self.show(self.situation, self.now)
        if self._place.filter and isinstance(self.pane, ListPane):
            self.pane.set_filter(self._place.filter)
        if not self.read_only:
            self.call_after_refresh(self._tell_left_behind)

    @property
    def place(self) -> Place:
        """Where the human is, to come back to."""
        return Place(self.mode, self.pane.query_text if isinstance(self.pane, ListPane) else "")

    def _tell_left_behind(self) -> None:
        """Say what was decided in a console that ended before it could write it."""
        if words := left_behind(self.drafts):
            listed = "\n".join(f"· {safe_line(text, 200)}" for text in words[:6])
            self.toast(
                f"△ Decided and not written when a console was cut off; decide again:\n{listed}", severity="error"
            )

    @property
    def takes_keys(self) -> bool:
        """Whether keys can act now: what they would act on is drawn, and no form is about to open."""
        return self._performing == 0 and self._is_drawn and not self.background.opens_form

    def show(self, situation: ScreenState, now: datetime) -> None:
        """Show another situation in the present pane; other panes follow when they are gone to."""
        self.situation, self.now = situation, now
        with self._contained():
            self._show_frame()
        if self._is_drawn and self._shown.get(self.mode) is not situation:
            self._show_pane()
        self._show_keys()
        self._followed()

    def _followed(self) -> None:
        """What stands in front and follows the team is told that it changed."""
        if isinstance(front := self.app.screen, ReadingScreen):
            front.follow()

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
        fresh = mode not in self._panes
        if fresh:
            self._panes[mode] = _make(mode, self.shelf)
        self.pane.remove_class("-active")
        self.mode = mode
        self.set_class(mode is Mode.INBOXES, "-roster")
        self.pane.add_class("-active")
        with self._contained():
            self._show_frame()
        if fresh:
            self.run_worker(self._bring_in(self._panes[mode]), group="panes")
        else:
            self._enter()

    def back(self) -> None:
        """Back out of the innermost thing; at the outside, take away the banner of a defect and stop asking agents."""
        if not self.pane.back() and not self.query_one(TipBar).dismiss():
            self.query_one("#fault", Banner).show(None)
            self.background.cancel_stopping()
        self._show_keys()

    def subject(self) -> Subject:
        """What keys act on now."""
        caller = self.caller
        lead = self.situation.snapshot.config.lead if self.situation.snapshot else caller.actor
        capabilities = caller.team.capabilities
        reason = no_writing(
            self.situation,
            read_only=self.read_only,
            can_write=capabilities.write,
            why=capabilities.reasons.get("write", ""),
        )
        selection = NOTHING
        with self._contained():
            selection = self.pane.subject() if self.pane.is_mounted else NOTHING
        return Subject(
            mode=self.mode,
            me=caller.actor,
            lead=lead,
            view=self.view,
            no_writing=reason,
            selection=selection,
            unwritten=self.unwritten.subjects,
        )

    def action_perform(self, name: str) -> None:
        """Do an action of the registry, or say why not."""
        action = BY_ID[name]
        if not self._is_drawn and action.group is not Group.CONSOLE:
            return
        if action.deciding:
            self.pane.draw_now()
            self._performing += 1  # until then keys wait: what they are meant for is about to change
            self.call_after_refresh(self._perform_drawn, action)
        else:
            self._perform(action)

    def ask(
        self,
        form: Form[ResultT],
        told: Callable[[ResultT], str] | None,
        *,
        then: Callable[[ResultT], None] | None = None,
    ) -> None:
        """Ask the human; say what was done once it is done, and look at the store again."""

        def answered(result: ResultT) -> None:
            with self._contained():
                if told is not None:
                    self.look()
                    self.toast(told(result))
                if then is not None:
                    then(result)

        self.forms.open(form, answered)

    def step_on(self) -> None:
        """Go from what was just decided to the next thing; that it leaves the list is no disturbance."""
        if isinstance(self.pane, ListPane):
            self.pane.step_on()

    def seek(self, subject: str) -> None:
        """Put the cursor on the row of what was taken back."""
        if isinstance(self.pane, ListPane):
            self.pane.seek_subject(subject)

    def show_unwritten(self) -> None:
        """Show what is not written yet in its rows, and the seconds left."""
        self.shelf.unwritten = self.unwritten.subjects
        self.show_again()
        self._count_down()

    def _count_down(self) -> None:
        """The seconds left, each second anew while something waits."""
        last = self.unwritten.last
        words = safe_line(last.words, 200) if last is not None else ""
        more = len(self.unwritten) - len(last.acts) if last is not None else 0
        self.query_one(GraceBar).show(words, self.unwritten.seconds, more=more)
        if last is not None and self._counting is None:
            self._counting = self.set_interval(1.0, self._count_down)
        elif last is None and self._counting is not None:
            self._counting.stop()
            self._counting = None

    def toast(self, text: str, *, severity: str = "information") -> None:
        """Say something for a few seconds, a warning that still stands there only once; `text` is safe already."""
        moment, seconds = monotonic(), 6.0 if severity == "information" else 9.0
        self._warned = {said: until for said, until in self._warned.items() if until > moment}
        if text in self._warned:
            return
        if severity == "warning":
            self._warned[text] = moment + seconds
        self.app.notify(text, severity=severity, markup=False, timeout=seconds)  # type: ignore[arg-type]

    def show_again(self) -> None:
        """Show the same situation anew, because more is known of it."""
        self._shown.clear()
        self.show(self.situation, self.now)

    def set_busy(self, words: str) -> None:
        """Say in the status line what is going on; empty for nothing."""
        self.busy = words
        self._show_frame()

    def _perform_drawn(self, action: Action) -> None:
        try:
            self._perform(action)
        finally:
            self._performing -= 1

    def _tell_wait(self, words: str, give_up: Callable[[], None]) -> None:
        """In a thread that writes: a human's key is waited for."""
        self.app.call_from_thread(self._show_wait, words, give_up)

    def _show_wait(self, words: str, give_up: Callable[[], None]) -> None:
        tell = getattr(self.app.screen, "wait_for", None)  # forms are loaded only once they are opened
        if tell is not None:
            tell(words, give_up)
        else:
            self.set_busy(words)

    def _perform(self, action: Action) -> None:
        if self.app.screen is not self:
            return
        subject = self.subject()
        why = action.disabled(subject)
        if why is not None:
            silent = subject.no_writing and self.read_only and action.writes
            if action.is_here(self.mode) and not silent:
                self.toast(f"{action.label.rstrip('…')}: {why}", severity="warning")
            return
        self.forms.warning = ""
        if action.deciding and self.pane.undisturbed_for() < GUARD:
            if not action.asks:
                self.toast(f"{_CHANGED} Look again, then press it again.", severity="warning")
                return
            self.forms.warning = _CHANGED
        with self._contained():
            handlers()[action.id](self, subject)

    @property
    def _is_drawn(self) -> bool:
        """Whether the present pane is complete; before that no key acts on it and nothing is shown in it."""
        return self.pane.is_mounted

    async def _bring_in(self, pane: Pane) -> None:
        await self.query_one("#body").mount(pane)
        if self.pane is pane:
            self._enter()

    def _enter(self) -> None:
        if not self._is_drawn:
            return
        self._show_pane()
        with self._contained():
            self.pane.focus_first()
        self._show_keys()

    def _show_pane(self) -> None:
        """Show the situation in the present pane; one that fails says so instead of showing what was true before."""
        self._shown[self.mode] = self.situation
        try:
            self.pane.show(self.situation, self.now)
        except Exception as error:
            self.report(error)
            self.pane.give_up()

    def show_fault(self, fault: Fault) -> None:
        """Say that a part of the console failed and where that is logged; of several the first, the others follow."""
        banner = self.query_one("#fault", Banner)
        if banner.notice is not None:
            return
        where = f" in {fault.where}" if fault.where else ""
        text = f"a part of the console failed ({fault.kind}{where}); the rest goes on"
        place = f"Where, but no message, is in {safe_line(fault.log, 200)}. " if fault.log is not None else ""
        notice = Notice(NoticeKind.DEFECT, safe_line(text, 200), f"{place}esc takes this away.")
        banner.show(notice)

    @contextmanager
    def _contained(self) -> Iterator[None]:
        """One part of the screen must not keep the others from being shown."""
        try:
            yield
        except Exception as error:
            self.report(error)

    def _show_frame(self) -> None:
        team = self.caller.team
        snapshot = self.situation.snapshot
        standing = Standing(
            team=safe_line(snapshot.config.name if snapshot else "team-console", 40),
            me=safe_line(self.caller.actor, 40),
            place=safe_line(team.location, 300),
            pulse=pulse_of(self.situation, self.now),
            read_only=self.cannot_write,
            busy=self.busy,
        )
        self.query_one(StatusLine).show(standing)
        self.query_one(TabBar).show(tabs_of(self.view if self.situation.is_read else None), str(self.mode))
        self.query_one("#banner", Banner).show(notice_of(self.situation, self.now))
        self._show_team()

    def _show_team(self) -> None:
        """The team: the strip always, the column where there is room for it."""
        if self.tip is not None:
            self.tip = step_of(self.view, self.mode, self.tip)
            self.query_one(TipBar).show(tip_line(self.tip))
        self.events.take(self.view)
        cells, events = cells_of(self.view), self.events.newest
        self.query_one(TeamStrip).show(cells, events[0] if events else None)
        if self.has_class("-broad"):
            self.query_one(TeamColumn).show(cells, events, self.now)

    def _show_keys(self) -> None:
        if not self.is_mounted:
            return
        subject = self.subject()
        here = [action for action in actions_in(self.mode, read_only=self.cannot_write) if action.footer]
        pairs = [(_hint(action, subject), action.group) for action in here]
        hints = [hint for hint, group in pairs if hint.enabled or group is Group.DECIDE]
        pinned = tuple(KeyHint(shown_key(BY_ID[name]), BY_ID[name].label) for name in PINNED)
        self.query_one(KeyBar).show(tuple(hints), pinned)

    @on(Pane.Looked)
    def _looked(self, event: Pane.Looked) -> None:
        event.stop()
        self._show_keys()

    @on(DescendantFocus)
    def _focused(self) -> None:
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
        pane = self._panes[Mode.INBOXES]
        if isinstance(pane, AgentPane):
            pane.seek_agent(name)

    @on(TabBar.Chosen)
    def _chosen(self, event: TabBar.Chosen) -> None:
        self.go(Mode(event.id))

    def on_resize(self, event: Resize) -> None:
        """The team beside list and detail where there is room for it."""
        self._fit_broad(event.size.width)
        self.call_after_refresh(self._show_frame)


def _hint(action: Action, subject: Subject) -> KeyHint:
    return KeyHint(shown_key(action), action.label, action.disabled(subject) is None)


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


def _make(mode: Mode, shelf: AttachmentCache) -> Pane:
    """The pane of a mode; its module is imported when it is first gone to."""
    module, _, name = _PANES[mode].partition(":")
    made: type[Pane] = getattr(import_module(f"team_console.console.panes.{module}"), name)
    return made(shelf)
