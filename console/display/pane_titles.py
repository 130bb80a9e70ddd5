"""Words on the frame of a pane: the row above a list or a detail, and what is said of a decision not yet written."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget


def unwritten(decided: str) -> str:
    """What is said of a thing that was decided and is not written yet."""
    return f"◔ {decided}, not written yet"


def set_title(widget: Widget, title: str, subtitle: str = "") -> None:
    """Write into the row above `widget`, plain text only; nothing is repainted when it stands there already."""
    if getattr(widget, "_written", None) == (title, subtitle):
        return
    widget._written = (title, subtitle)  # type: ignore[attr-defined]
    words = Content.assemble(title, (f"   {subtitle}", "$text-warning")) if subtitle else Content(title)
    widget.border_title = words if title or subtitle else " "
