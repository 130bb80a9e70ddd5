"""Every program that can join, and which of the clients an event is from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from team_console.console.clients.claude import Claude
from team_console.console.clients.client import Client, Program, Running
from team_console.console.clients.client_process import is_alive
from team_console.console.clients.codex import Codex
from team_console.console.clients.other_programs import McpProgram, Shell
from team_console.console.clients.qwen import Qwen

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
    for session, pid in ((one.session, one.process) for one in _sessions() if one.process is not None):
        found[session] = f"process {pid} runs{_terminal_of(pid)}" if is_alive(pid) else "its process is gone"
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
