"""What is wrong with a text, and on which line, so that a human can go there and repair it."""

from __future__ import annotations

from enum import Enum

REPAIR = "Open the file in an editor, repair that line and save; nothing is written to it before."


class Kind(Enum):
    """How far an error reaches."""

    SYNTAX = "syntax"
    """The text is not YAML."""
    OPEN = "open"
    """The text ends inside a quoted scalar or a bracket, so it may go on in the next entry."""
    MEANING = "meaning"
    """The text is YAML, but not a message."""
    ALIAS = "alias"
    """The entry uses an alias whose value must stand before it, in another entry."""
    SKIPPED = "skipped"
    """Nobody looked, because too much before it is damaged."""


class CodecError(Exception):
    """A text that cannot be understood, or a message that cannot be written.

    Attributes:
        line: 1-based line of the problem (the last one when several take part).
        column: 1-based column, None when the whole line is meant.
        lines: Every line that takes part.
        message: What is wrong, naming the lines.
        hint: The next step.
        kind: How far the error reaches.
    """

    def __init__(
        self,
        text: str,
        *lines: int,
        column: int | None = None,
        hint: str = REPAIR,
        kind: Kind = Kind.MEANING,
    ) -> None:
        self.lines = lines or (1,)
        self.line = self.lines[-1]
        self.column = column
        self.hint = hint
        self.kind = kind
        self._text = text
        self.message = text + _place(lines, column)
        super().__init__(self.message)

    def below(self, lines: int) -> CodecError:
        """The same error seen from a text in which `lines` more lines stand before."""
        moved = (line + lines for line in self.lines)
        return CodecError(self._text, *moved, column=self.column, hint=self.hint, kind=self.kind)


def _place(lines: tuple[int, ...], column: int | None) -> str:
    if not lines:
        return ""
    if len(lines) > 1:
        return " at lines " + " and ".join(map(str, lines))
    return f" at line {lines[0]}" + (f", column {column}" if column is not None else "")
