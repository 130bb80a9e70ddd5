"""The file that a tool would change, as it is before: its text goes with the request, where that may be shown."""

from __future__ import annotations

import os
import stat

from msgspec.structs import replace
from team_console.console.clients.event import Event
from team_console.store.protocol.client_requests import Permission
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.service.asking import LARGEST_BEFORE

_CHANGING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
"""Tools that change the file they name."""


def file_before(event: Event, *, readers: int = 0) -> Permission:
    """Return the permission with the text of the file that the tool would change, where that may be shown.

    Args:
        readers: Permission bits of those who can read the store: what they may not read stays out of it.
    """
    asked = Permission(event.tool, event.input)
    path = text_in(event.input, "file_path") or text_in(event.input, "notebook_path")
    if event.tool not in _CHANGING or not path:
        return asked
    whole = os.path.join(event.directory, path)
    try:
        descriptor = os.open(whole, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return replace(asked, before=None)
    except (OSError, ValueError):
        return asked
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            return asked
        if readers & ~mode:
            return replace(asked, is_private=True)
        data = file.read(LARGEST_BEFORE + 1)
    try:
        return replace(asked, before=data.decode()) if len(data) <= LARGEST_BEFORE else asked
    except UnicodeDecodeError:
        return asked
