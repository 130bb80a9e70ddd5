"""Tells keys and clicks that were on their way before the human could see what they would act on."""

from __future__ import annotations

from typing import Any

from team_console.console.input.actions import ACTIONS
from team_console.widgets.forms.seen_guard import Showing
from textual.app import App
from textual.events import Event, Key, MouseDown, MouseUp
from textual.widgets import Input, TextArea

_HANDING_IN = frozenset({"enter", "ctrl+s", "ctrl+enter"})
"""Keys that hand a form in, whatever has the focus."""
_STRIKING = frozenset(key for action in ACTIONS if action.writes for key in action.keys) | {"space"}
"""Keys that press a button, or begin to change the team, unless they are text."""


def came_too_early(app: App[Any], event: Event) -> bool:
    """Whether `event` would decide about something its author cannot have looked at; it must do nothing then.

    A form that opens is not handed in by a key pressed before it stood there, and what is typed while a form closes
    does nothing to the list that comes to light behind it.
    """
    if not isinstance(event, Key | MouseDown | MouseUp) or event.is_forwarded:
        return False
    showing = getattr(app.screen, "showing", None)
    if not isinstance(showing, Showing) or showing.was_seen_at(event.time):
        return False

    if not isinstance(event, Key) or event.key in _HANDING_IN:
        return True
    return event.key in _STRIKING and not isinstance(app.focused, Input | TextArea)
