"""Marked blocks: lines of ours in a text file of somebody else, found again by the lines around them."""

from __future__ import annotations

from msgspec import Struct


class Marks(Struct, frozen=True):
    """The two lines around a block; what stands between them is ours."""

    opening: str
    closing: str


def comment_marks(name: str, *, html: bool) -> Marks:
    """The marks of the member `name`, as comments of Markdown (`html`) or of TOML."""
    texts = f"team-console: {name} (this block is written by 'team-console join')", f"/team-console: {name}"
    return Marks(*(f"<!-- {text} -->" if html else f"# {text}" for text in texts))


def with_block(text: str, marks: Marks, body: str) -> str:
    """The text with the block at its end, or in the place of the one that is there."""
    block = f"{marks.opening}\n{body.rstrip()}\n{marks.closing}\n"
    found = _span(text, marks)
    if found is not None:
        return text[: found[0]] + block + text[found[1] :]
    if not text:
        return block
    return f"{text}{'' if text.endswith(chr(10)) else chr(10)}\n{block}"


def without_block(text: str, marks: Marks) -> str:
    """The text without the block and the blank line before it."""
    found = _span(text, marks)
    if found is None:
        return text
    before = text[: found[0]]
    return (before[:-1] if before.endswith("\n\n") else before) + text[found[1] :]


def names_in(text: str, *, html: bool) -> list[str]:
    """The members whose blocks stand in the text."""
    sign = "<!-- team-console: " if html else "# team-console: "
    lines = [line.removeprefix(sign) for line in text.splitlines() if line.startswith(sign)]
    return [line.partition(" ")[0] for line in lines]


def _span(text: str, marks: Marks) -> tuple[int, int] | None:
    """Where the block is, with its line ends."""
    start = text.find(marks.opening)
    end = text.find(marks.closing, start) if start >= 0 else -1
    if end < 0 or (start > 0 and text[start - 1] != "\n"):
        return None
    end += len(marks.closing)
    return start, end + text.startswith("\n", end)
