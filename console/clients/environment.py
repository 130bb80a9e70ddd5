"""What clients say of a session in the environment of its hooks, read at every event: it imports nothing heavy."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

ATTENDED = "CLAUDE_CODE_SESSION_ATTENDED"
_PROJECT = "CLAUDE_PROJECT_DIR"


def attended() -> str:
    """Return whether somebody is at the client's terminal: `1`; `0` for a run without one, which ends only when its
    hooks have; empty where it does not say.
    """
    return os.environ.get(ATTENDED, "")


def project_of(data: Mapping[str, object]) -> str:
    """Return the folder that a session works in."""
    return os.environ.get(_PROJECT) or str(data.get("cwd") or os.curdir)
