"""JSON objects that name each key once: of one that does not, one reader takes the first value and another the last.

Imports next to nothing: every hook of a client starts with it.
"""

from __future__ import annotations

from collections import Counter

_LONGEST = 80
"""Characters of a key that is named in an error."""


class RepeatedKeyError(ValueError):
    """An object names a key twice; the text says which."""


def refuse_constant(word: str) -> object:
    """Refuse NaN and what has no end; give it to the parser as `parse_constant`.

    Raises:
        ValueError: Always.
    """
    raise ValueError(f"{word} is not JSON")


def refuse_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; give it to the parser as `object_pairs_hook`.

    Raises:
        RepeatedKeyError: It names a key twice.
    """
    found = dict(pairs)
    # guard: json-keys-once
    if len(found) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise RepeatedKeyError(f"{twice:.{_LONGEST}} stands twice")
    return found
