"""Every table of states has an entry for every state: a state nobody thought of must not break the list it is in."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping
from importlib import import_module

import pytest
from team_console.console.cli.help_and_config import read_schemas
from team_console.store.model.message import Status
from team_console.store.protocol.kinds import RequestKind
from team_console.store.views.rows import AgentState, DeliveryState, Flag, Need, RequestState, StoryState

from tests.equipment.cases import constant
from tests.schemas import KEPT
from tests.test_architecture import OURS, modules, name_of

pytestmark = pytest.mark.slow

PARTIAL = constant(__file__, "PARTIAL", set[str])
"""Tables that are asked with a default, so that what they lack was thought of."""


def tables() -> Iterator[tuple[str, type[enum.Enum], Mapping[enum.Enum, object]]]:
    """Every table of a module that is keyed by the members of one enumeration, with its name."""
    for name in map(name_of, modules()):
        try:
            found = vars(import_module(OURS + name))
        except ImportError:  # a driver of a database that is not installed
            continue
        for variable, table in found.items():
            kinds = {type(key) for key in table} if isinstance(table, Mapping) else set()
            if len(kinds) == 1 and issubclass(kind := kinds.pop(), enum.Enum):
                yield f"{name}.{variable}", kind, table


def test_every_table_of_states_has_every_state() -> None:
    lacking = {name for name, kind, table in tables() if not set(kind) <= set(table)}
    assert lacking == PARTIAL
    assert len([*tables()]) > len(PARTIAL) + 25


@pytest.mark.parametrize("kind", [AgentState, DeliveryState, Need, RequestState, StoryState, Flag, RequestKind, Status])
def test_every_state_has_a_word_of_its_own(kind: type[enum.StrEnum]) -> None:
    assert len({str(member) for member in kind}) == len(kind.__members__)


@pytest.mark.parametrize("name", KEPT)
def test_the_schemas_that_verbs_print_are_those_of_the_types(name: str) -> None:
    assert read_schemas(name) == json.loads(json.dumps(KEPT[name]())), "run: python -m tests.schemas"
