"""What this machine shows of joins: files from which our part is gone, what decides after every hook, processes."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from team_console.console.clients.client_process import is_alive
from team_console.console.clients.file_change import read_file
from team_console.console.clients.join import location_of
from team_console.console.clients.json_editing import NotEditable, read
from team_console.console.clients.place import EMPTY_JSON
from team_console.console.clients.receipts import Receipt, receipts
from team_console.console.clients.settings_part import SERVER, events_of, members_in
from team_console.console.clients.table import PROGRAMS
from team_console.store.contract.team import Team
from team_console.store.model.errors import Problem, TeamError


def gate_problems(team: Team) -> list[Problem]:
    """Return findings on the joins of a team on this machine."""
    mine = [known for known in receipts() if known.team == location_of(team)]
    found = [one for program in PROGRAMS.values() for one in program.problems()] if mine else []
    for known in mine:
        if known.file and is_unhooked(known):
            text = f"{known.member} joined by this file, from which our part is gone"
            hint = "Join again, or leave: team-console help join"
            found.append(Problem("UNHOOKED", "warning", known.file, text, hint))
    return found


def is_unhooked(known: Receipt) -> bool:
    """Return whether our part is gone from a file by which somebody joined."""
    path = Path(known.file)
    try:
        text = read_file(path, Path(path.anchor)) or ""
        if path.suffix != ".json":
            return SERVER not in text
        settings = read(text or EMPTY_JSON)
        has_less = Counter(known.events) - Counter(events_of(settings, known.member))
        return bool(has_less) or known.member not in members_in(settings)
    except (TeamError, NotEditable):
        return True


def processes() -> dict[str, str]:
    """Return session -> the state of its process in words, as safe text."""
    found = {}
    for program in PROGRAMS.values():
        for session, pid in program.processes():
            found[session] = f"process {pid} runs{_terminal_of(pid)}" if is_alive(pid) else "its process is gone"
    return found


def _terminal_of(pid: int) -> str:
    try:
        file = os.readlink(f"/proc/{pid}/fd/0")
    except OSError:
        return ""
    return f" on {file}" if file.startswith(("/dev/pts/", "/dev/tty")) else " without a terminal"
