"""Say how many things there are, in one way everywhere: `1 message`, `2 messages`, `a, b and 3 more`."""

from __future__ import annotations

from collections.abc import Sequence

# Plural words: `1 message`, `2 messages`, `no messages`; one way to say a number of things everywhere.


def counted(number: int, name: str) -> str:
    """Write a number of things, whose `name` is a regular noun: `1 delivery`, `2 deliveries`, `5,000 messages`."""
    return f"{number:,} {name if number == 1 else plural(name)}"


def first_of(items: Sequence[str], most: int) -> str:
    """Name at most so many of them: `a, b and 3 more`."""
    left = len(items) - most
    return ", ".join(items[:most]) + (f" and {left} more" if left > 0 else "")


def plural(word: str) -> str:
    """Return the regular plural of an English noun."""
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
