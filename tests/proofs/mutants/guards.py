"""Statements that are protections: each bears a mark in the source, and each way to switch it off leaves that unquoted.

A mark is a comment `# guard: name` above the statement, or beside it.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.equipment.command_line import ROOT

Off = Callable[[ast.AST], ast.AST]
"""Makes of a statement the one that stands there without the protection; the tree it gets is its own."""
_MARK = re.compile(r"#[^#\n]*\bguard: ([a-z0-9-]+)$")


class Guard(NamedTuple):
    """How a marked statement is switched off, and node ids of tests that must fail then, each of them."""

    off: Off
    tests: tuple[str, ...]


def removed(statement: ast.AST) -> ast.AST:
    """Nothing in place of the statement."""
    return ast.Pass()


def never(statement: ast.AST) -> ast.AST:
    """A condition that does not hold: of the statement, or of the first `x if condition else y` in it."""
    return _decided(statement, False)


def always(statement: ast.AST) -> ast.AST:
    """A condition that holds."""
    return _decided(statement, True)


def giving(value: object) -> Off:
    """A statement that returns, yields or assigns this constant; a function that does nothing but return it."""

    def off(statement: ast.AST) -> ast.AST:
        if isinstance(statement, ast.FunctionDef):
            return _returning(statement, _constant(value))
        holder = statement.value if isinstance(statement, ast.Expr) else statement
        setattr(holder, "value", _constant(value))  # noqa: B010
        return statement

    return off


def unfiltered(statement: ast.AST) -> ast.AST:
    """The first comprehension without its conditions."""
    _first(statement, ast.comprehension).ifs = []
    return statement


def without(place: int) -> Off:
    """One operand less in the first operation (`and`, `or`, or two sides of an operator)."""

    def off(statement: ast.AST) -> ast.AST:
        found = _first(statement, ast.BoolOp, ast.BinOp)
        rest = found.values if isinstance(found, ast.BoolOp) else [found.left, found.right]
        del rest[place]
        return _put(statement, found, rest[0] if len(rest) == 1 else found)

    return off


def without_element(place: int) -> Off:
    """One element less in the first tuple, list, set or dictionary."""

    def off(statement: ast.AST) -> ast.AST:
        found = _first(statement, ast.Tuple, ast.List, ast.Set, ast.Dict)
        if isinstance(found, ast.Dict):
            del found.keys[place], found.values[place]
        else:
            del found.elts[place]
        return statement

    return off


def only_argument(place: int) -> Off:
    """One argument of the first call in place of what the call makes of it; a function that gives its argument back."""

    def off(statement: ast.AST) -> ast.AST:
        if isinstance(statement, ast.FunctionDef):
            return _returning(statement, ast.Name(statement.args.args[place].arg, ast.Load()))
        found = _first(statement, ast.Call)
        return _put(statement, found, found.args[place])

    return off


def marks() -> dict[str, list[tuple[str, int]]]:
    """Where each mark stands: files from the root of the sources, and lines of what is marked."""
    found: dict[str, list[tuple[str, int]]] = {}
    for folder in ("store", "console", "widgets", "tests/proofs/crash"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name, line in marked_lines(path.read_text(encoding="utf-8")):
                found.setdefault(name, []).append((str(path.relative_to(ROOT)), line))
    return found


def switched_off(text: str, name: str, off: Off) -> str:
    """The source of a module without this protection."""
    (line,) = [line for mark, line in marked_lines(text) if mark == name]
    tree = ast.parse(text)
    (marked,) = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno == line]
    return ast.unparse(ast.fix_missing_locations(_put(tree, marked, off(copy.deepcopy(marked)))))


def marked_lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield the name of each mark in a source, and the line of the statement that it is about."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if mark := _MARK.search(line):
            at = number
            while lines[at].lstrip().startswith("#"):
                at += 1
            yield mark[1], at + 1


def _decided(statement: ast.AST, holds: bool) -> ast.AST:
    found = statement if isinstance(statement, ast.If | ast.While) else _first(statement, ast.IfExp)
    setattr(found, "test", _constant(holds))  # noqa: B010
    return statement


def _returning(function: ast.FunctionDef, value: ast.expr) -> ast.AST:
    function.body = [ast.Return(value)]
    return function


def _constant(value: object) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body


def _first(statement: ast.AST, *kinds: type[ast.AST]) -> Any:
    return next(node for node in ast.walk(statement) if isinstance(node, kinds))


def _put(tree: ast.AST, old: ast.AST, new: ast.AST) -> ast.AST:
    class Exchange(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else self.generic_visit(node)

    return Exchange().visit(tree)
