"""Commands: what keys do, one function for each action of the registry, taking the workspace and its subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from team_console.console.commands import deciding, looking, reading, understanding, writing
from team_console.console.decisions import Workspace
from team_console.console.selection import Subject

Handler = Callable[[Workspace, Subject], None]


def handlers() -> Mapping[str, Handler]:
    """Action id -> what it does; all of it is imported when the first key is pressed, not at the start."""
    return {
        **deciding.HANDLERS,
        **understanding.HANDLERS,
        **writing.HANDLERS,
        **writing.DELIVERING_HANDLERS,
        **looking.HANDLERS,
        **reading.HANDLERS,
        **looking.EXPORTING_HANDLERS,
        **looking.MOVING_HANDLERS,
        **looking.WATCHING_HANDLERS,
    }
