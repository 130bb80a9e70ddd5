"""Fields of forms: a line, a note, options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from msgspec import Struct
from team_console.store.model.safe import safe_line, safe_text
from team_console.widgets.bars import FewLines
from team_console.widgets.later import WidgetMessage
from team_console.widgets.text import Line, wrap
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Key, Paste, Resize
from textual.geometry import Region
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, TextArea

# One line of text that a human types; what is pasted is made safe to show before it is shown.


class Field(Input):
    """One line of text."""

    DEFAULT_CSS = """
    Field, Field:focus { border: none; height: 1; padding: 0; background: $panel; }
    Field:focus { background: $primary-muted; }
    Field:ansi:focus { text-style: underline; }
    """

    def __init__(self, value: str = "", **more: Any) -> None:
        # Textual selects a field when the focus comes to it; a letter that was there before the focus would be
        # replaced by the next one.
        super().__init__(value, select_on_focus=False, **more)

    def _on_paste(self, event: Paste) -> None:  # the toolkit calls its own method behind it
        event.text = safe_line(event.text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))


class Completer(Suggester):
    """Completes what is typed by the first of some texts that can be shown as it is: the library draws it unchanged."""

    def __init__(self, texts: Callable[[str], Iterable[str]]) -> None:
        """`texts`: what a value may become."""
        super().__init__(use_cache=False, case_sensitive=True)
        self._texts = texts

    async def get_suggestion(self, value: str) -> str | None:
        """Return the value completed; None when nothing fits."""
        return next((text for text in self._texts(value) if safe_line(text) == text), None)


def with_name(value: str, names: Iterable[str]) -> Iterator[str]:
    """Yield names parted by commas with the last one completed, by each of `names` that fits and is not there
    already.
    """
    head, _, last = value.rpartition(",")
    typed = last.lstrip()
    taken = {typed, *(item.strip() for item in head.split(","))}
    if typed:
        fits = (name for name in names if name not in taken and name.casefold().startswith(typed.casefold()))
        yield from (value + name[len(typed) :] for name in fits)


# What keys act on stays in sight while the fields of a form scroll.


def bring_into_sight(field: Widget, body: Widget) -> None:
    """Scroll `body` at once, as little as it takes, to show as much of `field` as it has room for.

    All of it with what stands above it, else up to its cursor, else its cursor alone. Of a field without a cursor the
    first lines count: a question is read before anything is chosen.
    """
    (width, height), above = field.size, _heading(field)
    here = field.place() if isinstance(field, Note | Options) else field.size.region
    wishes = [Region(0, -above, width, above + height)]
    if here:
        wishes += [Region(0, -above, width, above + here.bottom), here]
    wish = next((region for region in wishes if region.height <= body.size.height), wishes[-1])
    widget = field
    while widget is not body and isinstance(widget.parent, Widget):
        wish = wish.translate(widget.virtual_region.offset)
        widget = widget.parent
    body.scroll_to_region(wish.crop_size(body.size), animate=False, force=True, immediate=True)


def _heading(field: Widget) -> int:
    """Return the number of label lines directly above a field, such as its question."""
    siblings = field.parent.children if isinstance(field.parent, Widget) else ()
    before = siblings[siblings.index(field) - 1] if siblings else field
    if before.can_focus:
        return 0
    # A label beside the field begins where the field does.
    return max(0, field.virtual_region.y - before.virtual_region.y)


# Several lines of text that a human types; what is pasted is made safe to show before it is shown.


class Note(TextArea):
    """A few lines of text. Enter hands it in, ctrl+j begins a new line, ctrl+e opens the human's own editor."""

    DEFAULT_CSS = """
    Note, Note:focus { border: none; height: 2; padding: 0; background: $panel; }
    Note:focus { background: $primary-muted 45%; }
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

    def place(self) -> Region:
        """Return the line with the cursor."""
        return Region(0, self.cursor_screen_offset.y - self.content_region.y, self.size.width, 1)

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


class Letter(Note):
    """A text of any length."""

    DEFAULT_CSS = """
    Letter, Letter:focus { height: 4; }
    """


# Numbered options: the keys 1 to 9 choose, the arrows go from one to the next; one of them, or several.

_KEYS = 9
"""Options that have a key; further ones are reached with the arrows."""


class OptionLine(Struct, frozen=True):
    """One option: what choosing it is called, and what it means; both safe text."""

    label: str
    description: str = ""


class Options(FewLines, can_focus=True):
    """Options below each other. Of one choice the arrows choose; of several they move, and space chooses.

    Attributes:
        chosen: Places of the chosen options, from 0, in their order.
    """

    DEFAULT_CSS = """
    Options { height: auto; width: 1fr; background: $panel; }
    Options:focus { background: $primary-muted 45%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Before", show=False),
        Binding("down,j", "move(1)", "Next", show=False),
        Binding("space", "choose_here", "Choose", show=False),
        Binding("enter", "enter", "Hand in", show=False),
        *(Binding(str(number), f"choose({number})", f"Option {number}", show=False) for number in range(1, _KEYS + 1)),
    ]
    HELP = "The keys 1 to 9 choose, the arrows go through them; of several, space chooses."

    class Changed(WidgetMessage["Options"]):
        """Something else is chosen."""

    class Moved(WidgetMessage["Options"]):
        """The cursor is elsewhere, or was asked to go."""

    class Entered(WidgetMessage["Options"]):
        """Enter was pressed."""

    def __init__(
        self,
        lines: Sequence[OptionLine],
        *,
        about: str = "",
        kept: str = "",
        default: tuple[int, ...] = (),
        several: bool = False,
        id: str | None = None,
        name: str | None = None,
    ) -> None:
        """Make options.

        Args:
            about: What they answer.
            kept: The `value` of a draft; by all its words, since the request may offer others by now in these places.
            default: What is chosen where nothing was kept.
        """
        super().__init__(id=id, name=name)
        self._options, self._several, self._default = tuple(lines), several, default
        self._names = [f"{about}{line.label}: {line.description}" for line in self._options]
        words = kept.split("\n")
        self.chosen = tuple(place for place, name in enumerate(self._names) if name in words) or default
        nowhere = -1 if len(self._options) > 1 else 0  # a single option needs no way to it
        self._cursor = self.chosen[0] if self.chosen else nowhere

    @property
    def value(self) -> str:
        """All the words of what is chosen, for a draft; empty for what is chosen anyway."""
        return "" if self.chosen == self._default else "\n".join(self._names[place] for place in self.chosen)

    def action_move(self, step: int) -> None:
        """Go to the next or the former option; of one choice it is the chosen one then."""
        start = self._cursor if self._cursor >= 0 or step > 0 else len(self._options)
        self._cursor = min(max(start + step, 0), len(self._options) - 1)
        self._take((self._cursor,)) if not self._several else self.refresh()
        self.post_message(self.Moved(self))

    def action_choose(self, number: int) -> None:
        """Choose the option with this number; of several, choose it or leave it out."""
        if number <= len(self._options):
            self._cursor = number - 1
            self._toggle(self._cursor)
            self.post_message(self.Moved(self))

    def action_choose_here(self) -> None:
        """Choose the option under the cursor."""
        if self._cursor >= 0:
            self._toggle(self._cursor)

    def action_enter(self) -> None:
        """Hand in what is chosen."""
        self.post_message(self.Entered(self))

    @property
    def under_cursor(self) -> int:
        """The place of the option under the cursor, from 0; -1 before it is on any."""
        return self._cursor

    def place(self) -> Region:
        """Return the lines of the option under the cursor."""
        if self._cursor < 0:
            return Region()
        width = self.size.width
        above = sum(len(self._lines_of(place, width)) for place in range(self._cursor))
        return Region(0, above, width, len(self._lines_of(self._cursor, width)))

    def lines_at(self, width: int) -> Sequence[Line]:
        """Return the lines of all options."""
        return [line for place in range(len(self._options)) for line in self._lines_of(place, width)]

    def on_click(self, event: Click) -> None:
        """Choose what is clicked on."""
        below = 0
        for place in range(len(self._options)):
            below += len(self._lines_of(place, self.size.width))
            if event.y < below:
                return self.action_choose(place + 1)

    def on_resize(self, event: Resize) -> None:
        """Another width may take another number of lines."""
        self.refresh(layout=True)

    def on_focus(self) -> None:
        """Show where the cursor is."""
        self.refresh()

    def on_blur(self) -> None:
        """Show that it is elsewhere."""
        self.refresh()

    def _toggle(self, place: int) -> None:
        self._take(tuple(sorted({place}.symmetric_difference(self.chosen))) if self._several else (place,))

    def _take(self, chosen: tuple[int, ...]) -> None:
        changed = chosen != self.chosen
        self.chosen = chosen
        self.refresh()
        if changed:
            self.post_message(self.Changed(self))

    def _lines_of(self, place: int, width: int) -> list[Line]:
        """Return one option: its mark, its name and what it means."""
        option, chosen = self._options[place], place in self.chosen
        here = "›" if self.has_focus and place == self._cursor else " "
        key = str(place + 1) if place < _KEYS else " "
        box = ("[x]" if chosen else "[ ]") if self._several else "(•)" if chosen else "( )"
        head: Line = ((f"{here}{key} ", "key"), (f"{box} ", "good" if chosen else "muted"))
        words = f" — {option.description}" if option.description else ""
        label: Line = ((option.label, "strong"), (words, "muted"))
        return wrap((*head, *label), width, rest=((" " * 7, ""),))


AnyField = Field | Note | Options
"""What a human fills in; the `value` of each is text."""
