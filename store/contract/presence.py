"""Who is present: consoles of humans, and processes that wait for an answer, each under a name of its own."""

from __future__ import annotations

import os
import re
from enum import StrEnum

from msgspec import Struct


class Presence(StrEnum):
    """As what a process is present."""

    CONSOLE = "console"
    """A human at a console that may write and answer."""
    ASKER = "asker"
    """A process that waits for the answer to a request and will carry it out."""


class Attendance(Struct, frozen=True):
    """Who is present at one moment.

    Attributes:
        names: Names of processes that live.
        doubtful: Names of which it is not known: not to be looked at for want of permission, or late to say so.
        certain: Whether every other name is that of a process which is gone; False when nothing could be found out.
    """

    names: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    certain: bool = True

    def is_gone(self, name: str) -> bool:
        """Return whether the process that announced `name` has certainly ended."""
        return self.certain and name not in self.names and name not in self.doubtful


UNKNOWN_ATTENDANCE = Attendance(certain=False)
"""What a team says that cannot tell who is present."""
_PRESENCE_NAME = r"[0-9a-f]{24}"


def new_presence_name() -> str:
    """Return a name that nobody else announces."""
    return os.urandom(12).hex()


def is_presence_name(name: object) -> bool:
    """Return whether `name`, which may come from a message, has the form of an announced name."""
    return isinstance(name, str) and re.fullmatch(_PRESENCE_NAME, name) is not None
