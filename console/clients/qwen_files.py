"""Settings files of Qwen Code. Facts are those of 0.15, seen with the program."""

from __future__ import annotations

from collections.abc import Sequence

from team_console.console.clients.client_files import ClientFiles
from team_console.console.clients.event import EventName
from team_console.console.clients.place import Joining, Place, json_place
from team_console.console.clients.qwen import NAME
from team_console.console.clients.running import qwen_home
from team_console.console.clients.settings_part import HookLines

_PATIENCE = 58
"""Seconds: after 60 it goes on without its hook, and what that says later counts for nothing."""
_LINES = HookLines(
    (
        EventName.SESSION_START,
        EventName.SESSION_END,
        EventName.PROMPT,
        EventName.AFTER_TOOL,
        EventName.AFTER_FAILED_TOOL,
        EventName.PERMISSION,
        EventName.STOP,
    ),
    client=NAME,
    per_second=1_000,
    patience=_PATIENCE,
    says_asking=True,
)
"""Without that before a tool: what a hook asks for there it refuses without a dialog."""


class QwenFiles(ClientFiles):
    """The files of Qwen Code."""

    name = "qwen"
    scopes = ("project", "user")

    def places(self, scope: str, joining: Joining) -> list[Place]:
        """Return its settings, which hold hooks and servers."""
        folder, inner = (qwen_home(), "") if scope == "user" else (joining.project, ".qwen/")
        ours = {"hooks": _LINES.entries(joining.command), **joining.servers(trust=True)}
        return [json_place(folder / f"{inner}settings.json", folder, joining.name, ours)]

    def words(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know."""
        where = "on this machine" if scope == "user" else "in this folder"
        return [
            f"Sessions of Qwen Code that start {where} from now on are {joining.name}.",
            "While a console is open you get its permissions, plans and questions, for some 40 seconds each; then",
            "its own dialog comes. You do not get what its rules and its mode let pass. Runs without a terminal (-p)",
            "ask nobody. Mail reaches it while it works and at the end of a turn; nothing wakes it then.",
        ]
