"""What the keys do: one function for each action of the registry, taking the desk on the screen and its subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from console.subject import Subject

if TYPE_CHECKING:
    from console.screens.main import MainScreen

Deed = Callable[["MainScreen", Subject], None]


def deeds() -> Mapping[str, Deed]:
    """Action id -> what it does."""
    from console.deeds import deciding, delivering, exporting, looking, moving, writing

    found: dict[str, Deed] = {}
    for module in (deciding, writing, delivering, looking, exporting, moving):
        found.update(module.DEEDS)
    return found
