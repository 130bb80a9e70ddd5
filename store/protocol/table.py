"""The table of all kinds for the README, made from the registry."""

from __future__ import annotations

from store.protocol.kinds import Kind
from store.protocol.registry import KINDS

_HEAD = ("Kind", "Family", "Direction", "Opens or answers", "Door")


def kinds_table() -> str:
    """A Markdown table, one row per kind in the order of the sources, ending with a newline."""
    rows = [_HEAD, tuple("---" for _ in _HEAD), *(_row(kind) for kind in KINDS.values())]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(kind: Kind) -> tuple[str, ...]:
    role = f"opens {kind.opens}" if kind.opens else f"answers {kind.answers}" if kind.answers else ""
    doors = ", ".join(f"`{door}`" for door in kind.door.split(", ")) if kind.door else "read only"
    return f"`{kind.name}`", str(kind.family), kind.direction.replace("->", "→"), role, doors
