"""Nodes of plain settings, read without PyYAML: loading that takes longer than all the rest of a send.

Mappings and lists in block form, of words, quoted texts and lists in brackets on one line, with comments: what `init`
writes and nearly everybody keeps to. Whatever else is in the text, the whole of it is left to PyYAML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

_QUOTED = r"""'[^'\n]*+'|"[^"\\\n]*+\""""
# What is repeated gives back blanks before a comment; a repeated group begins with the colon that the repeat before it
# leaves out, so there is one way only to match a line.
_FIRST = r"(?:[A-Za-z0-9_./]|-(?=[A-Za-z0-9]))"
_REST = r"[A-Za-z0-9_./ @,+=()'!?;&%$-]*"
_WORD = rf"{_FIRST}{_REST}(?::(?=[A-Za-z0-9_/.-]){_REST})*(?<! )"
"""A plain scalar without a sign that could mean something: `sprint-42`, `https://a.example`, `Runs tests, daily.`"""
_ITEM = rf"{_QUOTED}|{_FIRST}[A-Za-z0-9_./ @+=()-]*(?<! )"
"""A scalar in brackets, where a comma ends it."""
_LINE = re.compile(
    r"(?P<spaces> *)(?P<dash>- (?=[^ ]))?"
    r"(?:(?P<key>[A-Za-z_][A-Za-z0-9_.-]{0,99}+):(?=[ \n]))?"
    rf"(?: *(?:(?P<scalar>{_QUOTED}|{_WORD})|(?P<list>\[(?:(?:{_ITEM})(?:, (?:{_ITEM}))*)?\])))?"
    r" *(?:(?<= )#[^\n]*)?\n"
)
_BLANK = re.compile(r" *(?:#[^\n]*)?\n")
_SIGNS = re.compile(r"[^\n -~]|\A---|\n(?:---|\.\.\.)").search
_DEEPEST = 8


class Mark(Struct, frozen=True):
    """Where a node begins: its line, from 0."""

    line: int


class Node(Struct, frozen=True):
    """One value with the attributes of a PyYAML node that the settings are read by.

    Attributes:
        id: `mapping`, `sequence` or `scalar`.
        value: Pairs of nodes, nodes, or the text.
        style: The quote of a quoted text, None otherwise.
    """

    id: str
    value: Any
    start_mark: Mark
    style: str | None = None
    tag: str = ""


class _Line(Struct, frozen=True):
    """A line that is not blank: the columns of its dash and its key or scalar, and what stands there."""

    number: int
    dash: int | None
    column: int
    key: str | None
    value: Node | None


def quick_nodes(text: str) -> Node | None:
    """The mapping in `text`; None where PyYAML has to read it."""
    lines = _lines(text if text.endswith("\n") else text + "\n")
    if not lines or _SIGNS(text) or lines[0].column or lines[0].dash is not None:
        return None
    node, end = _mapping(lines, 0, 0, 0)
    return node if end == len(lines) else None


def _lines(text: str) -> list[_Line]:
    """The lines that are not blank; none where one of them is of another form."""
    lines: list[_Line] = []
    place = number = 0
    while place < len(text):
        match = _BLANK.match(text, place)
        if match is None:
            match = _LINE.match(text, place)
            line = _line(match, number) if match is not None else None
            if match is None or line is None:
                return []
            lines.append(line)
        place, number = match.end(), number + 1
    return lines


def _line(match: re.Match[str], number: int) -> _Line | None:
    spaces, mark = len(match["spaces"]), Mark(number)
    value = _scalar(match["scalar"], mark) if match["scalar"] is not None else None
    if match["list"] is not None:
        value = Node("sequence", [_scalar(item, mark) for item in re.findall(_ITEM, match["list"][1:-1])], mark)
    key = match["key"]
    if key is None and (value is None or match["dash"] is None):
        return None
    dash = spaces if match["dash"] else None
    return _Line(number, dash, spaces if dash is None else spaces + 2, key, value)


def _scalar(written: str, mark: Mark) -> Node:
    if written[0] in "'\"":
        return Node("scalar", written[1:-1], mark, written[0])
    return Node("scalar", written, mark)


def _mapping(lines: Sequence[_Line], at: int, column: int, depth: int) -> tuple[Node, int]:
    """The mapping whose keys stand at `column`, the first of them in line `at`; and the line behind it."""
    pairs: list[tuple[Node, Node]] = []
    first = at
    while at < len(lines) and lines[at].column == column and lines[at].key is not None:
        line = lines[at]
        if line.dash is not None and at != first:
            break
        mark = Mark(line.number)
        value, at = (line.value, at + 1) if line.value is not None else _below(lines, at, column, depth)
        pairs.append((Node("scalar", line.key, mark), value))
    return Node("mapping", pairs, Mark(lines[first].number)), at


def _below(lines: Sequence[_Line], at: int, column: int, depth: int) -> tuple[Node, int]:
    """The value that stands below the key in line `at`, which is at `column`."""
    following = lines[at + 1] if at + 1 < len(lines) and depth < _DEEPEST else None
    if following is not None and following.dash is not None and following.dash >= column:
        return _sequence(lines, at + 1, following.dash, depth + 1)
    if following is not None and following.dash is None and following.column > column:
        return _mapping(lines, at + 1, following.column, depth + 1)
    return Node("scalar", "", Mark(lines[at].number)), at + 1


def _sequence(lines: Sequence[_Line], at: int, column: int, depth: int) -> tuple[Node, int]:
    """The list whose dashes stand at `column`."""
    items: list[Node] = []
    first = lines[at].number
    while at < len(lines) and lines[at].dash == column:
        value = lines[at].value
        if lines[at].key is None and value is not None:
            items.append(value)
            at += 1
        else:
            item, at = _mapping(lines, at, lines[at].column, depth + 1)
            items.append(item)
    return Node("sequence", items, Mark(first)), at
