"""Place of a message: file and line in a team of files, the row in a database."""

from __future__ import annotations

import os

from team_console.store.contract.team import Team

_LONGEST = 64 * 1024 * 1024
"""Bytes of a queue that are searched."""


def place_of(team: Team, message_id: str) -> str:
    """Where the message stands: `message-queue.yaml:12` or `row MSG-...`; its id where it has left the queue."""
    path = team.places().get("queue")
    if path is None:
        return f"row {message_id}"
    try:
        with open(path, "rb") as file:
            data = file.read(_LONGEST)
    except OSError:
        return message_id
    at = data.find(message_id.encode("utf-8", "replace"))
    line = data.count(b"\n", 0, at) + 1
    return message_id if at < 0 else f"{os.path.basename(path)}:{line}"
