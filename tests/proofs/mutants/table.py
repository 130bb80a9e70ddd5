"""The table of protections, `table.yaml`: how each is switched off, and which tests must fail then."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from tests.equipment.cases import tables
from tests.proofs.mutants import guards
from tests.proofs.mutants.guards import Guard


def _read(row: Mapping[str, Any]) -> Guard:
    """Make a protection of its row; what switches it off is a function of `guards`, with its argument behind it."""
    name, _, argument = row["by"].partition(" ")
    off = getattr(guards, name)
    return Guard(off(ast.literal_eval(argument)) if argument else off, tuple(f"tests/{test}" for test in row["tests"]))


GUARDS: Mapping[str, Guard] = {name: _read(row) for name, row in tables(__file__).items()}
