"""Words on the frame of a pane: the row above a list or a detail, a decision not yet written, what cannot be shown."""

from __future__ import annotations

from msgspec.structs import replace
from team_console.widgets.details.document import Document, Lines
from team_console.widgets.guarded import CANNOT_BE_SHOWN
from team_console.widgets.text.cells import Line
from textual.content import Content
from textual.widget import Widget

BROKEN: tuple[Line, ...] = (((CANNOT_BE_SHOWN, "alarm"),), (), (("It is a defect of the console.", "muted"),))
BROKEN_DOCUMENT = Document(key="broken", title="", blocks=(Lines(BROKEN),))


def unwritten(decided: str) -> str:
    """What is said of a thing that was decided and is not written yet."""
    return f"◔ {decided}, not written yet"


def with_unwritten(document: Document, decided: str) -> Document:
    """The document of such a thing, which says it first."""
    said: Line = ((unwritten(decided), "alert"), (" · U takes it back, W writes it now", "muted"))
    return replace(document, blocks=(Lines((said,)), *document.blocks))


def with_fate(document: Document, fate: str) -> Document:
    """The document of a request that a form is open about and that waits no more, which says so first."""
    return replace(document, blocks=(Lines((((fate, "alert"),),)), *document.blocks))


def set_title(widget: Widget, title: str, subtitle: str = "") -> None:
    """Write into the row above `widget`, plain text only; nothing is repainted when it stands there already."""
    if getattr(widget, "_written", None) == (title, subtitle):
        return
    widget._written = (title, subtitle)  # type: ignore[attr-defined]
    words = Content.assemble(title, (f"   {subtitle}", "$text-warning")) if subtitle else Content(title)
    widget.border_title = words if title or subtitle else " "
