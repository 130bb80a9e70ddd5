"""The line below a list in which words to filter by are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from team_console.widgets.bars.one_line import OneLine
from team_console.widgets.guarded import Guarded
from textual.app import ComposeResult
from textual.containers import Container

if TYPE_CHECKING:
    from team_console.widgets.fields.field import Field
    from textual.widget import Widget


class FilterLine(Guarded, Container):
    """Words to filter by, behind the `/` that opened the line; not there until it is asked for."""

    DEFAULT_CSS = """
    FilterLine { display: none; height: 1; layout: horizontal; background: $panel; }
    FilterLine.-shown { display: block; }
    FilterLine > OneLine { width: 3; padding: 0 1; background: $panel; }
    FilterLine > Field { width: 1fr; }
    """

    def compose(self) -> ComposeResult:
        """The slash; the field is made when it is first asked for."""
        slash = OneLine()
        slash.set_line((("/", "key"),))
        yield slash

    def __init__(self) -> None:
        super().__init__()
        self._field: Field | None = None
        self._asked_from: Widget | None = None

    @property
    def is_open(self) -> bool:
        """Whether words are being typed."""
        return self._field is not None and self.has_class("-shown")

    def open(self, words: str) -> None:
        """Ask for words, beginning with those that hold now."""
        from team_console.widgets.fields.field import Field

        if self._field is None:
            self._field = Field(placeholder="only rows that hold all of these words")
            # Mounted in a place that is there already: a field whose parent is new cannot have the focus at once, and
            # what is typed meanwhile would be keys.
            self.mount(self._field)
        if not self.is_open:
            self._asked_from = self.screen.focused
        self.add_class("-shown")
        self._field.value = words
        self._field.select_all()
        # At once: `focus` takes its turn in a queue, and a key that is there already would act on the list.
        self.screen.set_focus(self._field)

    def close(self) -> Widget | None:
        """Ask no more; what had the focus before, None when nothing was asked."""
        self.remove_class("-shown")
        before, self._asked_from = self._asked_from, None
        return before
