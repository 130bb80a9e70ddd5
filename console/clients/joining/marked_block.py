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
    """The text with the block at its end, or in the place of the one that is there.

    Behind a last line without a line end the block has none either: so that end is not made up when it is taken out.
    """
    block = f"{marks.opening}\n{body.rstrip()}\n{marks.closing}"
    found = _span(text, marks)
    if found is not None:
        line_end = "\n" if text.endswith("\n", *found) else ""
        return text[: found[0]] + block + line_end + text[found[1] :]
    if not text:
        return f"{block}\n"
    return f"{text}\n{block}\n" if text.endswith("\n") else f"{text}\n\n{block}"


def without_block(text: str, marks: Marks) -> str:
    """The text without the block and the blank line before it."""
    found = _span(text, marks)
    if found is None:
        return text
    before, after = text[: found[0]], text[found[1] :]
    if before.endswith("\n\n"):
        before = before[:-1] if text.endswith("\n", *found) or after else before[:-2]
    return before + after


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
