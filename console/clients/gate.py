"""What stands in the way of a gate: a file from which our part is gone, and plugins that decide after every hook."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

from team_console.console.clients.file_change import read_file
from team_console.console.clients.join import location_of
from team_console.console.clients.json_editing import NotEditable, Settings, read
from team_console.console.clients.place import EMPTY_JSON
from team_console.console.clients.receipts import Receipt, receipts
from team_console.console.clients.running import claude_home
from team_console.console.clients.settings_part import SERVER, events_of, members_in
from team_console.store.contract.team import Team
from team_console.store.model.errors import Problem, TeamError

_PLUGINS = "CLAUDE_CODE_PLUGIN_DIRS"


def gate_problems(team: Team) -> list[Problem]:
    """Return findings on the joins of a team on this machine."""
    mine = [known for known in receipts() if known.team == location_of(team)]
    found = _mods() if mine else []
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
        if path.suffix != ".json" or path.name == "plugin.json":
            return SERVER not in text
        settings = read(text or EMPTY_JSON)
        has_less = Counter(known.events) - Counter(events_of(settings, known.member))
        return bool(has_less) or known.member not in members_in(settings)
    except (TeamError, NotEditable):
        return True


def _mods() -> list[Problem]:
    """Plugins of Claude Code that have modules: such a one can let pass what hooks, rules and the human refused."""
    folder = claude_home()
    environment: Settings = {}
    with suppress(TeamError, NotEditable):
        environment = read(read_file(folder / "settings.json", folder) or EMPTY_JSON).get("env", {})
    more = f"{environment.get(_PLUGINS, '')}{os.pathsep}{os.environ.get(_PLUGINS, '')}".split(os.pathsep)
    paths: list[Path] = []
    for root in (folder / "plugins", folder / "skills", *map(Path, filter(None, more))):
        with suppress(OSError):
            paths += sorted(root.glob("**/hooks/hooks.json"))
    text = "this plugin has modules, which can let every call pass, whatever hooks, rules and you decide"
    hint = "Remove it, or trust it: no console can hold what it lets through."
    found = []
    for path in paths:
        with suppress(OSError, ValueError, AttributeError):
            if json.loads(path.read_bytes()).get("modules"):
                found.append(Problem("PLUGIN_MODULES", "warning", str(path.parent.parent), text, hint))
    return found
