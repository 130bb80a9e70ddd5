"""Plural words: `1 message`, `2 messages`, `no messages`; one way to say a number of things everywhere."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, name: str, many: str | None = None) -> str:
    """`1 delivery`, `2 deliveries`, `5,000 messages`.

    Args:
        name: The word for a single thing.
        many: The word for several; made from `name` when it is regular.
    """
    return f"{number:,} {name if number == 1 else many or plural(name)}"


def first_of(items: Sequence[str], most: int) -> str:
    """`a, b and 3 more`: at most so many of them by name."""
    left = len(items) - most
    return ", ".join(items[:most]) + (f" and {left} more" if left > 0 else "")


def plural(word: str) -> str:
    """The regular plural of an English noun."""
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
