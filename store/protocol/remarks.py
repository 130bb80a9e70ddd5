"""Make and read remarks on lines of a request: what a verdict or a question back says to one line, quoted with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from team_console.store.protocol.foreign_fields import mappings_in, text_in
from team_console.store.protocol.phrases import phrase

REMARKS = "remarks"
"""Field of a message's payload that holds them."""
_LONGEST_QUOTE = 200


class Remark(Struct, frozen=True):
    """Words on one line.

    Attributes:
        line: Its number in the text of the request, from 1.
        quote: The line as it was shown, without white space around it, at most 200 characters.
        text: What is said to it.
    """

    line: int
    quote: str
    text: str


def remark_on(lines: Sequence[str], line: int, text: str) -> Remark:
    """Make a remark on one of these lines.

    Raises:
        ValueError: There is no such line, nothing stands in it, or nothing is said.
    """
    if not 1 <= line <= len(lines):
        raise ValueError(f"there is no line {line}; its text has {len(lines)}")
    if not (quote := quoted_line(lines[line - 1])):
        raise ValueError(f"nothing stands in line {line}")
    if not text.strip():
        raise ValueError(f"nothing is said to line {line}")
    return Remark(line, quote, text.strip())


def quoted_line(line: str) -> str:
    """Return a line as remarks quote it."""
    return line.strip()[:_LONGEST_QUOTE]


def remarks_in(payload: Mapping[str, Any]) -> tuple[Remark, ...]:
    """Return the remarks of a verdict or a question back; what cannot be read as one is left out."""
    return tuple(
        Remark(line, text_in(item, "quote"), text_in(item, "text"))
        for item in mappings_in(payload, REMARKS)
        if type(line := item.get("line")) is int
    )


def remark_words(remarks: Sequence[Remark], language: str) -> str:
    """Return the remarks in words that a model follows: each with its line and what stands there."""
    if not remarks:
        return ""
    lines = (phrase(language, "Line {} «{}»: {}", one.line, one.quote, one.text) for one in remarks)
    return "\n".join((phrase(language, "Remarks on lines of your text:"), *(f"- {line}" for line in lines)))


class PlacedRemark(Struct, frozen=True):
    """A remark held against a later text.

    Attributes:
        now: Where its line stands there; None when it is gone, or stands there several times in other places.
    """

    remark: Remark
    now: int | None

    @property
    def words(self) -> str:
        """Its present place in words; a line that moved or is gone says so."""
        if self.now is None:
            return f"line {self.remark.line} is gone"
        return f"line {self.now}" if self.now == self.remark.line else f"was line {self.remark.line}, now {self.now}"


def place_remarks(remarks: Sequence[Remark], lines: Sequence[str]) -> list[PlacedRemark]:
    """Hold remarks against the lines of a later version: by what is quoted, never by the number alone."""
    quotes = [quoted_line(line) for line in lines]
    found = []
    for remark in remarks:
        # guard: remark-never-moved-silently
        at = [number for number, quote in enumerate(quotes, start=1) if quote == remark.quote]
        if remark.line in at:
            here = remark.line
        elif len(at) == 1:
            here = at[0]
        else:
            here = None
        found.append(PlacedRemark(remark, here))
    return found
