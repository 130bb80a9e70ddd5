"""The table of all kinds for the README, made from the registry."""

from __future__ import annotations

from team_console.store.protocol.kinds.kind import Kind
from team_console.store.protocol.kinds.registry import KINDS

_HEAD = ("Kind", "Family", "Direction", "Opens or answers", "Door")


def kinds_table() -> str:
    """A Markdown table, one row per kind in the order of the sources, ending with a newline."""
    rows = [_HEAD, tuple("---" for _ in _HEAD), *(_row(kind) for kind in KINDS.values())]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(kind: Kind) -> tuple[str, ...]:
    role = f"opens {kind.opens}" if kind.opens else f"answers {kind.answers}" if kind.answers else ""
    doors = (
        ", ".join(f"`{entry_point}`" for entry_point in kind.entry_point.split(", "))
        if kind.entry_point
        else "read only"
    )
    return f"`{kind.name}`", str(kind.family), kind.direction.replace("->", "→"), role, doors
