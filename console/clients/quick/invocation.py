"""Invocation of the hook: how it was called, and with which event."""

from __future__ import annotations

import os

WAKE = 2
"""Exit status by which a waiting hook wakes its session; only `--wake` gives it."""


class Invocation:
    """How the hook was called, and with which event.

    Attributes:
        actor: Whose session it is, empty when nobody said.
        location: The team as it was given, empty for the one of the current folder.
        timeout: Seconds after which the client waits no longer, as text.
        wake: Whether to wait for mail and wake the session.
        data: The event.
    """

    def __init__(self, options: dict[str, str], data: dict[str, object]) -> None:
        self.actor = options.get("actor") or os.environ.get("TEAM_CONSOLE_AS", "")
        self.location = options.get("team") or os.environ.get("TEAM_CONSOLE_TEAM", "")
        self.client = options.get("client", "")
        self.timeout = options.get("timeout", "")
        self.wake = "wake" in options
        self.data = data

    @property
    def session(self) -> str:
        """The client's own id of its session."""
        session = self.data.get("session_id")
        return session if isinstance(session, str) else ""

    @property
    def is_unattended(self) -> bool:
        """Whether the session is a run without a terminal (`claude -p`): it ends only when its hooks have."""
        return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "0"
