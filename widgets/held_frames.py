"""What the terminal holds of what was drawn, and what it held when a key was pressed.

A frame is held once the terminal is known to show it. Frames and keys have one order, in which they pass the terminal:
a key was pressed in view of a frame when that was held before the key came. No clock takes part.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakSet

from textual.dom import NoScreen
from textual.errors import NoWidget
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

RowT = TypeVar("RowT")

WhenHeld = Callable[[int], None]
"""Takes the number of the frame that is held now: something of it was waited for."""
TextAt = Callable[[int, int, int], str | None]
"""Line, column and number of cells, from 0 -> what the terminal shows there; None where that is not known."""


@dataclass
class FrameHeld(Message):
    """The terminal holds a frame, and so all before it; travels in the queue of the keys, in its place among them."""

    number: int


class DecidedAt(NamedTuple):
    """When it was decided: the last frame that was held then, and the name of the key; `mouse` for a click."""

    frame: int
    key: str


class HeldRows(Generic[RowT]):
    """Which rows of a list the terminal held."""

    def __init__(self, key: Callable[[RowT], str], basis: Callable[[RowT], object]) -> None:
        """Begin with none; `basis` returns the part of the row named `key` that a human decides on."""
        self._key, self._basis = key, basis
        self._held: dict[str, tuple[object, int]] = {}  # key -> what is decided on, and the frame that had it first

    def note(self, row: RowT, frame: int) -> None:
        """Note that the terminal holds a row with a frame."""
        self._held[self._key(row)] = self._basis(row), frame

    def has(self, row: RowT, *, by: int | None = None) -> bool:
        """Return whether the terminal held a row as it is, up to a frame or at all."""
        basis, at = self._held.get(self._key(row), (None, 0))
        return basis == self._basis(row) and (by is None or at <= by)


class Frames:
    """The frames of one console.

    Attributes:
        held: The last frame that the terminal is known to hold.
        pressed: The last frame that was held when the key under way was pressed.
        key: The name of that key; `mouse` for a click.
        is_repeat: Whether the key under way is the one before it again, held down or bouncing.
        decided: When the last key was pressed that decided.
    """

    def __init__(self, tell_when_held: Callable[[int], None], text_at: TextAt) -> None:
        """Begin to count.

        Args:
            tell_when_held: Has a `FrameHeld` with the number sent once the terminal holds all that was drawn so far.
            text_at: What the terminal shows.
        """
        self.held = self.pressed = self._drawn = 0
        self.is_repeat, self.key, self.decided = False, "", DecidedAt(0, "")
        self._text_at = text_at
        self._tell_when_held = tell_when_held
        self._widgets: WeakSet[Widget] = WeakSet()
        self._waiting: deque[tuple[int, Sequence[WhenHeld]]] = deque()

    def note_decision(self) -> None:
        """Note that the key under way decides."""
        self.decided = DecidedAt(self.pressed, self.key)

    def watch(self, widget: Widget) -> None:
        """Ask the `new_in_frame` of a widget after each frame for what to call once that is held."""
        self._widgets.add(widget)

    def note_drawn(self, screens: Sequence[Screen[object]]) -> None:
        """Note that a frame was drawn, and given to the terminal, of these screens."""
        callbacks: list[WhenHeld] = []
        for widget in tuple(self._widgets):
            if widget.is_attached and widget.display and widget.screen in screens:
                callbacks += widget.new_in_frame(self)  # type: ignore[attr-defined]
        if callbacks:
            self._drawn += 1
            self._waiting.append((self._drawn, callbacks))
            self._tell_when_held(self._drawn)

    def note_held(self, number: int) -> None:
        """Note that the frame `number` is held."""
        self.held = max(self.held, number)
        while self._waiting and self._waiting[0][0] <= self.held:
            at, callbacks = self._waiting.popleft()
            for when_held in callbacks:
                when_held(at)

    def shows(self, text: str, region: Region) -> bool:
        """Return whether the terminal shows the beginning of `text` in `region`, however it is wrapped there."""
        if not region:
            return False
        lines = [self._text_at(y, region.x, region.width) for y in region.line_range]
        known = [line for line in lines if line is not None]
        if len(known) < len(lines):
            return True  # what was sent cannot be told apart there; it was sent
        there, wanted = _squeezed("".join(known)), _squeezed(text)
        if not wanted or not there:
            return there == wanted
        return there.startswith(wanted) or wanted.startswith(there)


def frames_of(widget: Widget) -> Frames | None:
    """Return the frames of the widget's app; None for an app that counts none."""
    found = getattr(widget.app, "frames", None)
    return found if isinstance(found, Frames) else None


def visible_region(widget: Widget) -> Region:
    """Return the region of its screen in which the widget can be seen, apart from what lies over it."""
    try:
        place = widget.screen.find_widget(widget)
    except (NoScreen, NoWidget):
        return Region()
    return place.clip.intersection(place.region)


def _squeezed(text: str) -> str:
    """Return a text without blanks: where it was wrapped does not matter then."""
    return "".join(text.split())
