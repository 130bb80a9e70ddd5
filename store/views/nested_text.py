"""Writes nested values the way YAML looks, as safe text, bounded in depth and length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from team_console.store.model.safe import safe_line, safe_text

_DEPTH = 40
"""Levels below which nesting is cut; what we write ourselves is never that deep."""
_LINES = 2000


def structure(value: Any, *, limit: int | None = _LINES) -> str:
    """`value` in lines of safe text; what is too deep, or longer than `limit` lines, is said to be left out."""
    lines: list[str] = []
    for line in _lines(value, 0):
        if limit is not None and len(lines) >= limit:
            lines.append("… more is not shown here")
            break
        lines.append(line)
    return "\n".join(lines)


def _lines(value: Any, depth: int) -> Iterator[str]:
    pad = "  " * depth
    if depth > _DEPTH:
        yield f"{pad}… nested deeper"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _entry(f"{pad}{safe_line(key, 200)}:", item, depth)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _entry(f"{pad}-", each, depth)
    else:
        yield pad + _scalar(value)


def _entry(head: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, (Mapping, list, tuple)):
        if not value:
            yield f"{head} {'{}' if isinstance(value, Mapping) else '[]'}"
        elif head.endswith("-") and isinstance(value, Mapping):
            inner = list(_lines(value, depth + 1))
            yield f"{head} {inner[0].lstrip()}"
            yield from inner[1:]
        else:
            yield head
            yield from _lines(value, depth + 1)
    elif isinstance(value, str) and "\n" in value:
        yield f"{head} |"
        pad = "  " * (depth + 1)
        yield from (pad + line for line in safe_text(value).rstrip("\n").split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return safe_line(value) if value != "" else "''"
