"""Marked blocks: lines of ours in a text file of somebody else, found again by the lines around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from msgspec import Struct

_BODY = "block "
"""Begins a note of the lines that a join wrote between its marks."""


class Marks(Struct, frozen=True):
    """The two lines around a block; of what stands between them, ours is what a join wrote there."""

    opening: str
    closing: str


class Found(Struct, frozen=True):
    """A text with a block of ours in it.

    Attributes:
        before, after: What stands there without our lines, up to the first of them and from there on.
        has_others: Whether lines of others stand between ours.
        ends: Whether a line end stands behind our last line.
    """

    before: str
    after: str
    has_others: bool
    ends: bool

    @property
    def without(self) -> str:
        """The text without the block, and without the blank line that was put before it."""
        before = self.before
        if not self.has_others and before.endswith("\n\n"):
            before = before[:-1] if self.after or self.ends else before[:-2]
        return before + self.after


def comment_marks(name: str, *, html: bool) -> Marks:
    """The marks of the member `name`, as comments of Markdown (`html`) or of TOML."""
    texts = f"team-console: {name} (this block is written by 'team-console join')", f"/team-console: {name}"
    return Marks(*(f"<!-- {text} -->" if html else f"# {text}" for text in texts))


def written_bodies(made: Sequence[str] | None) -> list[str]:
    """What joins wrote between their marks, as far as their receipt says."""
    return [note.removeprefix(_BODY) for note in made or () if note.startswith(_BODY)]


def note_of(body: str) -> str:
    """The note for a receipt that this was written between the marks."""
    return f"{_BODY}{body.rstrip()}"


def with_block(text: str, marks: Marks, body: str, found: Found | None) -> str:
    """The text with the block at its end, or in the place of the one that was `found`.

    Behind a last line without a line end the block has none either: so that end is not made up when it is taken out.
    """
    block = f"{marks.opening}\n{body.rstrip()}\n{marks.closing}"
    if found is not None:
        return f"{found.before}{block}{chr(10) if found.ends or found.after else ''}{found.after}"
    if not text:
        return f"{block}\n"
    return f"{text}\n{block}\n" if text.endswith("\n") else f"{text}\n\n{block}"


def blocks_in(text: str, marks: Marks, bodies: Sequence[str]) -> Iterator[Found]:
    """Find each block of ours, taking for ours only lines that a join wrote, whatever is left of its marks.

    Args:
        bodies: What joins may have written between the marks.
    """
    whole = text.split("\n")  # keeps every other line end with its line
    lines = [line.removesuffix("\r") for line in whole]
    for start, line in enumerate(lines):
        if line not in (marks.opening, marks.closing):
            continue
        ours = max((_ours(lines, start, marks, body.split("\n")) for body in bodies), key=len, default={start})
        first, last = min(ours), max(ours)
        others = [number for number in range(first, last) if number not in ours]
        before = "".join(f"{line}\n" for line in whole[:first])
        kept = "".join(f"{whole[number]}\n" for number in others)
        yield Found(before, kept + "\n".join(whole[last + 1 :]), bool(others), last + 1 < len(whole))


def _ours(lines: Sequence[str], start: int, marks: Marks, body: Sequence[str]) -> set[int]:
    """The numbers of our lines in the block that has one of its marks in the line `start`.

    Without the other mark, our lines go on as far as they follow each other just as they were written.
    """
    if lines[start] == marks.closing:
        above = zip(range(start - 1, -1, -1), reversed(body), strict=False)
        return {start, *(number for number, _ in takewhile(lambda pair: lines[pair[0]] == pair[1], above))}
    inside = list(takewhile(lambda line: line not in (marks.opening, marks.closing), lines[start + 1 :]))
    end = start + 1 + len(inside)
    if end == len(lines) or lines[end] == marks.opening:
        below = zip(range(start + 1, end), body, strict=False)
        return {start, *(number for number, _ in takewhile(lambda pair: lines[pair[0]] == pair[1], below))}
    equal = SequenceMatcher(None, body, inside, autojunk=False).get_matching_blocks()
    spans = [(at, at + size) for _, at, size in equal if any(line.strip() for line in inside[at : at + size])]
    return {start, end, *(start + 1 + number for first, last in spans for number in range(first, last))}


def names_in(text: str, *, html: bool) -> list[str]:
    """The members whose blocks stand in the text."""
    sign = "<!-- team-console: " if html else "# team-console: "
    lines = [line.removeprefix(sign) for line in text.splitlines() if line.startswith(sign)]
    return [line.partition(" ")[0] for line in lines]
