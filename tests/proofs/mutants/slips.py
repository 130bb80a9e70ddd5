"""`python -m tests.proofs.mutants.slips PLACE --tests PATH`: small slips in unmarked lines, and which tests notice.

A slip is what a tired hand does: a comparison turned round, `and` for `or`, a sign, a condition, a number beside. They
are chosen at random with a printed seed. The last lines name few tests that together notice all that is noticed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.equipment.command_line import ROOT
from tests.proofs.mutants.__main__ import copy_source
from tests.proofs.mutants.guards import marked_lines

_TURNED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}
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
    lines = source.splitlines()
    for number in range(len(_places(ast.parse(source), marked))):
        tree = ast.parse(source)
        place = _places(tree, marked)[number]
        _slip(place)
        line = place.lineno  # type: ignore[attr-defined]
        name = str(path.relative_to(ROOT))
        yield Slip(name, line, ast.unparse(ast.fix_missing_locations(tree)), lines[line - 1].strip())


def _places(tree: ast.Module, marked: set[int]) -> list[ast.AST]:
    guarded = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno in marked
        for part in ast.walk(node)
    }
    return [node for node in ast.walk(tree) if id(node) not in guarded and _has_room(node)]


def _has_room(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1
    if isinstance(node, ast.BinOp):
        return type(node.op) in _TURNED
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, bool)
    return isinstance(node, ast.BoolOp | ast.IfExp | ast.If)


def _slip(node: ast.AST) -> None:
    if isinstance(node, ast.Compare):
        node.ops = [_TURNED[type(node.ops[0])]()]  # type: ignore[list-item]
    elif isinstance(node, ast.BoolOp | ast.BinOp):
        node.op = _TURNED[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.IfExp | ast.If):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1  # type: ignore[operator]


def notice(slip: Slip, folder: Path, tests: Sequence[str]) -> list[str]:
    """Return the tests that fail with this slip in the copy of the sources in `folder`."""
    path = folder / slip.path
    healthy = path.read_text(encoding="utf-8")
    path.write_text(slip.text, encoding="utf-8")
    try:
        return failing(folder, tests)
    finally:
        path.write_text(healthy, encoding="utf-8")


def failing(folder: Path, tests: Sequence[str]) -> list[str]:
    """Return the tests that fail in the copy in `folder`; one without a name where they do not come to an end."""
    python_path = f"{folder / 'src'}{os.pathsep}{folder}"
    environment = {**os.environ, "PYTHONPATH": python_path, "PYTHONDONTWRITEBYTECODE": "1"}
    options = ("-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-n0")
    command = [sys.executable, "-m", "pytest", *options, *tests]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return [""]
    found = sorted({name.partition("[")[0] for name in _FAILED.findall(done.stdout)})
    return found or ([""] if done.returncode else [])


def needed(noticed: Mapping[str, Sequence[str]]) -> list[str]:
    """Return few tests that together notice all that is noticed: the one that notices most, then again of the rest."""
    open_slips = {slip: {test for test in tests if test} for slip, tests in noticed.items()}
    open_slips = {slip: tests for slip, tests in open_slips.items() if tests}
    chosen: list[str] = []
    while open_slips:
        counts: dict[str, int] = {}
        for tests in open_slips.values():
            for test in tests:
                counts[test] = counts.get(test, 0) + 1
        best = max(sorted(counts), key=lambda test: counts[test])
        chosen.append(best)
        open_slips = {slip: tests for slip, tests in open_slips.items() if best not in tests}
    return chosen


def main() -> int:
    """Print one line of JSON for each slip, then the tests that are needed."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.mutants.slips", description=__doc__)
    parser.add_argument("places", nargs="+", metavar="PLACE", help="a module or a folder of modules")
    parser.add_argument("--tests", nargs="+", required=True, metavar="PATH", help="what pytest runs for each slip")
    parser.add_argument("--count", type=int, default=200, help="how many slips (default: 200)")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000), help="which ones")
    given = parser.parse_args()
    found = [ROOT / place for place in given.places]
    paths = sorted(path for place in found for path in (place.rglob("*.py") if place.is_dir() else [place]))
    every = [slip for path in paths for slip in slips_in(path)]
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    print(f"seed {given.seed}: {len(chosen)} of {len(every)} slips", flush=True)
    noticed: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_source(folder)
        if broken := failing(folder, given.tests):
            print(f"without any slip these fail: {', '.join(broken)}", file=sys.stderr)
            return 1
        for number, slip in enumerate(chosen):
            tests = notice(slip, folder, given.tests)
            noticed[str(number)] = tests
            row = {"place": f"{slip.path}:{slip.line}", "was": slip.what, "noticed by": tests}
            print(json.dumps(row, ensure_ascii=False), flush=True)
    count = sum(1 for tests in noticed.values() if tests)
    print(f"{count} of {len(chosen)} are noticed; needed for that:", *needed(noticed), sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
