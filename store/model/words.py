"""Plural words: `1 message`, `2 messages`, `no messages`; one way to say a number of things everywhere."""

from __future__ import annotations


def counted(number: int, name: str, many: str | None = None) -> str:
    """`1 delivery`, `2 deliveries`, `5,000 messages`.

    Args:
        name: The word for a single thing.
        many: The word for several; made from `name` when it is regular.
    """
    return f"{number:,} {name if number == 1 else many or plural(name)}"


def plural(word: str) -> str:
    """The regular plural of an English noun."""
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
