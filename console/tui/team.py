"""Names the request that a message decides."""

from __future__ import annotations

from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.views.rows import View


def asked_title(view: View | None, message: Message) -> str:
    """Return the title of the request that `message` decides, safe text; empty for others and for an agent that
    stops.
    """
    read = parse_message(message)
    if view is None or read.request_id is None or read.answers in (None, RequestKind.SHUTDOWN):
        return ""
    return safe_line(next((row.title for row in view.requests if row.request_id == read.request_id), ""), 300)
