"""Several lines of text that a human types; what is pasted is made safe to show before it is shown."""

from __future__ import annotations

from team_console.store.model.safe import safe_text
from team_console.widgets.guarded import Guarded
from team_console.widgets.told import Told
from textual.binding import Binding
from textual.content import Content
from textual.events import Key, Paste
from textual.geometry import Region
from textual.widgets import TextArea


class Note(Guarded, TextArea):
    """A few lines of text. Enter hands it in, ctrl+j begins a new line, ctrl+e opens the human's own editor."""

    DEFAULT_CSS = """
    Note, Note:focus { border: none; height: 2; padding: 0; background: $panel; }
    Note:focus { background: $primary-muted 45%; }
    """
    BINDINGS = [
        Binding("ctrl+j,shift+enter,alt+enter", "newline", "New line", show=False),
        Binding("ctrl+e", "edit", "Edit in an editor", show=False),
    ]

    class Entered(Told["Note"]):
        """Enter was pressed."""

    class EditorWanted(Told["Note"]):
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
        """The line with the cursor."""
        return Region(0, self.cursor_screen_offset.y - self.content_region.y, self.size.width, 1)

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Entered(self))

    async def _on_paste(self, event: Paste) -> None:  # the toolkit calls its own method behind it
        event.text = safe_text(event.text.replace("\r\n", "\n").replace("\r", "\n"))

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
