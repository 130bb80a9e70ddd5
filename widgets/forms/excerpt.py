"""What a form is about, in as many lines as it takes and no more than fit; longer ones scroll."""

from __future__ import annotations

from collections.abc import Sequence

from team_console.widgets.details.detail import Detail
from team_console.widgets.details.document import Block, Document
from textual.events import Resize


class Excerpt(Detail):
    """Blocks of a document inside a form."""

    DEFAULT_CSS = """
    Excerpt { height: 1; margin-top: 1; padding: 0; background: $panel; }
    Excerpt:focus { background: $primary-muted 45%; }
    """
    HELP = "What you decide on. Scroll with the arrows or j and k."

    def __init__(self, blocks: Sequence[Block], *, most: int, id: str | None = None) -> None:
        """`most`: lines up to which it grows."""
        super().__init__(id=id)
        self._blocks, self._most = tuple(blocks), most

    def on_mount(self) -> None:
        """Show what it was made with."""
        self.put(self._blocks)

    def put(self, blocks: Sequence[Block]) -> None:
        """Show these blocks."""
        self.display = bool(blocks)
        self.show(Document(key="excerpt", title="", blocks=tuple(blocks)))
        self._grow()

    def on_resize(self, event: Resize) -> None:
        """Another width takes another number of lines."""
        super().on_resize(event)
        self._grow()

    def _grow(self) -> None:
        self.styles.height = max(1, min(self._most, self.virtual_size.height))
