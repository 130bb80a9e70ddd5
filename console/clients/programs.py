"""Programs that can join: the clients, any program that speaks MCP, an agent in a shell; and whose an event is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from team_console.console.clients.claude import Claude
from team_console.console.clients.client import Client, Program, Running
from team_console.console.clients.client_file import (
    ClientFile,
    Joining,
    block_of,
    members_named,
    settings_file,
    with_block,
    without_block,
)
from team_console.console.clients.client_process import is_alive
from team_console.console.clients.codex import Codex
from team_console.console.clients.json_editing import EditedText, MadePaths
from team_console.console.clients.qwen import Qwen
from team_console.store.model.errors import Code, TeamError


class McpProgram(Program):
    """Any program that reads the usual file of servers."""

    word = "mcp"
    needs_server = True

    def files(self, scope: str, joining: Joining) -> list[ClientFile]:
        """Return the project's file of servers."""
        return [settings_file(joining.project / ".mcp.json", joining.project, joining.name, joining.servers())]

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

    def files(self, scope: str, joining: Joining) -> list[ClientFile]:
        """Return the project's instructions."""

        def edit(text: str, made: MadePaths | None, joins: bool) -> EditedText:
            others = [name for name in members_named(text) if name != joining.name]
            if others and joins:
                text = f"AGENTS.md says already that the agent is {others[0]}"
                both = f"team-console member add {joining.name}; then tell it what this prints:"
                hint = f"First: team-console leave {others[0]}. Or have both here: {both}"
                raise TeamError(Code.NOT_PERMITTED, text, f"{hint} team-console instructions {joining.name}")
            block = block_of(joining.name, joining.instructions)
            rest = without_block(text, joining.name)
            if not joins:
                return EditedText(rest, [])
            return EditedText(text if block in text else with_block(rest, block), [])

        return [ClientFile(joining.project / "AGENTS.md", joining.project, edit)]

    def notes_for_user(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know."""
        return [
            "An agent that reads AGENTS.md takes its mail, hands in plans and asks you by the command line.",
            "What it asks permission for stays in its own dialog.",
        ]


_USUAL = Claude()
"""The client of events that none recognises as its own."""
CLIENTS: Mapping[str, Client] = {client.name: client for client in (_USUAL, Codex(), Qwen())}
PROGRAMS: Mapping[str, Program] = {program.word: program for program in (*CLIENTS.values(), McpProgram(), Shell())}
"""What an agent may run in, by the words that `join --for` takes."""


def client_of(data: Mapping[str, Any], name: str = "") -> Client:
    """Return the client that is named, else the one whose event it looks like."""
    return CLIENTS.get(name) or next((client for client in CLIENTS.values() if client.has_sent(data)), _USUAL)


def running_sessions() -> Iterator[Running]:
    """Yield the sessions that run, of every client that keeps a record of them."""
    yield from (one for one in _sessions() if one.process is None or is_alive(one.process))


def process_states() -> dict[str, str]:
    """Return session -> the state of its process in words, as safe text."""
    found = {}
    for one in _sessions():
        pid = one.process
        if pid is not None:
            found[one.session] = f"process {pid} runs{_terminal_of(pid)}" if is_alive(pid) else "its process is gone"
    return found


def _sessions() -> Iterator[Running]:
    """Yield the sessions of all clients; none of one whose records are closed to us, as in a home of another user."""
    for program in PROGRAMS.values():
        # guard: closed-home-has-no-sessions
        with suppress(OSError):
            yield from program.sessions()


def _terminal_of(pid: int) -> str:
    try:
        file = os.readlink(f"/proc/{pid}/fd/0")
    except OSError:
        return ""
    return f" on {file}" if file.startswith(("/dev/pts/", "/dev/tty")) else " without a terminal"
