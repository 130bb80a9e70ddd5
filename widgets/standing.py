"""What passes between a form and the screen it stands on: where it stands, and what is done later, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError
from textual.geometry import Region
from textual.screen import Screen
from textual.signal import Signal


class Later(Struct, frozen=True):
    """The base of a result that is done later: what was typed is kept until then."""


class Stopped(TeamError):
    """A human stopped it before it was done."""

    def __init__(self, text: str) -> None:
        super().__init__(Code.USAGE, text)


class Behind(Struct, frozen=True):
    """What a form asks of the screen it stands on.

    Attributes:
        room: Where the thing it is about is shown; the form grows out of its bottom.
        cover: Keeps so many lines at that bottom free, 0 to have them back.
        scroll: Scrolls the thing by so many pages.
        edit: Lets the human edit a text in an editor of their own, and gives it back; it may raise `TeamError`.
        laid_out: Tells when the screen was laid out, so that the thing may be at another place.
    """

    room: Callable[[], Region]
    cover: Callable[[int], None] = lambda lines: None
    scroll: Callable[[float], None] = lambda pages: None
    edit: Callable[[str], str] | None = None
    laid_out: Signal[Screen[Any]] | None = None
