"""How a wrong value is named in an error: as JSON, short, on one line, never so deep that naming it fails."""

from __future__ import annotations

import json

_LONGEST = 80


def named(value: object) -> str:
    """A text, number, true, false or null as JSON writes it, cut at 80 characters; of all else only the sort."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None or isinstance(value, (str, int, float)):
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"{value!s:.80}"
