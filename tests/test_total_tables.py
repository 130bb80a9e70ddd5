"""Every table of states has an entry for every state: a state nobody thought of must not break the list it is in."""

from __future__ import annotations

import ast
import enum
import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import pytest
from team_console.console.cli.schemas import SCHEMAS
from team_console.console.selection import Mode
from team_console.store.model.message import Status
from team_console.store.protocol.kinds import RequestKind
from team_console.store.service.deliveries import Remedy
from team_console.store.views.rows import AgentState, DeliveryState, Flag, Need, RequestState, StoryState
from team_console.widgets import signs

from tests.equipment.command_line import ROOT
from tests.schemas import schemas

pytestmark = pytest.mark.slow

PACKAGES = ("store", "widgets", "console")


def modules() -> list[tuple[Path, str]]:
    """Every module of the product with its name."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return [(path, ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")) for path in paths]


def enum_named(text: str, module: object) -> type[enum.Enum] | None:
    """The enumeration a module calls `text`, None when it is none."""
    value = getattr(module, text, None)
    return value if isinstance(value, type) and issubclass(value, enum.Enum) else None


def members(table: ast.Dict, module: object) -> tuple[type[enum.Enum], set[str]] | None:
    """The enumeration whose members are the table's keys and those that have an entry; None for another table."""
    keys = [key for key in table.keys if isinstance(key, ast.Attribute) and isinstance(key.value, ast.Name)]
    if not keys or len(keys) != len(table.keys):
        return None
    names = {key.value.id for key in keys if isinstance(key.value, ast.Name)}
    kind = enum_named(names.pop(), module) if len(names) == 1 else None
    return (kind, {key.attr for key in keys}) if kind is not None else None


def is_asked_with_a_default(tree: ast.Module, table: ast.Dict) -> bool:
    """Whether the table is only ever asked by `get`, so that what it lacks was thought of."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    place = parents[table]
    if isinstance(place, ast.Attribute):
        return place.attr == "get"
    targets = place.targets if isinstance(place, ast.Assign) else [getattr(place, "target", None)]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names]
    loads = [node for node in uses if isinstance(node.ctx, ast.Load)]
    return bool(loads) and all(
        isinstance(parents[node], ast.Attribute) and parents[node].attr == "get"  # type: ignore[attr-defined]
        for node in loads
    )


def tables() -> Iterator[tuple[str, type[enum.Enum], set[str]]]:
    """Every table keyed by members of an enumeration that must be total, with its place."""
    for path, name in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        displays = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
        if not any(isinstance(key, ast.Attribute) for table in displays for key in table.keys):
            continue
        try:
            module = import_module(f"team_console.{name}")
        except ImportError:
            continue
        for table in displays:
            keyed = members(table, module)
            if keyed is not None and not is_asked_with_a_default(tree, table):
                yield f"{path.relative_to(ROOT)}:{table.lineno}", *keyed


def test_every_table_of_states_has_every_state() -> None:
    looked_at = list(tables())
    lacking = {place: sorted(set(kind.__members__) - entries) for place, kind, entries in looked_at}
    assert {place: names for place, names in lacking.items() if names} == {}
    kinds = {kind for _, kind, _ in looked_at}
    assert {AgentState, DeliveryState, Need, RequestState, StoryState, Remedy, Mode} <= kinds


SIGNS = {name: table for name, table in vars(signs).items() if name.isupper() and isinstance(table, Mapping)}


@pytest.mark.parametrize("name", SIGNS)
def test_every_state_has_a_sign(name: str) -> None:
    kinds = {type(key) for key in SIGNS[name] if isinstance(key, enum.Enum)}
    assert [member for kind in kinds for member in kind if member not in SIGNS[name]] == []


@pytest.mark.parametrize("kind", [AgentState, DeliveryState, Need, RequestState, StoryState, Flag, RequestKind, Status])
def test_every_state_has_a_word_of_its_own(kind: type[enum.StrEnum]) -> None:
    assert len({str(member) for member in kind}) == len(kind.__members__)


def test_the_schemas_that_help_prints_are_those_of_the_types() -> None:
    with open(SCHEMAS, encoding="utf-8") as file:
        assert json.load(file) == schemas(), "run: python -m tests.schemas"
