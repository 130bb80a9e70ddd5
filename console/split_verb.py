"""Tells the verb of a command line from the options around it; a hook's start imports it, so it imports nothing."""

from __future__ import annotations

from collections.abc import Sequence

_TAKES_VALUE = ("-t", "--team", "--as")
"""Options before the verb whose value is the next word."""


def split_verb(argv: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the verb (None when there is none) and the arguments without it."""
    position = 0
    while position < len(argv) and argv[position] != "--":
        word = argv[position]
        if word in _TAKES_VALUE:
            position += 2
        elif word.startswith("-") and word != "-":
            position += 1
        else:
            return word, [*argv[:position], *argv[position + 1 :]]
    return None, list(argv)
