"""What is no client of its own: any program that speaks MCP, and an agent in a shell."""

from __future__ import annotations

from collections.abc import Sequence

from team_console.console.clients.client import Program
from team_console.console.clients.json_editing import Notes
from team_console.console.clients.marked_block import block_of, members_named, with_block, without_block
from team_console.console.clients.place import Joining, Place, json_place
from team_console.store.model.errors import Code, TeamError


class McpProgram(Program):
    """Any program that reads the usual file of servers."""

    word = "mcp"
    needs_server = True

    def places(self, scope: str, joining: Joining) -> list[Place]:
        """Return the project's file of servers."""
        return [json_place(joining.project / ".mcp.json", joining.project, joining.name, joining.servers())]

    def notes_for_user(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know."""
        return [
            "Programs that read .mcp.json offer their model the tools of the team: mail, plans, questions.",
            "What such a program asks permission for stays in its own dialog.",
        ]


class Shell(Program):
    """An agent that reads a file of instructions and calls the command line."""

    word = "shell"
    offers_tools = False

    def places(self, scope: str, joining: Joining) -> list[Place]:
        """Return the project's instructions."""

        def edit(text: str, notes: Notes | None, joins: bool) -> tuple[str, Notes]:
            others = [name for name in members_named(text) if name != joining.name]
            if others and joins:
                text = f"AGENTS.md says already that the agent is {others[0]}"
                both = f"team-console member add {joining.name}; then tell it what this prints:"
                hint = f"First: team-console leave {others[0]}. Or have both here: {both}"
                raise TeamError(Code.NOT_PERMITTED, text, f"{hint} team-console instructions {joining.name}")
            block = block_of(joining.name, joining.instructions)
            rest = without_block(text, joining.name)
            if not joins:
                return rest, []
            return text if block in text else with_block(rest, block), []

        return [Place(joining.project / "AGENTS.md", joining.project, edit)]

    def notes_for_user(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know."""
        return [
            "An agent that reads AGENTS.md takes its mail, hands in plans and asks you by the command line.",
            "What it asks permission for stays in its own dialog.",
        ]
