"""Reads commands, contents and differences into lines for the screen: nothing is dropped, no break is hidden."""

from __future__ import annotations

from collections.abc import Iterator

from team_console.widgets.text.cells import Line, pieces

_EDGE, _GOES_ON = "│ ", "┊ "
"""What begins a line, and what begins the rest of one that is longer than the screen is wide."""
_SIGNS = {"+": "good", "-": "bad"}
_LINE_END = "\\"


def code(text: str, width: int) -> Iterator[Line]:
    """The lines of safe `text` at `width` cells, each with an edge, so that a line that goes on is no new line."""
    for line in text.split("\n"):
        for number, piece in enumerate(pieces(line, width - len(_EDGE))):
            yield (_GOES_ON if number else _EDGE, "faint"), (piece, "code")


def diff(text: str, width: int) -> Iterator[Line]:
    """The lines of a safe unified diff at `width` cells, with its signs."""
    for line in text.split("\n"):
        sign, rest = line[:1], line[1:]
        if sign == "@" or sign == _LINE_END:
            yield from (((piece, "muted"),) for piece in pieces(line, width))
            continue
        tone = _SIGNS.get(sign, "")
        for number, piece in enumerate(pieces(rest, width - 2)):
            head = ("┊ ", "faint") if number else (f"{sign or ' '} ", tone)
            yield head, (piece, tone)
