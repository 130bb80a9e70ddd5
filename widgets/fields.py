"""Fields of forms: a line, a note, options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, ClassVar

from msgspec import Struct
from team_console.store.model.safe import safe_line, safe_text
from team_console.widgets.bars import FewLines
from team_console.widgets.line_field import Completer, Field
from team_console.widgets.panel import WidgetMessage
from team_console.widgets.text import Line, text_of
from team_console.widgets.wrapping import wrap
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.events import Click, Key, Paste
from textual.widgets import TextArea

# Several lines of text that a human types; what is pasted is made safe to show before it is shown.


class Note(TextArea):
    """A few lines of text. Enter hands it in, ctrl+j begins a new line, ctrl+e opens the human's own editor."""

    DEFAULT_CSS = """
    Note, Note:focus { border: none; height: 2; padding: 0; background: $panel; }
    Note:focus { background: $primary-muted 45%; }
    Note > .text-area--placeholder { color: $text-muted; }
    Note:ansi > .text-area--cursor { color: ansi_default; background: ansi_default; text-style: reverse; }
    """
    BINDINGS = [
        Binding("ctrl+j,shift+enter,alt+enter", "newline", "New line", show=False),
        Binding("ctrl+e", "edit", "Edit in an editor", show=False),
    ]

    class Entered(WidgetMessage["Note"]):
        """Enter was pressed."""

    class EditorWanted(WidgetMessage["Note"]):
        """The text should be edited in the human's own editor."""

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        """`placeholder`: what belongs here, as safe text."""
        shown = Content(placeholder)
        super().__init__(
            safe_text(text), id=id, soft_wrap=True, tab_behavior="focus", show_line_numbers=False, placeholder=shown
        )
        self.highlight_cursor_line = False

    def on_mount(self) -> None:
        """Go on behind what stands there already."""
        self.move_cursor(self.document.end)

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Entered(self))

    async def _on_paste(self, event: Paste) -> None:  # the toolkit calls its own method behind it
        event.text = safe_text(event.text.replace("\r\n", "\n").replace("\r", "\n"))

    @property
    def value(self) -> str:
        """The text."""
        return self.text

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_edit(self) -> None:
        """Ask for an editor."""
        self.post_message(self.EditorWanted(self))

    def take(self, text: str) -> None:
        """Go on with `text` in place of what stood there, behind its end."""
        self.load_text(safe_text(text.rstrip("\n")))
        self.move_cursor(self.document.end)


class LongNote(Note):
    """A text of any length."""

    DEFAULT_CSS = """
    LongNote, LongNote:focus { height: 4; }
    """


# Numbered options: the keys 1 to 9 choose, the arrows go from one to the next; one of them, or several.

_KEYS = 9
"""Options that have a key; further ones are reached with the arrows."""


class OptionLine(Struct, frozen=True):
    """One option: what choosing it is called, and what it means; both safe text.

    Attributes:
        whole: Safe text of which its line has only the beginning; once the option is chosen, the form shows all of it,
            and it counts when each line of it was on the screen.
    """

    label: str
    description: str = ""
    whole: str = ""


def whole_text(text: str, most: int) -> str:
    """Return all of a text of which a line has the first `most` characters, made safe; empty for one that fits."""
    return safe_text(text) if len(text) > most else ""


class OptionRow(FewLines):
    """One option: its key, whether it is chosen, its name and what it means, in as many lines as that takes."""

    DEFAULT_CSS = "OptionRow { height: auto; width: 1fr; }"
    HELP = "One of the answers. Its number chooses it."

    def __init__(self, option: OptionLine, number: int, *, several: bool) -> None:
        super().__init__()
        self.option, self._number, self._several = option, number, several
        self._is_chosen = self._is_here = False

    @property
    def text(self) -> str:
        """All that it says."""
        return text_of(self._parts())

    def show(self, *, is_chosen: bool, is_here: bool) -> None:
        """Show whether it is chosen, and whether keys are about it."""
        if (is_chosen, is_here) != (self._is_chosen, self._is_here):
            self._is_chosen, self._is_here = is_chosen, is_here
            self.refresh()

    def lines_at(self, width: int) -> Sequence[Line]:
        """Return its lines, those after the first set in."""
        return wrap(self._parts(), width, rest=((" " * 7, ""),))

    def _parts(self) -> Line:
        """Return key, box, label and description of the option."""
        here = "›" if self._is_here else " "
        key = str(self._number) if self._number <= _KEYS else " "
        box = "(•)" if self._is_chosen else "( )"
        if self._several:
            box = "[x]" if self._is_chosen else "[ ]"
        words = f" — {self.option.description}" if self.option.description else ""
        if self.option.whole:
            words += " [shown whole once chosen]"
        mark: Line = ((f"{here}{key} ", "key"), (f"{box} ", "good" if self._is_chosen else "muted"))
        return (*mark, (self.option.label, "strong"), (words, "muted"))


class Options(Container, can_focus=True):
    """Options below each other. Of one choice the arrows choose; of several they move, and space chooses.

    Attributes:
        rows: The options as they are shown, in their order.
        chosen: Places of the chosen options, from 0, in their order.
        cursor: The place of the option under the cursor, from 0; -1 before it is on any.
    """

    DEFAULT_CSS = """
    Options { height: auto; width: 1fr; background: $panel; }
    Options:focus { background: $primary-muted 45%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Before", show=False),
        Binding("down,j", "move(1)", "Next", show=False),
        Binding("space", "choose_here", "Choose", show=False),
        *(Binding(str(number), f"choose({number})", f"Option {number}", show=False) for number in range(1, _KEYS + 1)),
    ]
    HELP = "The keys 1 to 9 choose, the arrows go through them; of several, space chooses."

    class Changed(WidgetMessage["Options"]):
        """Something else is chosen."""

    class Moved(WidgetMessage["Options"]):
        """The cursor is elsewhere, or was asked to go."""

    def __init__(
        self,
        lines: Sequence[OptionLine],
        *,
        about: str = "",
        kept: str = "",
        default: tuple[int, ...] = (),
        several: bool = False,
        id: str | None = None,
    ) -> None:
        """Make options.

        Args:
            about: What they answer.
            kept: The `value` of a draft; by all its words, since the request may offer others by now in these places.
            default: What is chosen where nothing was kept.
        """
        super().__init__(id=id)
        self._several, self._default = several, default
        self.rows = [OptionRow(line, number, several=several) for number, line in enumerate(lines, start=1)]
        self._names = [f"{about}{line.label}: {line.description}{safe_line(line.whole)}" for line in lines]
        words = kept.split("\n")
        self.chosen = tuple(place for place, name in enumerate(self._names) if name in words) or default
        nowhere = -1 if len(self.rows) > 1 else 0  # a single option needs no way to it
        self.cursor = self.chosen[0] if self.chosen else nowhere

    def compose(self) -> ComposeResult:
        """Yield the options."""
        self._show()
        yield from self.rows

    @property
    def value(self) -> str:
        """All the words of what is chosen, for a draft; empty for what is chosen anyway."""
        return "" if self.chosen == self._default else "\n".join(self._names[place] for place in self.chosen)

    @property
    def whole(self) -> str:
        """All that must be shown of what is chosen, since its lines have only the beginning; empty for nothing."""
        return "\n\n".join(filter(None, (self.rows[place].option.whole for place in self.chosen)))

    @property
    def under_cursor(self) -> OptionRow | None:
        """The option that keys are about; None before the cursor is on any."""
        return self.rows[self.cursor] if self.cursor >= 0 else None

    def action_move(self, step: int) -> None:
        """Go to the next or the former option; of one choice it is the chosen one then."""
        start = self.cursor if self.cursor >= 0 or step > 0 else len(self.rows)
        self._go(min(max(start + step, 0), len(self.rows) - 1), chooses=not self._several)

    def action_choose(self, number: int) -> None:
        """Choose the option with this number; of several, choose it or leave it out."""
        if number <= len(self.rows):
            self._go(number - 1, chooses=True)

    def action_choose_here(self) -> None:
        """Choose the option under the cursor."""
        if self.cursor >= 0:
            self._go(self.cursor, chooses=True)

    def on_click(self, event: Click) -> None:
        """Choose what is clicked on."""
        for place, row in enumerate(self.rows):
            if row.region.contains_point(event.screen_offset):
                self._go(place, chooses=True)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show the cursor while keys are about it."""
        super().watch_has_focus(has_focus)
        self._show()

    def _go(self, place: int, *, chooses: bool) -> None:
        """Go to an option, and choose it; of several, one that is chosen already is left out then."""
        before, self.cursor = self.chosen, place
        if chooses and self._several:
            self.chosen = tuple(sorted({place} ^ {*before}))
        elif chooses:
            self.chosen = (place,)
        self._show()
        self.post_message(self.Moved(self))
        if self.chosen != before:
            self.post_message(self.Changed(self))

    def _show(self) -> None:
        """Show of each option whether it is chosen and under the cursor."""
        for place, row in enumerate(self.rows):
            row.show(is_chosen=place in self.chosen, is_here=self.has_focus and place == self.cursor)


AnyField = Field | Note | Options
"""What a human fills in; the `value` of each is text."""


# What a form asks for, as data: each becomes a field with what was typed in it before.


class FieldKind(Enum):
    """How something is filled in."""

    LINE = "line"
    NOTE = "note"
    LONG_NOTE = "long note"
    ONE = "one of the options"
    SEVERAL = "any of the options"


class Ask(Struct, frozen=True):
    """One thing that a form asks for.

    Attributes:
        name: What it is called in a draft and in what was typed.
        label: What stands before it, safe text.
        kind: How it is filled in.
        options: What there is to choose from.
        default: What is chosen where nothing was kept, from 0.
        about: What the options answer; a choice is kept for this alone.
        required: Whether the form has it from the beginning and is not handed in without it.
        closed: Whether a key opens it, so that no letter is text before.
        wanted: What stands in it while it is empty, safe text.
        complete: Yields what a line may become.
    """

    name: str
    label: str
    kind: FieldKind = FieldKind.LINE
    options: Sequence[OptionLine] = ()
    default: tuple[int, ...] = ()
    about: str = ""
    required: bool = False
    closed: bool = False
    wanted: str = ""
    complete: Callable[[str], Iterable[str]] | None = None

    def field(self, kept: str) -> AnyField:
        """Return the field for it, with what was `kept` of it in a draft."""
        if self.options:
            several = self.kind is FieldKind.SEVERAL
            return Options(
                self.options, about=self.about, kept=kept, default=self.default, several=several, id=self.name
            )
        if self.kind is FieldKind.LINE:
            suggester = Completer(self.complete) if self.complete is not None else None
            return Field(kept, placeholder=self.wanted, suggester=suggester, id=self.name)
        made = LongNote if self.kind is FieldKind.LONG_NOTE else Note
        return made(kept, placeholder=self.wanted, id=self.name)


def words_of_a_decision(label: str, kind: FieldKind = FieldKind.NOTE, *, required: bool = False, **more: Any) -> Ask:
    """Return the words that go with a decision; a key opens them where they may stay empty."""
    return Ask("words", label, kind, required=required, closed=not required, **more)
