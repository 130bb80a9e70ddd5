"""What keys act on stays in sight while the fields of a form scroll."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from textual.geometry import Region
from textual.widget import Widget


@runtime_checkable
class HasPlace(Protocol):
    """A field of several lines, of which those matter most that its cursor is on."""

    def place(self) -> Region:
        """Those cells, counted from the field's upper left corner; no cells while there is no cursor."""


def bring_into_sight(field: Widget, body: Widget) -> None:
    """Scroll `body` at once, as little as it takes, to show as much of `field` as it has room for."""
    wishes = list(_wishes(field))
    wish = next((region for region in wishes if region.height <= body.size.height), wishes[-1])
    top = _inside(wish, field, body).crop_size(body.size)
    body.scroll_to_region(top, animate=False, force=True, immediate=True)


def _wishes(field: Widget) -> Iterator[Region]:
    """What should be seen of a field, the most first: with what stands above it, up to its cursor, its cursor alone.

    Of a field without a cursor the first lines count: a question is read before anything is chosen.
    """
    width, height = field.size
    heading = _heading(field)
    yield Region(0, -heading, width, heading + height)
    here = field.place() if isinstance(field, HasPlace) else field.size.region
    if here:
        yield Region(0, -heading, width, heading + here.bottom)
        yield here


def _heading(field: Widget) -> int:
    """How many lines stand directly above a field that say what it is for, such as its question."""
    if not isinstance(field.parent, Widget):
        return 0
    before = field.parent.children[: field.parent.children.index(field)]
    if not before or before[-1].can_focus:
        return 0
    # A label beside the field begins where the field does.
    return max(0, field.virtual_region.y - before[-1].virtual_region.y)


def _inside(region: Region, field: Widget, body: Widget) -> Region:
    """The region of a field as one of what the body scrolls."""
    widget = field
    while widget is not body and isinstance(widget.parent, Widget):
        region = region.translate(widget.virtual_region.offset)
        widget = widget.parent
    return region
