"""The base of all questions: it stays until its act is done, and nothing typed is lost when the act fails."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, ClassVar, Generic, TypeVar

from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_text
from team_console.widgets.forms import seen_guard
from team_console.widgets.forms.changed import AskAgain
from team_console.widgets.forms.excerpt import Excerpt
from team_console.widgets.guarded import Guarded
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.events import Compose, Mount
from textual.message import Message
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Button, Input, Static, TextArea
from textual.worker import Worker, WorkerState

ResultT = TypeVar("ResultT")

UNSURE = "Whether it was written is not sure; look before you do it again."
"""What is said of a write that failed in a way nobody foresaw."""
_FEWEST_NEW = 6
"""Lines of what is new that are shown at once, whatever the height; more of them scroll."""
KEEP_AFTER = 0.5
"""Seconds of typing after which a draft is kept."""
_LOOK = "◔ look first"
"""Stands where the keys of a form will stand, until they work."""
Draft = Mapping[str, str]
"""What stands in the fields of a form, by the field's name."""


class Form(Guarded, ModalScreen[ResultT | None], Generic[ResultT]):
    """A question. `act` runs in a thread; the form closes with its result, or shows its `TeamError` and stays."""

    DEFAULT_CSS = """
    Form { align: center middle; background: $background 60%; }
    Form > .form--box { width: 76; max-width: 96%; height: auto; max-height: 92%; background: $surface;
        border: round $accent; border-title-color: $text-accent; border-title-style: bold;
        border-subtitle-color: $text-muted; padding: 0 1; }
    Form .form--body { height: auto; max-height: 1fr; }
    Form .form--row { layout: horizontal; height: auto; margin-top: 1; }
    Form .form--label { width: 11; color: $text-muted; }
    Form .form--row > Field, Form .form--row > Note { width: 1fr; }
    Form .form--error { display: none; height: auto; margin-top: 1; color: $text-error; }
    Form .form--error.-shown { display: block; }
    Form .form--text { height: auto; margin-top: 1; }
    Form .form--note { height: auto; color: $text-muted; margin-top: 1; }
    Form .form--buttons { layout: horizontal; height: auto; align-horizontal: right; margin-top: 1; }
    Form Button.-textual-compact { min-width: 10; margin-left: 2; background: $panel; color: $foreground;
        text-style: none; padding: 0 2; }
    Form Button.-textual-compact:focus { background: $accent; color: $background; text-style: bold; }
    Form Button:nocolor:focus, Form Button:ansi:focus { text-style: reverse; }
    .-narrow Form > .form--box { width: 96%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("ctrl+s,ctrl+enter", "hand_in", "Hand in", show=False, priority=True),
    ]
    TITLE_WORDS: ClassVar[str] = ""
    VERB: ClassVar[str] = "Send"

    def __init__(self, *, draft: Draft | None = None, on_draft: Callable[[Draft], None] | None = None) -> None:
        super().__init__()
        self.draft: Draft = draft or {}
        self._on_draft = on_draft
        self._busy = False
        self._give_up: Callable[[], None] | None = None
        self._keeping: Timer | None = None
        self.showing = seen_guard.Showing()

    def compose(self) -> ComposeResult:
        """The box with its fields, the line for errors, and the two buttons."""
        with Container(classes="form--box") as box:
            box.border_title = Content(self.title_words())
            box.border_subtitle = Content(_LOOK)
            with VerticalScroll(classes="form--body", can_focus=False):
                yield from self.fields()
            yield Static("", classes="form--error", markup=False)
            with Container(classes="form--buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button(Content(self.verb()), id="hand-in", compact=True)

    def on_screen_resume(self) -> None:
        """It comes to the front: no key hands it in before it was drawn and could be read."""
        self.showing.cover()
        self.call_after_refresh(self._drawn)

    def _drawn(self) -> None:
        self.showing.drawn()
        self.set_timer(seen_guard.LOOK, self._show_keys)

    def _show_keys(self) -> None:
        self.query_one(".form--box").border_subtitle = Content(self.keys())

    def title_words(self) -> str:
        """Safe text on the border."""
        return self.TITLE_WORDS

    def verb(self) -> str:
        """The word on the button that acts."""
        return self.VERB

    def keys(self) -> str:
        """The keys of the form."""
        return f"ctrl+s {self.verb().lower()} · esc keep for later"

    @abstractmethod
    def fields(self) -> ComposeResult:
        """The form's own widgets."""

    @abstractmethod
    def answer(self) -> Callable[[], ResultT]:
        """What to do with what was typed; it runs in a thread.

        Raises:
            TeamError: Something is missing; the form says so and stays.
        """

    def typed(self) -> Draft:
        """What stands in the fields now."""
        return {}

    def keep(self) -> None:
        """Hand the present draft to whoever keeps it."""
        if self._on_draft is not None:
            self._on_draft(self.typed())

    def action_leave(self) -> None:
        """Close without acting, or give up what is waited for; the draft is kept."""
        if self._give_up is not None:
            self._give_up()
        elif not self._busy:
            try:
                self.keep()
            finally:  # a form that is broken can always be left
                self.dismiss(None)

    def wait_for(self, words: str, give_up: Callable[[], None]) -> None:
        """Say what is waited for, such as a key to be touched; leaving gives it up."""
        self._give_up = give_up
        self._say(f"◌ {words} … esc gives it up")

    def broke_at(self, message: Message) -> None:
        """A form that could not be made goes away again, so that the screen behind it can be used."""
        if isinstance(message, Compose | Mount):
            self.call_later(self.dismiss, None)

    def action_hand_in(self) -> None:
        """Act on what was typed, once the form could be looked at."""
        if self._busy or not self.showing.was_seen_at(monotonic()):
            return
        try:
            act = self.answer()
        except TeamError as error:
            self.show_error(error)
            return
        self.keep()
        self._busy = True
        self._say("◌ writing …")
        self._act(act)

    def show_error(self, error: TeamError) -> None:
        """Say why it was not done: what happened, and the next step; a code only where a field cannot mend it."""
        if isinstance(error, AskAgain):
            self._show_changed(error)
            return
        hint = f"\n{safe_text(error.hint)}" if error.hint else ""
        code = "" if error.code.startswith("MISSING_") else f"{error.code}: "
        self._say(f"✗ {code}{safe_text(error.message)}{hint}")

    def _show_changed(self, error: AskAgain) -> None:
        """Show what is new; as with the form itself, no key hands it in before it was drawn and could be read."""
        self._say(f"△ {safe_text(error.message)}\n{safe_text(error.hint)}")
        box = self.query_one(".form--box")
        box.border_subtitle = Content(_LOOK)
        self.showing.cover()
        shown = next(iter(self.query("#changed").results(Excerpt)), None)
        if shown is not None:
            shown.put(error.blocks)
        elif error.blocks:
            most = max(_FEWEST_NEW, self.app.size.height // 3)
            box.mount(Excerpt(error.blocks, most=most, id="changed"), before=".form--error")
        self.call_after_refresh(self.call_after_refresh, self._drawn)

    @work(thread=True, exit_on_error=False, group="act")
    def _act(self, act: Callable[[], ResultT]) -> ResultT:
        return act()

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _something_typed(self) -> None:
        """Keep what is typed while it is typed: a killed process must not lose it."""
        if self._on_draft is not None and self._keeping is None:
            self._keeping = self.set_timer(KEEP_AFTER, self._keep_typed)

    def _keep_typed(self) -> None:
        self._keeping = None
        if not self._busy:
            self.keep()

    @on(Button.Pressed, "#cancel")
    def _cancelled(self) -> None:
        self.action_leave()

    @on(Button.Pressed, "#hand-in")
    def _pressed(self) -> None:
        self.action_hand_in()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """The act ended, one way or the other."""
        if event.worker.group != "act":
            return
        if event.state in (WorkerState.SUCCESS, WorkerState.ERROR):
            self._give_up = None
        if event.state is WorkerState.SUCCESS:
            if self._on_draft is not None:
                self._on_draft({})
            result: Any = event.worker.result
            self.dismiss(result)
        elif event.state is WorkerState.ERROR:
            self._busy = False
            error = event.worker.error
            if isinstance(error, TeamError):
                self.show_error(error)
            else:
                self._say(f"✗ Unexpected: {type(error).__name__}. {UNSURE}")

    def _say(self, text: str) -> None:
        line = self.query_one(".form--error", Static)
        line.update(Content(text))
        line.add_class("-shown")


def labelled(label: str, *widgets: Any) -> Container:
    """A row of a form: its label and its fields."""
    return Container(Static(Content(label), classes="form--label", markup=False), *widgets, classes="form--row")
