"""Serving of one MCP client on standard input and output."""

from __future__ import annotations

import anyio
from team_console.console.mcp.seat import Seat
from team_console.console.mcp.server import make_server


def serve(name: str, location: str | None) -> int:
    """Serve as the agent `name` until the client closes standard input; an exit status.

    Raises:
        TeamError: `TEAM_NOT_FOUND`, before anything is served.
    """
    seat = Seat(name, location)
    seat.open()
    anyio.run(make_server(seat).run_stdio_async)
    return 0
