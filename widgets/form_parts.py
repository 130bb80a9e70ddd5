"""Parts of every form: text that is wrapped, an excerpt of what is decided, and the body that scrolls."""

from __future__ import annotations

from typing import ClassVar

from team_console.widgets.detail import Detail
from team_console.widgets.document import Block, Document
from team_console.widgets.fields import Options
from team_console.widgets.painted import Painted
from team_console.widgets.text import text_of
from team_console.widgets.wrapping import wrap
from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static, TextArea


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

    def is_whole(self, frame: int) -> bool:
        """Return whether the terminal had held all of its lines by this frame."""
        return self.painted_before.get(self._token, Painted()).until(frame).is_whole

    def _set_size(self, size: Size) -> None:
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
        """Show another text."""
        self.update(Content(text))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """See `Widget`."""
        return len(self._lines(width))

    def render(self) -> Content:
        """See `Widget`."""
        return Content("\n".join(self._lines(self.content_size.width)))

    def _lines(self, width: int) -> list[str]:
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
