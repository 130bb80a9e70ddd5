"""Imports of libraries without what they would load and need not: a start waits for each of them."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace


def load_msgspec() -> None:
    """Load it without `typing_extensions` and `platform`: they and what they load would take a tenth of a send.

    Where it is installed `msgspec` prefers the one to `typing`, which has all that it asks for from Python 3.11 on. It
    loads `uuid`, which asks the other for the name of the system and nothing else.
    """
    _load("msgspec", {"typing_extensions": None, "platform": SimpleNamespace(system=lambda: os.uname().sysname)})


def load_asyncio() -> None:
    """Load it without `ssl`, as it can be where Python has none: a console opens no encrypted connection of its own.

    The server of a team in PostgreSQL is spoken to by a library in C.
    """
    _load("asyncio", {"ssl": None})


def _load(name: str, lent: dict[str, object]) -> None:
    """Import a module while in place of others stands what is lent to it; None for a module that is not there."""
    modules: dict[str, object] = sys.modules  # type: ignore[assignment]
    missing = [key for key in lent if key not in modules]
    modules.update({key: lent[key] for key in missing})
    try:
        __import__(name)
    finally:
        for key in missing:
            del modules[key]
