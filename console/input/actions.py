"""The registry of all actions: keys, footer, help, palette and the README table are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from team_console.console.input.action import Action, Group, written_key
from team_console.console.input.console_actions import CONSOLE_ACTIONS
from team_console.console.input.look_actions import LOOK_ACTIONS
from team_console.console.input.subject import Mode
from team_console.console.input.write_actions import WRITE_ACTIONS

ACTIONS: tuple[Action, ...] = (*WRITE_ACTIONS, *LOOK_ACTIONS, *CONSOLE_ACTIONS)
BY_ID = {action.id: action for action in ACTIONS}
PINNED = ("palette", "help")
"""Always at the right end of the footer."""


def actions_in(mode: Mode, *, read_only: bool) -> tuple[Action, ...]:
    """The actions that apply in `mode`; a read-only team has no writing ones."""
    return tuple(action for action in ACTIONS if action.is_here(mode) and not (read_only and action.writes))


def grouped(actions: Iterable[Action]) -> dict[Group, tuple[Action, ...]]:
    """The actions by group, in the order of the groups."""
    given = tuple(actions)
    groups = {group: tuple(action for action in given if action.group is group) for group in Group}
    return {group: members for group, members in groups.items() if members}


_own_keys: Mapping[str, tuple[str, ...]] = {}


def configure_keys(keys: Mapping[str, tuple[str, ...]]) -> None:
    """Take the keys of the user's settings, by action id."""
    global _own_keys
    _own_keys = keys


def shown_key(action: Action) -> str:
    """The key of an action as people write it: the user's own, else the usual one."""
    return written_key((_own_keys.get(action.id) or action.keys)[0])


def usual_keys() -> dict[str, tuple[str, ...]]:
    """Action id -> its keys, as long as the user has chosen no others."""
    return {action.id: action.keys for action in ACTIONS}
