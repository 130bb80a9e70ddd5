"""Numbered options: the keys 1 to 9 choose, the arrows go from one to the next; one of them, or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.text.cells import Line, fit, wrap
from team_console.widgets.text.tones import Inked
from team_console.widgets.told import Told
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

_KEYS = 9
"""Options that have a key; further ones are reached with the arrows."""


class OptionLine(Struct, frozen=True):
    """One option: what choosing it is called, and what it means; both safe text."""

    label: str
    description: str = ""


class Options(Inked, Widget, can_focus=True):
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

    class Changed(Told["Options"]):
        """Something else is chosen."""

    class Moved(Told["Options"]):
        """The cursor is elsewhere, or was asked to go."""

    class Entered(Told["Options"]):
        """Enter was pressed."""

    def __init__(
        self, lines: Sequence[OptionLine], *, chosen: Sequence[int] = (), several: bool = False, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._options, self._several = tuple(lines), several
        self.chosen: tuple[int, ...] = tuple(place for place in chosen if 0 <= place < len(self._options))
        self._cursor = self.chosen[0] if self.chosen else -1

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

    def clear(self) -> None:
        """Choose nothing."""
        self._cursor = -1
        self._take(())

    def place(self) -> Region:
        """The lines of the option under the cursor."""
        if self._cursor < 0:
            return Region()
        width = self.size.width
        above = sum(len(self._lines_of(place, width)) for place in range(self._cursor))
        return Region(0, above, width, len(self._lines_of(self._cursor, width)))

    def render_line(self, y: int) -> Strip:
        """One line of the list."""
        width = self.size.width
        lines = self._lay_out(width)
        return self.strip(fit(lines[y] if y < len(lines) else (), width), width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the options take at this width."""
        return len(self._lay_out(width))

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
        if not self._several:
            self._take((place,))
        elif place in self.chosen:
            self._take(tuple(item for item in self.chosen if item != place))
        else:
            self._take(tuple(sorted((*self.chosen, place))))

    def _take(self, chosen: tuple[int, ...]) -> None:
        changed = chosen != self.chosen
        self.chosen = chosen
        self.refresh()
        if changed:
            self.post_message(self.Changed(self))

    def _lay_out(self, width: int) -> list[Line]:
        return [line for place in range(len(self._options)) for line in self._lines_of(place, width)]

    def _lines_of(self, place: int, width: int) -> list[Line]:
        """One option: its mark, its name and what it means."""
        option, chosen = self._options[place], place in self.chosen
        here = "›" if self.has_focus and place == self._cursor else " "
        key = str(place + 1) if place < _KEYS else " "
        box = ("[x]" if chosen else "[ ]") if self._several else "(•)" if chosen else "( )"
        head: Line = ((f"{here}{key} ", "key"), (f"{box} ", "good" if chosen else "muted"))
        words = f" — {option.description}" if option.description else ""
        label: Line = ((option.label, "strong"), (words, "muted"))
        return wrap((*head, *label), width, rest=((" " * 7, ""),))
