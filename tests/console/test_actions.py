"""One registry: every action has its handler, its key and its reason, and no key means two things in one place."""

from __future__ import annotations

import pytest
from team_console.console.actions import ACTIONS, BY_ID, FIXED_KEYS, actions_in
from team_console.console.selection import Mode
from team_console.console.tui.app import ConsoleApp
from team_console.console.tui.commands import HANDLERS
from team_console.console.tui.main import MainScreen
from team_console.widgets.row_list import RowList
from textual.binding import Binding


def test_every_action_has_a_handler_and_every_handler_an_action() -> None:
    assert set(HANDLERS) == set(BY_ID)
    assert len(BY_ID) == len(ACTIONS)


@pytest.mark.parametrize("mode", list(Mode))
def test_no_key_means_two_things_in_one_place(mode: Mode) -> None:
    keys = [key for action in actions_in(mode, read_only=False) for key in action.keys]
    assert len(keys) == len(set(keys))


def test_bindings_are_the_registry() -> None:
    bound = {binding.id for binding in MainScreen.BINDINGS}  # type: ignore[union-attr]
    assert bound == {action.id for action in ACTIONS if action.keys} - {"open", "mark"}


def test_keys_that_nobody_may_give_away_are_those_that_lists_and_the_console_take_first() -> None:
    bound = [binding for binding in (*RowList.BINDINGS, *ConsoleApp.BINDINGS) if isinstance(binding, Binding)]
    taken = {key for binding in bound if not binding.id for key in binding.key.split(",")}
    assert set(FIXED_KEYS) == taken


@pytest.mark.parametrize("mode", list(Mode))
def test_a_read_only_console_has_no_writing_keys(mode: Mode) -> None:
    assert not [action for action in actions_in(mode, read_only=True) if action.writes]
    assert {"help", "quit", "filter"} <= {action.id for action in actions_in(mode, read_only=True)}


def test_what_decides_waits_for_a_quiet_row() -> None:
    deciding = {action.id for action in ACTIONS if action.deciding}
    assert {"approve", "reject", "done", "shutdown", "discard", "redirect", "recall", "retry"} <= deciding
