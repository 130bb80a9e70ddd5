"""Handlers of keys: one function for each action of the registry, taking the workspace and its subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from team_console.console.app.workspace import Workspace
from team_console.console.handlers import deciding, delivering, exporting, looking, moving, watching, writing
from team_console.console.input.subject import Subject

Handler = Callable[[Workspace, Subject], None]


def handlers() -> Mapping[str, Handler]:
    """Action id -> what it does; all of it is imported when the first key is pressed, not at the start."""
    table: dict[str, Handler] = {}
    for module in (deciding, writing, delivering, looking, exporting, moving, watching):
        table.update(module.HANDLERS)
    return table
