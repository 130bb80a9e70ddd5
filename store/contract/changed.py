"""Refusal of a write because a message is not any more what was read or shown before."""

from __future__ import annotations

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message


class ChangedError(TeamError):
    """A message that a write rests on is not what was read or shown; nothing was written.

    Attributes:
        now: The message as it is now, None where it is gone or was not looked for.
    """

    def __init__(self, request_id: str, now: Message | None) -> None:
        text = f"request {request_id} is not what was shown any more"
        hint = "Read it again before you answer."
        super().__init__(Code.INVALID_REQUEST_ID, text, hint, request_id=request_id, changed=True)
        self.now = now
