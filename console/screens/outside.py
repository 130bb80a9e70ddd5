"""What the screen may ask the application for, as plain functions: it does not know the application."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct


class Outside(Struct, frozen=True):
    """What the screen asks for from outside.

    Attributes:
        look: Has the store looked at again.
        redraw: Has the team read again and every cell drawn anew.
        report: Takes an exception nobody expected.
        is_behind: Whether the store was asked to be looked at and that is not on the screen yet.
    """

    look: Callable[[], None]
    redraw: Callable[[], None]
    report: Callable[[Exception], None]
    is_behind: Callable[[], bool] = lambda: False
