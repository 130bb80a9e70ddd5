"""The base of all forms, panels below what they ask about; nothing that is typed is lost.

First `Form`, from which each kind of form derives; then its parts: an excerpt, a wrapped text, the body that scrolls.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Generic, TypeVar

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_text
from team_console.store.protocol.shown_when_decided import seen_of_words
from team_console.store.views.differences import counts_of
from team_console.widgets.bars import KeyBar, KeyHint
from team_console.widgets.client_request_documents import diff_text
from team_console.widgets.detail import Detail, Painted
from team_console.widgets.document import Block, Document, Heading, Text, TextForm
from team_console.widgets.fields import AnyField, Ask, Note, Options
from team_console.widgets.form_gate import GatedPanel
from team_console.widgets.form_results import CHANGED, UNSURE, AskAgain, DeferredResult, Stopped
from team_console.widgets.held_frames import Frames, WhenHeld, frames_of, visible_region
from team_console.widgets.text import text_of
from team_console.widgets.wrapping import wrap
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.geometry import Size
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

_NEW = 6
"""Lines of what is new that are shown at once; more of them scroll."""
MOST_LINES = 14
"""Lines of a text that must be seen whole which are shown at once; more of them scroll."""
KEEP_AFTER = 0.5
"""Seconds of typing after which a draft is kept."""
Draft = Mapping[str, str]
"""What stands in the fields of a form, by the field's name."""
ResultT = TypeVar("ResultT")


class Form(GatedPanel, Generic[ResultT]):
    """A question below the thing it is about, which has the rest of the room.

    What `answer` returns runs in a thread; the form closes with its result, or shows its `TeamError` and stays.
    Enter hands in, in every field of every form. A field that may stay empty is opened by `n`, so that no letter is
    text by itself. Which keys count, `GatedPanel` knows.

    Attributes:
        when_closed: Takes the result once the form is closed, None where nothing was done; whoever asks sets it.
        editor: Lets the human edit a text, in a file whose name ends so, and gives it back; may raise `TeamError`.
        words: The words that go with the answer; None where there are none.
        draft: What its fields begin with.
    """

    DEFAULT_CSS = """
    Form { width: 100%; height: auto; max-height: 60%; background: $surface; border-top: heavy $accent;
        border-title-color: $text-accent; border-title-style: bold; padding: 0 1; }
    Form.-high { max-height: 70%; }
    .-middle Form { max-height: 75%; }
    .-low Form, Form.-says-more { max-height: 90%; }
    Form > FormBody { height: auto; min-height: 2; max-height: 100%; scrollbar-size-vertical: 1; }
    Form > .form--foot { dock: bottom; height: auto; }
    Form .form--row { layout: horizontal; height: auto; }
    Form .form--label { width: 12; padding-right: 2; color: $text-muted; }
    Form .form--row > Field, Form .form--row > Note { width: 1fr; }
    Form #outcome { display: none; height: auto; max-height: 2; color: $text-warning; text-style: bold; }
    Form .form--error { display: none; height: auto; max-height: 6; color: $text-error; }
    Form .form--error.-shown { display: block; }
    Form .form--note { height: auto; color: $text-muted; }
    Form .form--buttons { layout: horizontal; height: 1; }
    Form KeyBar { width: 1fr; padding: 0; background: $surface; }
    Form Button.-textual-compact { min-width: 8; margin-left: 1; background: $panel; color: $foreground;
        text-style: none; padding: 0 1; }
    .-slim Form Button.-textual-compact { padding: 0; }
    Form Button.-textual-compact:focus { background: $accent; color: $background; text-style: bold; }
    Form Button:nocolor:focus, Form Button:ansi:focus { text-style: reverse; }
    """
    SCOPED_CSS = False  # the classes of the terminal's size are the screen's
    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("enter", "enter", "Hand in", show=False),
        Binding("n", "write_note", "With a note", show=False),
        Binding("tab", "app.focus_next", "Next field", show=False),
        Binding("shift+tab", "app.focus_previous", "Former field", show=False),
        Binding("ctrl+s,ctrl+enter", "hand_in", "Hand in", show=False, priority=True),
        Binding("pageup,ctrl+up", "scroll_page(-0.5)", "Scroll what it is about", show=False, priority=True),
        Binding("pagedown,ctrl+down", "scroll_page(0.5)", "Scroll what it is about", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        about: str,
        verb: str = "",
        *,
        words: Ask | None = None,
        draft: Draft | None = None,
        on_draft: Callable[[Draft], None] | None = None,
        about_now: Callable[[], str] | None = None,
    ) -> None:
        """`title` stands on the border, `about` above the fields, `verb` on the button that acts; safe text.

        `about_now` makes the words above the fields anew, as the team changes and more is shown; None where they stay.
        """
        super().__init__()
        self._title, self._verb = title, verb
        self.when_closed: Callable[[ResultT | None], object] = lambda result: None
        self.editor: Callable[[str, str], str] | None = None
        self.words = words
        self.draft: Draft = draft or {}
        self._on_draft, self._about_now = on_draft, about_now
        self._outcome = ""
        self._is_ready = self._is_closed = False
        self._typed_in: Widget | None = None
        self._keep_timer: Timer | None = None
        self._about = WrappedText(about, classes="form--note form--about")
        self._body = FormBody()
        self._outcome_line = WrappedText(id="outcome")
        self._changed_excerpt = Excerpt(most=_NEW, id="changed")
        self._chosen_excerpt = Excerpt(most=MOST_LINES, id="chosen")
        self._hints = KeyBar()

    # What each form says for itself.

    @abstractmethod
    def fields(self) -> ComposeResult:
        """Return the form's own widgets."""

    @abstractmethod
    def answer(self) -> Callable[[], ResultT]:
        """Build the action that submits what was typed; it runs in a thread.

        Raises:
            TeamError: Something is missing; the form says so and stays.
        """

    @abstractmethod
    def keys(self) -> tuple[str, ...]:
        """Return each key and what it does, parted by a space, the most important ones first."""

    def below(self) -> ComposeResult:
        """Return what stands below the fields and is seen however many those are."""
        return ()

    def first_field(self) -> Widget:
        """Return what has the focus first: words that are needed, else the form itself, where no letter is text."""
        return self.query_one("#words") if self.words is not None and self.words.required else self

    def terms(self) -> object:
        """Return what enter would do now, apart from words that are typed: enter counts once the terminal shows it."""
        return self.title_words(), self.verb(), tuple(options.chosen for options in self.query(Options))

    def title_words(self) -> str:
        """Return the safe text on the border."""
        return self._title

    def verb(self) -> str:
        """Return the word on the button that acts."""
        return self._verb

    def typed(self) -> Draft:
        """Return the present content of the fields."""
        fields = (field for field in self.query("*") if isinstance(field, AnyField))
        return {field.id or "": field.value for field in fields}

    def note_row(self) -> Widget:
        """Return the row that the key for a note opens."""
        return self.query(".form--optional").first(Widget)

    def excerpts(self) -> list[Excerpt]:
        """Return what the form itself shows of what is decided, and must be seen whole."""
        return [self._chosen_excerpt] if self._chosen_excerpt.is_attached and self._chosen_excerpt.display else []

    def row(self, ask: Ask, *beside: Widget) -> Container:
        """Return the row of one thing that is asked for: its label, its field, and what stands beside that."""
        kept = self.draft.get(ask.name, "")
        label = Static(Content(ask.label), classes="form--label", markup=False)
        made = Container(label, ask.field(kept), *beside, classes="form--row")
        made.set_class(ask.closed, "form--optional")
        made.display = bool(kept) or not ask.closed
        return made

    # Where it stands.

    def compose(self) -> ComposeResult:
        """Yield what it is about, its fields, the line for errors, keys and the button."""
        with self._body:
            if str(self._about.content):
                yield self._about
            yield from self.fields()
        with Container(classes="form--foot"):
            yield from self.below()
            yield self._outcome_line
            yield self._changed_excerpt
            yield self.message_line
            with Container(classes="form--buttons"):
                yield self._hints
                yield self.button
        self.show_verb()

    def show_verb(self, more: str = "") -> None:
        """Write title, keys and button anew: they say what will happen, and `more` the button alone."""
        self.border_title = Content(self.title_words())
        keys = [KeyHint(key, label) for key, _, label in (each.partition(" ") for each in self.keys())]
        first = tuple(hint for hint in keys if hint.key != "esc")
        self._hints.show(first, tuple(hint for hint in keys if hint.key == "esc"))  # the way out is always there
        self.button.label = Content(self.verb() + more)
        self.button.refresh(layout=True)

    def on_mount(self) -> None:
        """Take the keys."""
        self._show_chosen()
        self.trap_focus()
        self.screen.set_focus(self.first_field())
        self.call_after_refresh(self._ready)

    def _ready(self) -> None:
        """Take keys from now on, since it is drawn; say first what is to be reviewed."""
        self._is_ready = True
        if self.warning:
            self.say(f"△ {self.warning} Review it, then press enter; before that no key counts.")

    @property
    def takes_keys(self) -> bool:
        """Whether the form is there and not busy; until then keys are queued. A key may also cancel its work."""
        return self._is_ready and (not self.is_at_work or self._cancel_wait is not None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let the key for a note be there where it does something."""
        if action == "write_note":
            return bool(self.query(".form--optional"))
        return super().check_action(action, parameters)

    def action_write_note(self) -> None:
        """Open the field for a note and type in it."""
        row = self.note_row()
        row.display = True
        self.screen.set_focus(row.query("Note, Field").first(Widget))

    @property
    def thing(self) -> Detail | None:
        """What the form is about, as it is shown above it."""
        return next((each for each in self.siblings if isinstance(each, Detail)), None)

    def action_scroll_page(self, pages: float) -> None:
        """Scroll what must be seen whole in the form, then what the form is about."""
        for excerpt in self.excerpts():
            if visible_region(excerpt).height < excerpt.outer_size.height:
                self._body.scroll_to_widget(excerpt, animate=False, force=True, top=True)
                return
            before = excerpt.scroll_target_y
            excerpt.scroll_relative(y=round(2 * pages * excerpt.size.height), animate=False)
            if excerpt.scroll_target_y != before:
                return
        if (thing := self.thing) is not None:
            thing.scroll_relative(y=round(pages * thing.size.height), animate=False)

    @on(Options.Changed)
    def _show_chosen(self) -> None:
        """Show all of what is chosen of which the option itself has only the beginning."""
        text = "\n\n".join(filter(None, (options.whole for options in self.query(Options))))
        if text and not self._chosen_excerpt.is_attached:
            self._body.mount(self._chosen_excerpt, after=self._about if self._about.is_attached else None)
        blocks = (Text(text, TextForm.CODE),) if text else ()
        self._chosen_excerpt.put(*blocks, token=seen_of_words(text).question if text else "")

    # What is typed and kept.

    def keep(self) -> None:
        """Hand the present draft to whoever keeps it."""
        if self._on_draft is not None and not self._is_closed:
            self._on_draft(self.typed())

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Options.Changed)
    def _something_typed(self, event: Message) -> None:
        """Keep what is typed while it is typed: a killed process must not lose it; an error may be mended."""
        event.stop()  # the list around the form would take it for words to filter by
        if self._can_be_mended:
            self.say("")
        if self._on_draft is not None and self._keep_timer is None:
            self._keep_timer = self.set_timer(KEEP_AFTER, self._keep_typed)

    def _keep_typed(self) -> None:
        """Keep the draft, unless the form is at work or the console ends, which keep it themselves."""
        self._keep_timer = None
        if not self.is_at_work and self.app.return_code is None:
            self.keep()

    @on(Note.Entered)
    @on(Input.Submitted)
    def _entered(self, event: Message) -> None:
        """Take enter in a field for that of the form."""
        event.stop()
        self.action_enter()

    def action_enter(self) -> None:
        """Hand in, wherever the focus is."""
        self.action_hand_in()

    @on(Note.EditorWanted)
    def _edit_note(self, event: Note.EditorWanted) -> None:
        """Let the human write a long text in an editor, while the console steps aside."""
        event.stop()
        if (text := self.edited(event.widget.value, ".md")) is not None:
            event.widget.take(text)
            self.keep()

    def edited(self, text: str, suffix: str) -> str | None:
        """Let the human edit a text; None while the form is at work, and where the editor failed, which it says."""
        if self.is_at_work or self.editor is None:
            return None
        try:
            text = self.editor(text, suffix)
        except TeamError as error:
            self.show_error(error)
            return None
        self.say("")  # what an editor before it did wrong holds no more
        return text

    # Acting, and leaving.

    def close(self, result: ResultT | None = None) -> None:
        """Go away, once: whoever asked goes on with the result, None where nothing was done."""
        if not self._is_closed:
            self._is_closed = True
            self.when_closed(result)

    def action_leave(self) -> None:
        """Close without acting, or give up what is waited for; the draft is kept."""
        if self._cancel_wait is not None:
            self._cancel_wait()
        elif not self.is_at_work:
            try:
                self.keep()
            finally:  # a form that is broken can always be left
                self.close()

    @on(Button.Pressed, "#hand-in")
    def action_hand_in(self) -> None:
        """Act on what was typed."""
        if self.is_at_work or self._is_closed:
            return
        if why := self.why_not_now():
            self.say(f"△ {why}")
            return
        if self.warning:
            # Refused once, because what it is about is not what stood there; keys typed in a row do not go on.
            why, self.warning = self.warning, ""
            self.say(f"△ {why} Review it, then press enter again.")
            self.pause()
            return
        if self.is_paused:
            return
        if (frames := frames_of(self)) is not None:
            frames.note_decision()
        chosen = self._chosen_excerpt
        try:
            # guard: chosen-words-painted-whole
            if chosen.display and chosen.is_attached and chosen.is_unread():
                text = "not all of what you chose was shown yet; what was not read is no answer"
                raise TeamError(Code.NOT_PERMITTED, text, "PgDn scrolls it.")
            act = self.answer()
        except TeamError as error:
            self.show_error(error)
            return
        self.keep()
        self.is_at_work = True
        self._is_left = False
        self.say("◌ checking: the team and the evidence are read again … esc leaves")
        self._act(act)

    @work(exit_on_error=False, group="act")
    async def _act(self, act: Callable[[], ResultT]) -> None:
        """Do it in a thread; close with its result, or say why it was not done and stay."""
        try:
            try:
                result = await asyncio.to_thread(act)
            finally:
                self._cancel_wait, self.is_at_work = None, False
                if self._body.disabled:
                    self._body.disabled = False
                    self.screen.set_focus(self._typed_in)
        except TeamError as error:
            self.show_error(error)
        except Exception as error:
            self.say(f"✗ Unexpected: {type(error).__name__}. {UNSURE}")
        else:
            # guard: left-while-checked-is-not-decided
            if self._is_left and isinstance(result, DeferredResult) and result.is_pending:
                self.close()
                return
            if self._on_draft is not None and not isinstance(result, DeferredResult):
                self._on_draft({})
            self.close(result)

    def wait_for(self, words: str, give_up: Callable[[], None]) -> None:
        """Say what is waited for, such as a key to be touched; leaving gives it up, and no field takes a letter."""
        self._cancel_wait = give_up
        if not self._body.disabled:
            self._typed_in = self.screen.focused
            self.screen.set_focus(self)
            self._body.disabled = True
        self.say(f"◌ {words} … esc gives it up")

    # What it says.

    def new_in_frame(self, frames: Frames) -> Iterator[WhenHeld]:
        """See `GatedPanel`; look again once it is noted that the terminal holds more of what the form is about."""
        yield from super().new_in_frame(frames)
        if more := tuple(self.thing.new_in_frame(frames)) if self.thing is not None else ():
            yield from (*more, lambda frame: self.look_again())

    def look_again(self) -> None:
        """Take in what became of that which it asks about, and how much of it was shown."""
        # guard: form-follows-the-team
        if self._about_now is not None and not self.is_at_work:
            self._about.say(self._about_now())

    def show_outcome(self, outcome: str) -> None:
        """Say what became of the one request it asks about, safe text; empty while that waits.

        What its own act makes of the request is told by the act.
        """
        if self.is_at_work or outcome == self._outcome:
            return
        self._outcome = outcome
        self._outcome_line.say(
            outcome and f"{outcome}. This no longer needs a decision. esc closes; your draft is kept."
        )

    def show_error(self, error: TeamError) -> None:
        """Say why it was not done: what happened, and the next step; a code only where a field cannot mend it."""
        text, hint = safe_text(error.message), f"\n{safe_text(error.hint)}" if error.hint else ""
        if isinstance(error, AskAgain):
            heading = Heading(f"changed since it was shown · {counts_of(error.diff)}")
            blocks = (heading, diff_text(error.diff)) if error.diff else ()
            self._changed_excerpt.put(*blocks, token=f"{CHANGED}{error.token}" if error.token else "")
            # guard: form-says-what-it-is-about-now
            if error.about:
                self._about.say(error.about)
            if error.verb:
                self._verb = error.verb
                self.show_verb()
            self.say(f"△ {text}{hint}")
            # A key that was typed before it could be read does not hand the form in.
            self.pause()
        elif isinstance(error, Stopped):
            self.say(f"△ {text}; nothing was written.")
        else:
            code = "" if error.code.startswith("MISSING_") else f"{error.code}: "
            self.say(f"✗ {code}{text}{hint}")
            self._can_be_mended = True

    def say(self, text: str) -> None:
        """See `GatedPanel.say`; it stays, whatever is typed."""
        self._can_be_mended = False
        super().say(text)


class Excerpt(Detail):
    """Blocks of a document inside a form, in as many lines as they take and no more than `most`; longer ones scroll."""

    DEFAULT_CSS = """
    Excerpt { height: auto; min-height: 1; padding: 0; background: $panel; }
    Excerpt:focus { background: $primary-muted 45%; }
    Excerpt:ansi:focus { text-style: bold; }
    """
    HELP = "What you decide on. Scroll with the arrows or j and k."

    def __init__(self, *blocks: Block, most: int, id: str, token: str = "") -> None:
        super().__init__(id=id)
        self._blocks, self._token, self.most = blocks, token, most
        self.styles.max_height = most

    def on_mount(self) -> None:
        """Show what it was made with."""
        self.put(*self._blocks, token=self._token)

    def put(self, *blocks: Block, token: str = "") -> None:
        """Show these blocks; their painted lines are counted under `token`."""
        self.display, self._blocks, self._token = bool(blocks), blocks, token
        self.show(Document(key="excerpt", title="", blocks=blocks, token=token))

    def is_unread(self) -> bool:
        """Return whether a line of it was not on the screen yet when the key under way was pressed."""
        frames = frames_of(self)
        return frames is not None and not self.is_whole(frames.pressed)

    def is_whole(self, frame: int) -> bool:
        """Return whether the terminal had held all of its lines by this frame."""
        return self.painted_before.get(self._token, Painted()).until(frame).is_whole

    def _set_size(self, size: Size) -> None:
        """See `Detail`; it is as high as its lines."""
        before = self.virtual_size.height
        super()._set_size(size)
        if size.height != before:
            self.refresh(layout=True)


class WrappedText(Static):
    """Safe text in a form, wrapped as all texts are: between words, and a path behind a slash."""

    HELP: ClassVar[str] = "What the form says about what you decide."

    def __init__(self, text: str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(Content(text), id=id, classes=classes, markup=False)

    def say(self, text: str) -> None:
        """Show another text, an empty one in no line; the same is not laid out again."""
        self.display = bool(text)
        if text != str(self.content):
            self.update(Content(text))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """See `Widget`."""
        return len(self._lines(width))

    def render(self) -> Content:
        """See `Widget`."""
        return Content("\n".join(self._lines(self.content_size.width)))

    def _lines(self, width: int) -> list[str]:
        """Return the lines that it takes at so many cells; those that were written where there is no width yet."""
        lines = str(self.content).split("\n")
        return [text_of(part) for line in lines for part in wrap(((line, ""),), width)] if width else lines


class FormBody(VerticalScroll, can_focus=False):
    """The fields of a form. What has the focus stays in sight, and in it the place that keys act on."""

    def on_resize(self, event: Resize) -> None:
        """Let nothing that scrolls by itself be higher than there is room: its last lines would never be seen."""
        for area in self.query(TextArea):
            area.styles.max_height = self.size.height
        for excerpt in self.query(Excerpt):
            excerpt.styles.max_height = min(excerpt.most, self.size.height)
        self._moved()

    def watch_virtual_size(self) -> None:
        """Keep the field in sight where lines came above it, or went."""
        self._moved()

    @on(DescendantFocus)
    @on(Options.Moved)
    def _moved(self) -> None:
        """Bring the place that keys act on into sight, once all is laid out."""
        self.call_after_refresh(self._show_place)

    def _show_place(self) -> None:
        """Scroll as little as it takes to the row of the field, then to what keys act on: that is seen in any case."""
        field = self.screen.focused if self.is_attached else None
        if field is None or self not in field.ancestors:
            return
        row = next(each for each in field.ancestors_with_self if each.parent is self)
        here = field.under_cursor if isinstance(field, Options) else field
        for widget in (row, here):
            if isinstance(widget, Widget):
                self.scroll_to_widget(widget, animate=False, force=True, immediate=True)
