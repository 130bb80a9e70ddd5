"""`mcp`: serve the team's tools to an MCP client, for the agent that the environment names."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.store.model.errors import Code, TeamError


def add_arguments(parser: ArgumentParser) -> None:
    """Describe what it needs; it takes no arguments of its own."""
    parser.description = (
        "Serve whoami, inbox, send, hand_in_plan, ask_human, verdict, answer_shutdown, report_done and roster to an\n"
        "MCP client, on standard input and output. Who acts comes from TEAM_CONSOLE_AS, the team from\n"
        "TEAM_CONSOLE_TEAM or the current folder; no tool takes a name. It needs: pip install 'team-console[mcp]'."
    )


def run(call: Call) -> int:
    """Serve until the client closes standard input.

    Raises:
        TeamError: `USAGE` without a name, a client or the packages; `INVALID_NAME`, `TEAM_NOT_FOUND`.
    """
    name = call.given_actor
    if name is None:
        text = "an agent that takes part by MCP needs a name"
        raise TeamError(Code.USAGE, text, "Set TEAM_CONSOLE_AS in the client's entry for this server.")
    if call.options.read_only:
        raise TeamError(Code.USAGE, "the MCP server has no read-only mode", "Leave out --read-only.")
    try:
        import mcp.server.mcpserver  # noqa: F401
    except ModuleNotFoundError as error:
        hint = "Install it with: pip install 'team-console[mcp]'"
        raise TeamError(Code.USAGE, f"the MCP server needs the package {error.name}", hint) from error
    from team_console.console.mcp.server import serve

    return serve(name, call.options.team)
