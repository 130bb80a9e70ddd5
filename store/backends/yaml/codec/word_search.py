"""Searching a text for several words at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_ALIKE = 4
"""Bytes that words have in common which are looked for together."""


def holds_one(data: bytes, words: Collection[bytes]) -> bool:
    """Whether one of `words` is in `data`; of those that begin alike this is looked for first, to read `data` once."""
    alike: dict[bytes, list[bytes]] = {}
    for word in words:
        alike.setdefault(word[:_ALIKE], []).append(word)
    return any(_beginning(group) in data and any(word in data for word in group) for group in alike.values())


def _beginning(words: Sequence[bytes]) -> bytes:
    """What all of them begin with."""
    least, most = min(words), max(words)
    common = next((place for place, (item, other) in enumerate(zip(least, most, strict=False)) if item != other), None)
    return least[:common]
