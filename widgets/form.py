"""The base of all questions: they grow out of the bottom of what they are about, and nothing typed is lost."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from time import monotonic
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_text
from team_console.store.views.proposals import counts_of
from team_console.widgets.bars import Hints
from team_console.widgets.detail import Detail, Painted
from team_console.widgets.details import diff_text
from team_console.widgets.document import Block, Document, Heading
from team_console.widgets.fields import AnyField, Note, Options, bring_into_sight
from team_console.widgets.frames import Frames, Mark, frames_of, visible_region
from team_console.widgets.overlay import Overlay
from team_console.widgets.text import text_of
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.events import Event, Key, Paste, Resize
from textual.geometry import NULL_SIZE, Region
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.signal import Signal
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea


class AskAgain(TeamError):
    """A request, or what stood beside it, is not what was shown. Nothing was written.

    Attributes:
        diff: Lines of a unified diff from what was shown to what there is.
        of: The token of the request as it is now, under which the painted lines of the difference are counted.
        about: What the form says of the request from now on, safe text; empty for what it said before.
        may_go_on: Whether handing in again decides on what the diff shows.
    """

    def __init__(
        self, diff: tuple[str, ...], *, of: str = "", about: str = "", may_go_on: bool = True, why: str = ""
    ) -> None:
        text = why or "it changed while you were deciding; nothing was written"
        go_on, leave = "Read what is new; hand in again to decide on it.", "esc keeps your words; open it again."
        super().__init__(Code.INVALID_REQUEST_ID, text, go_on if may_go_on else leave)
        self.diff, self.of, self.about = diff, of, about
        self.may_go_on = may_go_on


class Later(Struct, frozen=True):
    """The base of a result that is done later: what was typed is kept until then."""


class Stopped(TeamError):
    """A human stopped it before it was done."""

    def __init__(self, text: str) -> None:
        super().__init__(Code.USAGE, text)


class Excerpt(Detail):
    """Blocks of a document inside a form, in as many lines as they take and no more than `most`; longer ones scroll."""

    DEFAULT_CSS = """
    Excerpt { height: 1; margin-top: 1; padding: 0; background: $panel; }
    Excerpt:focus { background: $primary-muted 45%; }
    Excerpt:ansi:focus { text-style: bold; }
    """
    HELP = "What you decide on. Scroll with the arrows or j and k."

    def __init__(self, *blocks: Block, most: int, id: str, token: str = "") -> None:
        super().__init__(id=id)
        self._blocks, self._most, self._token = blocks, most, token
        self._room = most

    def on_mount(self) -> None:
        """Show what it was made with."""
        self.put(*self._blocks, token=self._token)

    def put(self, *blocks: Block, token: str = "") -> None:
        """Show these blocks; their painted lines are counted under `token`."""
        self.display, self._token = bool(blocks), token
        self.show(Document(key="excerpt", title="", blocks=blocks, token=token))
        self._grow()

    def on_resize(self, event: Resize) -> None:
        """Another width takes another number of lines."""
        super().on_resize(event)
        self._grow()

    def is_whole(self, frame: int) -> bool:
        """Return whether the terminal had held all of its lines by this frame."""
        return self.painted_before.get(self._token, Painted()).until(frame).is_whole

    def fit(self, lines: int) -> None:
        """Take no more than so many lines."""
        self._room = lines
        self._grow()

    def scroll_in_sight(self, pages: float, body: Widget) -> bool:
        """Bring it into sight in `body`, else scroll it by so many half pages; False where it is at its end."""
        if visible_region(self).height < self.outer_size.height:
            body.scroll_to_region(self.virtual_region, top=True, animate=False, force=True)
            return True
        before = self.scroll_target_y
        self.scroll_relative(y=round(2 * pages * self.size.height), animate=False)
        return self.scroll_target_y != before

    def _grow(self) -> None:
        self.styles.height = max(1, min(self._most, self._room, self.virtual_size.height))


class Behind(Struct, frozen=True):
    """What a form asks of the screen it stands on.

    Attributes:
        room: Where the thing it is about is shown; the form grows out of its bottom.
        cover: Keeps so many lines at that bottom free, 0 to have them back.
        scroll: Scrolls the thing by so many pages.
        bring: Scrolls the thing to what is found there by a name (`document.Lines.anchor`).
        edit: Lets the human edit a text in an editor of their own, and gives it back; it may raise `TeamError`.
        laid_out: Tells when the screen was laid out, so that the thing may be at another place.
    """

    room: Callable[[], Region]
    cover: Callable[[int], None]
    scroll: Callable[[float], None]
    bring: Callable[[str], None]
    edit: Callable[[str], str]
    laid_out: Signal[Screen[Any]]


UNSURE = "It may or may not have been saved. Check before you try again."
"""What is said of a write that failed in a way nobody foresaw."""
_LEAST = 8
"""Lines a form has at least."""
_FEWEST = 2
"""Lines its fields have at least, however much is said below them."""
_FRAME = 2
"""Lines of the border and of the keys."""
_NEW = 6
"""Lines of what is new that are shown at once; more of them scroll."""
CHANGED = "changed:"
"""Stands before the token of a request under which the painted lines of its difference are counted."""
KEEP_AFTER = 0.5
"""Seconds of typing after which a draft is kept."""
LOOK = 0.7
"""Seconds for which what changed must have stood there before a key counts, and pause after keys that did not."""
_TO_LOOK = frozenset({"escape", "pageup", "pagedown", "ctrl+up", "ctrl+down"})
"""Keys that count all the same: they leave, or scroll what it is about."""
_HANDS_IN = frozenset({"enter", "ctrl+s", "ctrl+enter"})
_DRAWN_OTHERWISE = 2.0
"""Seconds after which a form counts as drawn though the terminal shows its words otherwise than they were written."""
Draft = Mapping[str, str]
"""What stands in the fields of a form, by the field's name."""
ResultT = TypeVar("ResultT")


class Form(Overlay, ModalScreen[ResultT | None], Generic[ResultT]):
    """A question in a box at the bottom of the thing it is about, which moves with it and leaves room for it above.

    What `answer` returns runs in a thread; the form closes with its result, or shows its `TeamError` and stays.
    Enter hands in, in every field of every form. A field that may stay empty is opened by `n`, so that no letter is
    text by itself. What was pressed before the terminal held the form, as it stands now, does nothing, and it says so;
    so does a key that is held down. Behind letters that were refused it takes no enter more: they were meant for
    something else, and so may be the enter behind them.

    Attributes:
        behind: The screen it stands on; None for one that stands alone.
        warning: Why the first enter only asks to look again, safe text; empty when it counts at once.
        draft: What its fields begin with.
        share: How much of the room it may take.
    """

    DEFAULT_CSS = """
    Form { align: left bottom; background: transparent; overflow: hidden hidden; }
    Form:ansi { background: transparent; }
    Form > .form--box { width: 100%; height: auto; background: $surface; border-top: heavy $accent;
        border-title-color: $text-accent; border-title-style: bold; padding: 0 1; }
    Form .form--body { height: auto; scrollbar-size-vertical: 1; }
    Form .form--row { layout: horizontal; height: auto; }
    Form .form--label { width: 11; padding-right: 1; color: $text-muted; }
    Form .form--row > Field, Form .form--row > Note { width: 1fr; }
    Form #outcome { display: none; height: auto; max-height: 2; color: $text-warning; text-style: bold; }
    Form .form--error { display: none; height: auto; max-height: 6; color: $text-error; }
    Form .form--error.-shown { display: block; }
    Form Excerpt { margin: 0; }
    Form .form--note { height: auto; color: $text-muted; }
    Form .form--buttons { layout: horizontal; height: 1; }
    Form Button.-textual-compact { min-width: 8; margin-left: 1; background: $panel; color: $foreground;
        text-style: none; padding: 0 1; }
    Form Button.-textual-compact:focus { background: $accent; color: $background; text-style: bold; }
    Form Button:nocolor:focus, Form Button:ansi:focus { text-style: reverse; }
    """
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("enter", "hand_in", "Hand in", show=False),
        Binding("n", "write_note", "With a note", show=False),
        Binding("ctrl+s,ctrl+enter", "hand_in", "Hand in", show=False, priority=True),
        Binding("pageup,ctrl+up", "scroll_behind(-0.5)", "Scroll what it is about", show=False, priority=True),
        Binding("pagedown,ctrl+down", "scroll_behind(0.5)", "Scroll what it is about", show=False, priority=True),
    ]
    share = 0.6

    def __init__(
        self,
        title: str,
        about: str,
        verb: str = "",
        *,
        draft: Draft | None = None,
        on_draft: Callable[[Draft], None] | None = None,
    ) -> None:
        """`title` stands on the border, `about` above the fields, `verb` on the button that acts; safe text."""
        super().__init__()
        self._title, self._about, self._verb = title, about, verb
        self.behind: Behind | None = None
        self.draft: Draft = draft or {}
        self._on_draft = on_draft
        self._limit, self._stood_in, self._body_sizes = _LEAST, Region(), (NULL_SIZE, NULL_SIZE)
        self._busy = self._is_ready = False
        self._give_up: Callable[[], None] | None = None
        self._finished: tuple[ResultT] | None = None
        self._typed_in: Widget | None = None
        self._keeping: Timer | None = None
        self.warning = self._outcome = self._said = ""
        self._counts_from = self._changed_at = 0.0
        self._refused = 0
        self._is_given_up = self._can_be_mended = False
        self._held_since: int | None = None
        self._held_words: tuple[str, int] = "", 0
        self._held_terms: tuple[object, int] = (), 0

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
        """Return the keys of the form, the most important ones first; what does not fit is left out."""

    def terms(self) -> object:
        """Return what enter would do now, apart from words that are typed: enter counts once the terminal shows it."""
        return self.title_words(), self.verb(), tuple(options.chosen for options in self.query(Options))

    def title_words(self) -> str:
        """Safe text on the border."""
        return self._title

    def verb(self) -> str:
        """Return the word on the button that acts."""
        return self._verb

    def typed(self) -> Draft:
        """Return the present content of the fields."""
        fields = (field for field in self.query("*") if isinstance(field, AnyField))
        return {field.name or field.id or "": field.value for field in fields}

    def note_row(self) -> Widget:
        """Return the row that the key for a note opens."""
        return self.query(".form--optional").first(Widget)

    def entered(self, event: Message) -> None:
        """Enter hands in, wherever the focus is."""
        self.action_hand_in()

    def fit_inside(self, lines: int) -> None:
        """Shrink the fields to so many lines; what does not fit scrolls."""

    # Where it stands.

    def compose(self) -> ComposeResult:
        """Yield the box with what it is about, its fields, the line for errors, keys and buttons."""
        with Container(classes="form--box") as box:
            box.border_title = Content(self.title_words())
            with VerticalScroll(classes="form--body", can_focus=False):
                if self._about:
                    yield Static(Content(self._about), classes="form--note form--about", markup=False)
                yield from self.fields()
            yield Static("", id="outcome", classes="form--below", markup=False)
            changed = Excerpt(most=_NEW, id="changed")
            yield changed.add_class("form--below")
            yield Static("", classes="form--below form--error", markup=False)
            with Container(classes="form--buttons"):
                hints = Hints(classes="form--keys")
                hints.show(self.keys())
                yield hints
                yield Button(Content(self.verb()), id="hand-in", compact=True)

    def show_verb(self, more: str = "") -> None:
        """Write title, keys and button anew: they say what will happen, and `more` the button alone."""
        self.query_one(".form--box").border_title = Content(self.title_words())
        self.query_one(Hints).show(self.keys())
        button = self.query_one("#hand-in", Button)
        button.label = Content(self.verb() + more)
        button.refresh(layout=True)

    def on_mount(self) -> None:
        """Follow what it stands on: that is laid out after the form where the terminal changes its size."""
        if self.behind is not None:
            self.behind.laid_out.subscribe(self, self._follow, immediate=True)
        self.screen_layout_refresh_signal.subscribe(self, self._keep_place, immediate=True)
        self._changed_at = monotonic()
        if (frames := frames_of(self)) is not None:
            frames.watch(self)

    def on_screen_resume(self) -> None:
        """It stands there: from now on keys are its own. Work that ended while something lay over it closes it now."""
        if self._finished is not None:
            self.dismiss(*self._finished)
            return
        self.stand()
        self.call_after_refresh(self._ready)

    def _ready(self) -> None:
        if not self._is_ready and self.warning:
            self._say(f"△ {self.warning} Review it, then press enter; before that no key counts.")
        self._is_ready = True
        self.leave_room()

    def on_resize(self, event: Resize) -> None:
        """Another size gives it another place."""
        self.call_after_refresh(self.stand)

    def stand(self) -> None:
        """Stand at the bottom of the thing it is about, and leave room for that above."""
        self._stood_in = room = self.room_behind()
        box = self.query_one(".form--box")
        box.styles.width = room.width
        box.styles.margin = (0, 0, max(0, self.app.size.height - room.bottom), room.x)
        self._limit = max(_LEAST, round(room.height * self.share))
        self._fit()
        self.call_after_refresh(self.leave_room)

    def leave_room(self) -> None:
        """Resize to the lines needed now; the thing it is about gets the rest."""
        self._fit()
        self.call_after_refresh(self._show_place)
        if self.behind is not None and self.is_attached and self.app.screen is self:
            self.behind.cover(self.query_one(".form--box").outer_size.height)

    def set_focus(self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False) -> None:
        """Give a field the focus and scroll to the place in it that keys act on, not to its middle."""
        super().set_focus(widget, scroll_visible=False, from_app_focus=from_app_focus)
        self.call_after_refresh(self._show_place)

    def room_behind(self) -> Region:
        """Return the region where the form's request is shown."""
        return self.behind.room() if self.behind is not None else self.app.size.region

    def _follow(self, behind: Screen[Any]) -> None:
        if self._stood_in and self._stood_in != self.room_behind():
            self.call_after_refresh(self.stand)

    def _keep_place(self, form: Screen[Any]) -> None:
        # A scrollbar that comes leaves less room beside it: words above a field take more lines and push it away,
        # after it was brought into sight.
        body = self.query_one(".form--body")
        before, self._body_sizes = self._body_sizes, (body.size, body.virtual_size)
        if self._body_sizes != before:
            self.call_after_refresh(self._show_place)

    def _fit(self) -> None:
        """Let fields scroll where they have too little room: keys, buttons and what went wrong stay in sight."""
        rest = _FRAME + sum(widget.outer_size.height for widget in self.query(".form--below") if widget.display)
        lines = max(_FEWEST, self._limit - rest)
        self.query_one(".form--body").styles.max_height = lines
        self.fit_inside(lines)

    @on(Options.Moved)
    @on(TextArea.SelectionChanged)
    def _show_place(self) -> None:
        body = self.query_one(".form--body")
        if self.focused is not None and body in self.focused.ancestors:
            bring_into_sight(self.focused, body)

    # Which keys count.

    @property
    def takes_keys(self) -> bool:
        """Whether the form is mounted and not busy; until then keys are queued. A key may also cancel its work."""
        return self._is_ready and (not self._busy or self._give_up is not None)

    def new_in_frame(self, frames: Frames) -> Iterator[Mark]:
        """Yield a mark for what the terminal shows of the form: that it is there, what it says, what enter would do."""
        is_late = monotonic() - self._changed_at > _DRAWN_OTHERWISE
        button = self.query_one("#hand-in", Button)
        shows_verb = is_late or frames.shows(str(button.label), visible_region(button))
        if not shows_verb:
            return
        if self._held_since is None:
            yield self._hold_form
        line = self.query_one(".form--error")
        if self._said != self._held_words[0] and (is_late or frames.shows(self._said, visible_region(line))):
            yield partial(self._hold_words, self._said)
        terms = self.terms()
        if terms != self._held_terms[0] and all(map(partial(self._shows_choice, frames), self.query(Options))):
            yield partial(self._hold_terms, terms)

    @staticmethod
    def _shows_choice(frames: Frames, options: Options) -> bool:
        """Return whether the terminal shows what is chosen, as far as the options are in sight."""
        room, seen = options.content_region, visible_region(options)
        lines = options.lines_at(room.width)
        return all(
            frames.shows(text_of(lines[at - room.y]), Region(room.x, at, room.width, 1))
            for at in seen.line_range
            if 0 <= at - room.y < len(lines)
        )

    def _hold_form(self, frame: int) -> None:
        self._held_since = frame if self._held_since is None else self._held_since

    def _hold_words(self, said: str, frame: int) -> None:
        if said != self._held_words[0]:  # else an earlier frame had them
            self._held_words = said, frame

    def _hold_terms(self, terms: object, frame: int) -> None:
        if terms != self._held_terms[0] and terms == self.terms():
            self._held_terms = terms, frame

    def _is_read_by(self, frames: Frames) -> bool:
        """Return whether form and message were held when the key under way was pressed."""
        said, at = self._held_words
        has_words = not self._said or (said == self._said and at <= frames.pressed)
        return self._held_since is not None and self._held_since <= frames.pressed and has_words

    def _why_not_now(self) -> str:
        """Return why the key under way hands nothing in; empty when it does."""
        frames = frames_of(self)
        if self._is_given_up:
            return "Letters were typed that do nothing here. esc closes the form; nothing typed is lost."
        if frames is None:
            return ""
        # guard: held-key-is-one-press
        if frames.is_repeat:
            return "A key that is held down counts once. Press it again."
        terms, at = self._held_terms
        # guard: enter-for-what-was-painted
        if not self._is_read_by(frames) or terms != self.terms() or at > frames.pressed:
            return "It was pressed before this was drawn. Review it, then press it again."
        return ""

    def refuses(self, event: Event) -> bool:
        """Return whether what was typed must not act: it was meant for something else, or nobody can have read this
        yet.

        What follows a refused key is refused as well until there was a pause: it belongs to the same words.
        """
        key, frames = event.key if isinstance(event, Key) else "", frames_of(self)
        if key in _TO_LOOK or not isinstance(event, Key | Paste):
            return False
        is_letter = isinstance(event, Key) and event.is_printable
        is_text = isinstance(self.focused, Input | TextArea)
        # guard: nothing-typed-ahead
        refused = (
            (frames is not None and not self._is_read_by(frames))
            or event.time < self._counts_from
            or (bool(self.warning) and key not in _HANDS_IN)
            # A letter that does nothing here: one that types a note would miss that none was opened.
            or (is_letter and not is_text and key not in self.active_bindings)
            or (isinstance(event, Paste) and not is_text)
        )
        if refused:
            self._refused += 1
            self._counts_from = max(self._counts_from, event.time + LOOK)
            is_held = frames is not None and frames.is_repeat
            # guard: no-enter-behind-refused-letters
            self._is_given_up = self._is_given_up or (
                not (is_text or is_held or self._busy) and (is_letter or isinstance(event, Paste))
            )
            self._show_said()
        return refused

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The key for a note is there where it does something."""
        if action == "write_note":
            return bool(self.query(".form--optional"))
        return super().check_action(action, parameters)

    def action_write_note(self) -> None:
        """Open the field for a note and type in it."""
        row = self.note_row()
        row.display = True
        self.set_focus(row.query("Note, Field").first(Widget))
        self.call_after_refresh(self.leave_room)

    def action_scroll_behind(self, pages: float) -> None:
        """Scroll what the form is about."""
        if self.behind is not None:
            self.behind.scroll(pages)

    # What is typed and kept.

    def keep(self) -> None:
        """Hand the present draft to whoever keeps it."""
        if self._on_draft is not None:
            self._on_draft(self.typed())

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Options.Changed)
    def _something_typed(self) -> None:
        """Keep what is typed while it is typed: a killed process must not lose it; an error may be mended."""
        if self._can_be_mended:
            self._said, self._can_be_mended = "", False
            self._show_said()
        if self._on_draft is not None and self._keeping is None:
            self._keeping = self.set_timer(KEEP_AFTER, self._keep_typed)

    def _keep_typed(self) -> None:
        self._keeping = None
        if not self._busy:
            self.keep()

    @on(Note.Entered)
    @on(Options.Entered)
    @on(Input.Submitted)
    def _entered(self, event: Message) -> None:
        event.stop()
        self.entered(event)

    @on(Note.EditorWanted)
    def _edit_note(self, event: Note.EditorWanted) -> None:
        """A long text is written in the human's own editor, while the console steps aside."""
        event.stop()
        if self.behind is not None and (text := self.edited(self.behind.edit, event.widget.value)) is not None:
            event.widget.take(text)
            self.keep()

    def edited(self, edit: Callable[[str], str], text: str) -> str | None:
        """Let the human edit a text; None while the form is at work, and where the editor failed, which it says."""
        if self._busy:
            return None
        try:
            text = edit(text)
        except TeamError as error:
            self.show_error(error)
            return None
        self._say("")  # what an editor before it did wrong holds no more
        return text

    # Acting, and leaving.

    def action_leave(self) -> None:
        """Close without acting, or give up what is waited for; the draft is kept."""
        if self._give_up is not None:
            self._give_up()
        elif not self._busy:
            try:
                self.keep()
            finally:  # a form that is broken can always be left
                self.dismiss(None)

    @on(Button.Pressed, "#hand-in")
    def action_hand_in(self) -> None:
        """Act on what was typed."""
        if self._busy:
            return
        if why := self._why_not_now():
            self._say(f"△ {why}")
            return
        if self.warning:
            # Refused once, because what it is about is not what stood there; keys typed in a row do not go on.
            why, self.warning = self.warning, ""
            self._say(f"△ {why} Review it, then press enter again.")
            self._counts_from = monotonic() + LOOK
            return
        if monotonic() < self._counts_from:
            return
        if (frames := frames_of(self)) is not None:
            frames.decide()
        try:
            act = self.answer()
        except TeamError as error:
            self.show_error(error)
            return
        self.keep()
        self._busy = True
        self._say("◌ checking …")
        self._act(act)

    @work(exit_on_error=False, group="act")
    async def _act(self, act: Callable[[], ResultT]) -> None:
        """Do it in a thread; close with its result, or say why it was not done and stay."""
        try:
            try:
                result = await asyncio.to_thread(act)
            finally:
                self._give_up = None
                if (body := self.query_one(".form--body")).disabled:
                    body.disabled = False
                    self.set_focus(self._typed_in)
        except TeamError as error:
            self._busy = False
            self.show_error(error)
        except Exception as error:
            self._busy = False
            self._say(f"✗ Unexpected: {type(error).__name__}. {UNSURE}")
        else:
            if self._on_draft is not None and not isinstance(result, Later):
                self._on_draft({})
            # Below another screen it closes once that is gone, else nobody would be told of the result.
            self._finished = (result,)
            self.dismiss(result)

    @property
    def is_at_work(self) -> bool:
        """Whether it was submitted and its action is still running."""
        return self._busy

    def wait_for(self, words: str, give_up: Callable[[], None]) -> None:
        """Say what is waited for, such as a key to be touched; leaving gives it up, and no field takes a letter."""
        self._give_up = give_up
        body = self.query_one(".form--body")
        if not body.disabled:
            self._typed_in, body.disabled = self.focused, True
        self._say(f"◌ {words} … esc gives it up")

    # What it says.

    def show_outcome(self, outcome: str) -> None:
        """Say what became of the one request it asks about, safe text; empty while that waits.

        What its own act makes of the request is told by the act.
        """
        if self._busy or self._finished is not None or not self.is_mounted or outcome == self._outcome:
            return
        self._outcome = outcome
        line = self.query_one("#outcome", Static)
        line.update(
            Content(f"{outcome}. This no longer needs a decision. esc closes; your draft is kept." * bool(outcome))
        )
        line.display = bool(outcome)
        self.call_after_refresh(self.leave_room)

    def show_error(self, error: TeamError) -> None:
        """Say why it was not done: what happened, and the next step; a code only where a field cannot mend it."""
        text, hint = safe_text(error.message), f"\n{safe_text(error.hint)}" if error.hint else ""
        if isinstance(error, AskAgain):
            heading = Heading(f"changed since it was shown · {counts_of(error.diff)}")
            blocks = (heading, diff_text(error.diff)) if error.diff else ()
            self.query_one("#changed", Excerpt).put(*blocks, token=f"{CHANGED}{error.of}" if error.of else "")
            # guard: form-says-what-it-is-about-now
            for about in self.query(".form--about").results(Static) if error.about else ():
                about.update(Content(error.about))
            self._say(f"△ {text}{hint}")
            # A key that was typed before it could be read does not hand the form in.
            self._counts_from = monotonic() + LOOK
        elif isinstance(error, Stopped):
            self._say(f"△ {text}; nothing was written.")
        else:
            code = "" if error.code.startswith("MISSING_") else f"{error.code}: "
            self._say(f"✗ {code}{text}{hint}")
            self._can_be_mended = True

    def _say(self, text: str) -> None:
        """Say something new: what was typed before it stood there, was typed without knowing it."""
        self._said, self._refused, self._can_be_mended = text, 0, False
        self._changed_at = monotonic()
        self._show_said()

    def _show_said(self) -> None:
        """Show the message line, and the number of keys that did nothing."""
        keys = f"△ {counted(self._refused, 'key')} did nothing: typed too early, or no key of this form"
        keys += " · esc first, then open it again" * self._is_given_up
        text = "\n".join(filter(None, (self._said, keys * bool(self._refused))))
        line = self.query_one(".form--error", Static)
        line.update(Content(text))
        line.set_class(bool(text), "-shown")
        self.call_after_refresh(self.leave_room)


def row(label: str, *widgets: Widget, opened: bool = True, classes: str = "") -> Container:
    """Return a row of a form: its label and its fields; one that is not `opened` is opened by a key."""
    made = Container(
        Static(Content(label), classes="form--label", markup=False), *widgets, classes=f"form--row {classes}"
    )
    made.display = opened
    return made
