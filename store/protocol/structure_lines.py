"""Write a value of JSON in lines of safe text, as deep as it is nested."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from team_console.store.model.safe import safe_line, safe_text

_DEPTH = 40
"""Levels below which nesting has no lines of its own; what we write ourselves is never that deep."""


def structure(value: Any) -> str:
    """Return `value` in lines of safe text."""
    return "\n".join(value_lines(value, 0))


def value_lines(value: Any, depth: int) -> Iterator[str]:
    """Yield a value of JSON in lines of safe text, as deep as it stands."""
    pad = "  " * depth
    if depth > _DEPTH:  # the rest in one line: what is shown is all that there is
        try:
            yield pad + safe_line(json.dumps(value, ensure_ascii=False, default=str))
        except RecursionError:
            yield f"{pad}… nested deeper than can be shown"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _entry_lines(f"{pad}{safe_line(key, 200)}:", item, depth)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _entry_lines(f"{pad}-", each, depth)
    else:
        yield pad + _scalar(value)


def _entry_lines(head: str, value: Any, depth: int) -> Iterator[str]:
    """Yield a key or a dash with its value, on one line where it fits."""
    if isinstance(value, (Mapping, list, tuple)):
        if not value:
            yield f"{head} {'{}' if isinstance(value, Mapping) else '[]'}"
        elif head.endswith("-") and isinstance(value, Mapping):
            inner = list(value_lines(value, depth + 1))
            yield f"{head} {inner[0].lstrip()}"
            yield from inner[1:]
        else:
            yield head
            yield from value_lines(value, depth + 1)
    elif isinstance(value, str) and "\n" in value:
        yield f"{head} |"
        pad = "  " * (depth + 1)
        yield from (pad + line for line in safe_text(value).rstrip("\n").split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _scalar(value: Any) -> str:
    """Return a value that is neither list nor object, as safe text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return safe_line(value) if value != "" else "''"
