"""Findings counted for people: `1 finding, an error`, `3 findings, 1 of them an error`."""

from __future__ import annotations

from team_console.store.model.safe import counted


def findings_of(number: int, errors: int) -> str:
    """How many findings, and how many of them are errors; nothing is said of errors where there are none."""
    text = counted(number, "finding")
    if not errors:
        return text
    if number == 1:
        return f"{text}, an error"
    return f"{text}, {errors} of them {'an error' if errors == 1 else 'errors'}"
