"""Settings files of Codex. Facts are those of 0.169, seen with the program."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from team_console.console.clients.client_files import ClientFiles, Running
from team_console.console.clients.codex import NAME
from team_console.console.clients.event import EventName
from team_console.console.clients.json_editing import NotEditable
from team_console.console.clients.marked_block import put_together, with_block
from team_console.console.clients.place import Joining, Place, json_place
from team_console.console.clients.receipts import Notes
from team_console.console.clients.running import codex_home
from team_console.console.clients.settings_part import SERVER, HookLines, server_member
from team_console.store.model.errors import Code, TeamError

_LINES = HookLines(
    (
        EventName.SESSION_START,
        EventName.SESSION_END,
        EventName.PROMPT,
        EventName.BEFORE_TOOL,
        EventName.AFTER_TOOL,
        EventName.PERMISSION,
        EventName.STOP,
        EventName.INTERRUPT,
    ),
    client=NAME,
)
NOTES = (
    "A session of Codex reads its hooks when it starts: one that runs joins by 'codex resume'.",
    "Codex asks at the first prompt whether it may run these hooks: 'Trust all and continue'.",
)
_RECENT = 3_600.0
"""Seconds after its last row from which on a session does not count as one that runs."""


class CodexFiles(ClientFiles):
    """The files of Codex."""

    name = "codex"
    scopes = ("project", "user")
    asks = True

    def places(self, scope: str, joining: Joining) -> list[Place]:
        """Return the file of its hooks, and that of its servers."""
        folder, inner = (codex_home(), "") if scope == "user" else (joining.project, ".codex/")
        return [_hooks(folder, f"{inner}hooks.json", joining), _servers_place(folder, f"{inner}config.toml", joining)]

    def every_session(self, joining: Joining) -> list[Place]:
        """Return the user's hooks."""
        return [_hooks(codex_home(), "hooks.json", joining)]

    def words(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know."""
        return [
            *NOTES,
            "While a console is open you get its permissions and questions, and what you ask for (below). You do not",
            "get what its sandbox and its rules let pass. With no console open it does what it would do without us.",
        ]

    def running(self) -> Iterator[Running]:
        """Yield the sessions that wrote something lately."""
        for path in codex_home().glob("sessions/*/*/*/rollout-*.jsonl"):
            with suppress(OSError, ValueError, KeyError, TypeError):
                age = time.time() - path.stat().st_mtime
                if age < _RECENT:
                    with path.open(encoding="utf-8") as file:
                        meta = json.loads(file.readline())["payload"]
                    yield Running(meta["id"], NAME, meta["cwd"], doing=f"wrote {int(age)} s ago")


def _hooks(folder: Path, name: str, joining: Joining) -> Place:
    return json_place(folder / name, folder, joining.name, {"hooks": _LINES.entries(joining.command)})


# Our server in a file of TOML, of which every other line stays as it is.

_HEADER = f"[mcp_servers.{SERVER}]"
_OURS = re.compile(
    rf"\n?(?:# team-console: [^\n]*\n)?{re.escape(_HEADER)}\n"
    r"(?:(?:command|args|env|default_tools_approval_mode) = [^\n]*(?:\n|\Z))+"
)
"""Our server, with the comment that earlier versions put before it; what others wrote behind it is theirs."""


def _servers_place(folder: Path, name: str, joining: Joining) -> Place:
    def edit(text: str, notes: Notes | None, joins: bool) -> tuple[str, Notes]:
        known = _servers(text).get(SERVER)
        acts_as = server_member(known)
        if joins and acts_as not in (None, joining.name):
            where = f"sessions with these settings act as {acts_as} already"
            raise TeamError(Code.NOT_PERMITTED, where, f"First: team-console leave {acts_as}")
        others = _without_server(text) if acts_as == joining.name else text
        if not joins or not joining.has_server:
            return others, []
        if SERVER in _servers(others):
            raise NotEditable(f"it has a server {SERVER} already, which a hand put there")
        after = with_block(others, _server(joining))
        # A table of servers within braces takes none at the end.
        _parsed(after, "it has its servers in a form to which none can be added at the end")
        return after if _parsed(text, "it is not TOML") != _parsed(after, "") else text, []

    return Place(folder / name, folder, edit, is_optional=True)


def _without_server(text: str) -> str:
    """Return the text without our server; what it says else stays the same, and where it is.

    Raises:
        NotEditable: Somebody changed the server.
    """
    name = server_member(_servers(text).get(SERVER))
    for found in _OURS.finditer(text):  # a text of somebody else may quote one
        behind = text[found.end() :].replace(f"# /team-console: {name}\n", "", 1)
        after = put_together(text[: found.start()], behind)
        if SERVER not in _servers(after):
            return after
    raise NotEditable("what a join wrote was changed there; take it out by hand")


def _servers(text: str) -> dict[str, Any]:
    servers = _parsed(text, "it is not TOML").get("mcp_servers")
    return servers if isinstance(servers, dict) else {}


def _server(joining: Joining) -> str:
    """Strings of JSON are strings of TOML."""
    server = joining.server
    environment = ", ".join(f"{key} = {json.dumps(value)}" for key, value in server["env"].items())
    lines = [
        _HEADER,
        f"command = {json.dumps(server['command'])}",
        f"args = {json.dumps(server['args'])}",
        f"env = {{ {environment} }}",
        'default_tools_approval_mode = "approve"',
    ]
    return "\n".join(lines)


def _parsed(text: str, trouble: str) -> dict[str, Any]:
    """Return the values of a TOML text.

    Raises:
        NotEditable: It is none; with `trouble` and what the parser says.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"{trouble}: {error}") from error
