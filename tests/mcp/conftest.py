"""Teams in files and in SQLite, and clients of the MCP server: in this process, or of a real one over stdio."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="the extra [mcp] is not installed")

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult
from team_console.console.mcp.acting import ActingAgent
from team_console.console.mcp.server import make_server
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.service.caller import Caller

from tests.equipment.command_line import CommandLine, clean_environment

LEAD, AGENT, OTHER = "ceo", "file-manager", "schedule-manager"


@dataclass(frozen=True, slots=True)
class Place:
    """A team and how to get at it.

    Attributes:
        location: As `-t` takes it.
        open: Closes the teams that were opened.
    """

    location: str
    command_line: CommandLine
    open: ExitStack = field(default_factory=ExitStack)

    def caller(self, name: str) -> Caller:
        """The seat of `name` at the desk."""
        return Caller(self.team(), name, 5.0)

    def team(self) -> Team:
        """The team, opened anew, until the end of the test."""
        return self.open.enter_context(closing(open_team(self.location)))

    def verb(self, *words: str, by: str = LEAD) -> Any:
        """The JSON of a verb that must succeed."""
        return self.command_line.ok("-t", self.location, "--as", by, "--json", *words).json

    def inside(self, name: str = AGENT, **more: Any) -> AbstractAsyncContextManager[Client]:
        """A client of a server in this process; mail counts as read as soon as its call is over."""
        return Client(make_server(ActingAgent(name, self.location), settled=0.0), **more)

    @asynccontextmanager
    async def outside(self, name: str = AGENT, **more: Any) -> AsyncIterator[Client]:
        """A client of a server that is a process of its own."""
        environment = clean_environment(TEAM_CONSOLE_AS=name, TEAM_CONSOLE_TEAM=self.location)
        words = ["-P", "-m", "team_console.console", "mcp"]
        server = StdioServerParameters(command=sys.executable, args=words, env=environment)
        async with Client(server, **more) as client:
            yield client


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A team of three under `ceo`, in a folder; in a database where a test asks for `sqlite`."""
    location = tmp_path / ("team.db" if getattr(request, "param", "") == "sqlite" else "team")
    command_line = CommandLine(tmp_path)
    agents = [word for name in (AGENT, f"{OTHER}:plan", "knowledge-manager") for word in ("--agent", name)]
    command_line.ok("init", str(location), "--name", "sprint-42", "--lead", LEAD, *agents)
    place = Place(str(location), command_line)
    with place.open:
        yield place


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool tells; it must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return dict(result.structured_content or {})


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The error object of a tool; it must refuse, and say the same in words."""
    result: CallToolResult = await client.call_tool(tool, arguments)
    assert result.is_error, result
    error = dict(result.structured_content or {})
    assert error["success"] is False
    assert error["error"] in getattr(result.content[0], "text", "")
    return error
