"""What of a request the terminal held: its lines, counted for the record of whoever decides on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.protocol.seen import Seen

_PARTS = 6
"""Stretches of lines that the record of a decision names."""


class PageLayout(NamedTuple):
    """What decides which lines a request has: the width, whether texts are plain, and all that is shown of it."""

    width: int = 0
    raw: bool = False
    seen: Seen | None = None


class Painted(Struct):
    """What of one request the terminal held, at one width: lines by their number in their part, from 0.

    Attributes:
        layout: What it was laid out with; at another width lines are others.
        first_frame: The frame in which any line of it was held first; None before that.
        text, evidence: Lines of what is asked, and of the evidence beside it, each with the frame that first had it.
        text_lines, evidence_lines: How many there are.
        lines: Fingerprints of the lines of what is asked, to know them again where others come between.
    """

    layout: PageLayout = PageLayout()
    first_frame: int | None = None
    text: dict[int, int] = field(default_factory=dict)
    evidence: dict[int, int] = field(default_factory=dict)
    text_lines: int = 0
    evidence_lines: int = 0
    lines: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all of what is asked was painted."""
        return self.first_frame is not None and len(self.text) >= self.text_lines

    @property
    def has_evidence(self) -> bool:
        """Whether all of the evidence was painted."""
        return len(self.evidence) >= self.evidence_lines

    @property
    def words(self) -> str:
        """The lines that were painted, as the record of a decision keeps it."""
        share = "all" if self.has_evidence else f"{len(self.evidence):,} of {self.evidence_lines:,} lines"
        evidence = f"; of its evidence {share}" if self.evidence_lines else ""
        lines = "line" if self.text_lines == 1 else "lines"
        return f"{lines} {_ranges(self.text) or 'none'} of {self.text_lines:,}{evidence}"

    def until(self, frame: int) -> Painted:
        """Return what was painted up to a frame."""
        # guard: painted-before-the-key
        return replace(
            self,
            first_frame=self.first_frame if self.first_frame is not None and self.first_frame <= frame else None,
            text={line: at for line, at in self.text.items() if at <= frame},
            evidence={line: at for line, at in self.evidence.items() if at <= frame},
        )

    def laid_out_as(self, lines: tuple[int, ...]) -> dict[int, int]:
        """Return the painted lines of what is asked as they are numbered among `lines`: before and behind a change."""
        if lines == self.lines:
            return self.text
        both = min(len(lines), len(self.lines))
        before = next((at for at in range(both) if lines[at] != self.lines[at]), both)
        rest = both - before
        behind = next((at for at in range(rest) if lines[-1 - at] != self.lines[-1 - at]), rest)
        moved = len(lines) - len(self.lines)
        start = len(self.lines) - behind
        kept = {line: at for line, at in self.text.items() if line < before}
        return kept | {line + moved: at for line, at in self.text.items() if line >= start}


def _ranges(numbers: Iterable[int]) -> str:
    """Return line numbers from 1, those in a row as one: `1-31, 40`; of many parts the first few."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    words = [f"{first + 1}-{last + 1}" if last > first else f"{first + 1}" for first, last in parts]
    return ", ".join(words[:_PARTS]) + (" and others" if len(words) > _PARTS else "")
