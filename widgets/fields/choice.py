"""One of a few words, changed with the left and right arrows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from team_console.widgets.bars.one_line import OneLine
from team_console.widgets.told import Told
from textual.binding import Binding, BindingType


class Choice(OneLine, can_focus=True):
    """A value out of a fixed list."""

    DEFAULT_CSS = """
    Choice { width: 1fr; background: $panel; }
    Choice:focus { background: $primary-muted; }
    Choice:ansi:focus { text-style: underline; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "Before", show=False),
        Binding("right,l,space", "step(1)", "Next", show=False),
    ]
    HELP = "Left and right change the value."

    @dataclass
    class Changed(Told["Choice"]):
        """Another value was chosen."""

        value: str

    def __init__(self, values: tuple[str, ...], value: str = "", *, empty: str = "", id: str | None = None) -> None:
        """`empty` is shown for the empty value."""
        super().__init__(id=id)
        self._values, self._empty = values, empty
        self.value = value if value in values else values[0]
        self._show()

    def action_step(self, step: int) -> None:
        """Go to the next or the former value."""
        place = (self._values.index(self.value) + step) % len(self._values)
        self.value = self._values[place]
        self._show()
        self.post_message(self.Changed(self, self.value))

    def choose(self, value: str) -> None:
        """Take `value` when it is one of the values."""
        if value in self._values and value != self.value:
            self.value = value
            self._show()
            self.post_message(self.Changed(self, value))

    def _show(self) -> None:
        self.set_line((("‹ ", "muted"), (self.value or self._empty, "" if self.value else "muted"), (" ›", "muted")))
