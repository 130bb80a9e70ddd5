"""Joining: who joins which team, by which program, in which project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct
from team_console.console.clients.hook_lines import hook_command, quiet_condition
from team_console.console.clients.instructions import instructions_for, program
from team_console.console.clients.json_editing import Settings, SettingsPart
from team_console.console.clients.settings_part import SERVER, SERVERS
from team_console.store.contract.team import Team
from team_console.store.model.extras import is_installed


class Joining(Struct, frozen=True):
    """Who joins which team, by which program, in which project.

    Attributes:
        name: The member; `EVERY_SESSION` for each session under a name of its own.
        location: The team, as files of clients name it.
        program: The words that call team-console.
        instructions: What a shell's agent must know.
        hold: Rules of calls that the client is told to hold until somebody decides.
        has_server: Whether our MCP server can start.
        quiet: Words for a shell that spare the hook before a tool where nobody is asked.
        leaves: Whether the member leaves: every file counts then that may have something of it.
    """

    name: str
    location: str
    program: tuple[str, ...]
    project: Path
    instructions: str = ""
    hold: tuple[str, ...] = ()
    has_server: bool = True
    quiet: str = ""
    leaves: bool = False

    @property
    def command(self) -> list[str]:
        """The words that call the hook."""
        return hook_command(self.program, name=self.name, location=self.location)

    @property
    def server(self) -> Settings:
        """The entry of our MCP server."""
        environment = {"TEAM_CONSOLE_AS": self.name, "TEAM_CONSOLE_TEAM": self.location}
        return {"command": self.program[0], "args": [*self.program[1:], "mcp"], "env": environment}

    def servers(self, **more: Any) -> list[SettingsPart]:
        """Return our MCP server as settings in JSON have it; nothing where it cannot start.

        Args:
            more: What else a client wants to know of a server.
        """
        return [SettingsPart([SERVERS], {**self.server, **more}, SERVER)] if self.has_server else []


def joining_of(team: Team, name: str, project: Path, location: str | None = None) -> Joining:
    """Return who joins, and by which program.

    Args:
        location: What the files of clients name, where that is not the location of the team.
    """
    words = instructions_for(team, name, by_itself=False, location=location)
    has_server = is_installed("mcp", "pydantic")
    location = location or location_of(team)
    places = {kind: path.replace(location_of(team), location, 1) for kind, path in team.places().items()}
    quiet = quiet_condition(places, name, location)
    return Joining(name, location, program(), project.absolute(), words, has_server=has_server, quiet=quiet)


def location_of(team: Team) -> str:
    """Return the team's location as it is the same from every folder."""
    return team.location if "://" in team.location else str(Path(team.location).absolute())
