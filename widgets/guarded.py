"""The guard of a widget: a defect in its handlers or its drawing ends neither the widget nor what is beside it.

Textual ends the message loop of a widget whose handler raised, and gives up a picture when one widget cannot be drawn.
A guarded widget tells the app of the exception and goes on; what the app does with it is the app's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from team_console.store.model.errors import TeamError
from textual.events import Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.worker import Worker, WorkerState

if TYPE_CHECKING:
    from textual.widget import Widget as _Widget
else:
    _Widget = object  # a mixin: it stands before the real base, and screens and inputs have others

CANNOT_BE_SHOWN = "✗ this cannot be shown"


class Guarded(_Widget):
    """What widgets, panes and screens are mixed with, in front of Textual's own class."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            self.tell_of(error)
            self.broke_at(message)

    def tell_of(self, error: Exception) -> None:
        """Tell the app of a mistake of ours."""
        self.app._handle_exception(error)

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """Tell every new size: Textual tells none to a widget that was asked for its place before it was laid out.

        The question puts the widget into the map of the screen, and the layout then takes it for an old one. Without
        its size a detail stays empty, and a list does not know how many rows it shows.
        """
        is_new = super()._size_updated(size, virtual_size, container_size, layout)
        if is_new:
            self.post_message(Resize(size, virtual_size, container_size))
        return is_new

    def broke_at(self, message: Message) -> None:
        """Give way after handling `message` raised; by default it is as if the message had not come."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines, or words that say there are none: one widget that cannot be drawn would keep all from it."""
        try:
            return super().render_lines(crop)
        except Exception as error:
            self.tell_of(error)
            words = Strip([Segment(CANNOT_BE_SHOWN)]).adjust_cell_length(crop.width)
            return [words, *[Strip.blank(crop.width)] * (crop.height - 1)][: crop.height]

    def _on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker that failed in a way nobody foresaw; what it was for says so in its own place."""
        if event.state is WorkerState.ERROR and (defect := defect_in(event.worker.error)) is not None:
            self.tell_of(defect)


def defect_in(error: BaseException | None) -> Exception | None:
    """The exception if it is a mistake of ours, not a refusal or a disk or server that does not do as it should."""
    return error if isinstance(error, Exception) and not isinstance(error, TeamError | OSError) else None
