"""Sessions of clients that run on this machine, as the clients' own records and the system say."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from team_console.console.clients.client_process import is_alive
from team_console.store.model.home import home

_LARGEST = 1 << 16


def processes() -> dict[str, str]:
    """Return session -> the state of its process in words, as safe text."""
    found = {}
    for facts in claude_sessions():
        session, pid = facts.get("sessionId"), facts.get("pid")
        if isinstance(session, str) and isinstance(pid, int):
            found[session] = f"process {pid} runs{_terminal_of(pid)}" if is_alive(pid) else "its process is gone"
    return found


def _terminal_of(pid: int) -> str:
    try:
        file = os.readlink(f"/proc/{pid}/fd/0")
    except OSError:
        return ""
    return f" on {file}" if file.startswith(("/dev/pts/", "/dev/tty")) else " without a terminal"


def claude_home() -> Path:
    """Return the folder of Claude Code's own files."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or home() / ".claude")


def codex_home() -> Path:
    """Return the folder of Codex' own files."""
    return Path(os.environ.get("CODEX_HOME") or home() / ".codex")


def qwen_home() -> Path:
    """Return the folder of Qwen Code's own files."""
    return Path(os.environ.get("QWEN_HOME") or home() / ".qwen")


def facts_of_session(session: str) -> dict[str, Any]:
    """Return what Claude Code records of a running session; empty when that cannot be read."""
    return next((facts for facts in claude_sessions() if facts.get("sessionId") == session), {})


def claude_sessions() -> Iterator[dict[str, Any]]:
    """Yield Claude Code's own record of each running session."""
    for path in sorted(claude_home().glob("sessions/*.json")):
        with suppress(OSError, ValueError, RecursionError):
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                value = json.loads(file.read(_LARGEST))
            if isinstance(value, dict):
                yield value
