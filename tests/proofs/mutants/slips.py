"""`python -m tests.proofs.mutants.slips PLACE --tests PATH`: small slips in unmarked lines, and which tests notice.

A PLACE is a module or a folder of modules, a PATH what pytest runs for each slip.

A slip is what a tired hand does: a comparison turned round, `and` for `or`, a sign, a condition, a number beside. They
are chosen at random with a printed seed.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.equipment.command_line import ROOT
from tests.proofs.mutants.copied import copy_source, run_tests, with_text
from tests.proofs.mutants.guards import marked_lines

_PAIRS = "Lt LtE, Gt GtE, Eq NotEq, In NotIn, Is IsNot, And Or, Add Sub"
"""Each turned into the other."""
_TURNED: dict[str, str] = {}
for _one, _other in map(str.split, _PAIRS.split(", ")):
    _TURNED |= {_one: _other, _other: _one}
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", re.M)
_PATIENCE = 600.0
"""Seconds after which tests that a slip keeps from ending count as failed."""


class Slip(NamedTuple):
    """One changed place.

    Attributes:
        path: Of the module, from the root of the sources.
        line: Of the place, from 1.
        text: The module with the slip.
        what: The statement's line as it was.
    """

    path: str
    line: int
    text: str
    what: str


def slips_in(path: Path) -> Iterator[Slip]:
    """Yield every slip that one module has room for, apart from marked statements."""
    source = path.read_text(encoding="utf-8")
    marked = {line for _, line in marked_lines(source)}
    lines, name = source.splitlines(), str(path.relative_to(ROOT))
    for number in range(len(_places(ast.parse(source), marked))):
        tree = ast.parse(source)
        place = _places(tree, marked)[number]
        _slip(place)
        yield Slip(name, place.lineno, ast.unparse(ast.fix_missing_locations(tree)), lines[place.lineno - 1].strip())


def _places(tree: ast.Module, marked: set[int]) -> list[Any]:
    """Return the nodes of a module in which a slip may be made."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno in marked]
    guarded = {id(part) for statement in statements for part in ast.walk(statement)}
    return [node for node in ast.walk(tree) if id(node) not in guarded and _has_room(node)]


def _has_room(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1
    if isinstance(node, ast.BinOp):
        return type(node.op).__name__ in _TURNED
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, bool)
    return isinstance(node, ast.BoolOp | ast.IfExp | ast.If)


def _slip(node: Any) -> None:
    if isinstance(node, ast.Compare):
        node.ops = [_turned(node.ops[0])]
    elif isinstance(node, ast.BoolOp | ast.BinOp):
        node.op = _turned(node.op)
    elif isinstance(node, ast.Constant):
        node.value = node.value + 1 if type(node.value) is int else not node.value
    else:
        node.test = ast.UnaryOp(ast.Not(), node.test)


def _turned(operator: ast.AST) -> Any:
    return getattr(ast, _TURNED[type(operator).__name__])()


def notice(slip: Slip, folder: Path, tests: Sequence[str]) -> list[str]:
    """Return the tests that fail with this slip in the copy of the sources in `folder`."""
    with with_text(folder / slip.path, slip.text):
        return failing(folder, tests)


def failing(folder: Path, tests: Sequence[str]) -> list[str]:
    """Return the tests that fail in the copy in `folder`; one without a name where they do not come to an end."""
    try:
        done = run_tests(folder, tests, "--tb=no", "-rfE", "-n0", seconds=_PATIENCE)
    except subprocess.TimeoutExpired:
        return [""]
    found = sorted({name.partition("[")[0] for name in _FAILED.findall(done.stdout)})
    return found or ([""] if done.returncode else [])


def main() -> int:
    """Print one line of JSON for each slip, then how many are noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.mutants.slips", description=__doc__)
    parser.add_argument("places", nargs="+", metavar="PLACE")
    parser.add_argument("--tests", nargs="+", required=True, metavar="PATH")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    given = parser.parse_args()
    found = [ROOT / place for place in given.places]
    paths = sorted(path for place in found for path in (place.rglob("*.py") if place.is_dir() else [place]))
    every = [slip for path in paths for slip in slips_in(path)]
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    print(f"seed {given.seed}: {len(chosen)} of {len(every)} slips", flush=True)
    noticed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_source(folder)
        if broken := failing(folder, given.tests):
            print(f"without any slip these fail: {', '.join(broken)}", file=sys.stderr)
            return 1
        for slip in chosen:
            by = notice(slip, folder, given.tests)
            noticed += bool(by)
            row = {"place": f"{slip.path}:{slip.line}", "was": slip.what, "noticed by": by}
            print(json.dumps(row, ensure_ascii=False), flush=True)
    print(f"{noticed} of {len(chosen)} are noticed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
