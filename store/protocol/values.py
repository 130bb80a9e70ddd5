"""How a wrong value is named in an error: short, on one line, and never so deep that naming it fails."""

from __future__ import annotations


def named(value: object) -> str:
    """A text or number as Python writes it, cut at 80 characters; the sort of anything that could be deep."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"{value!r:.80}"
