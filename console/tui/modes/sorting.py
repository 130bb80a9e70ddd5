"""Rows sorted by what the user wants; the order of the view stays where rows are equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from team_console.console.preferences import Sort, properties_of
from team_console.store.model.message import Message
from team_console.store.views.rows import DeliveryRow, RequestRow

RowT = TypeVar("RowT")
_NEVER = datetime.max.replace(tzinfo=UTC)


def sorted_rows(rows: tuple[RowT, ...], name: str) -> tuple[RowT, ...]:
    """Return the rows by `name`, oldest first; as they are for an empty name."""
    key = _SORT_KEYS.get(name)
    return tuple(sorted(rows, key=key)) if key is not None else rows


def _message_of(row: Any) -> Message:
    if isinstance(row, RequestRow):
        return row.question
    return row.message if isinstance(row, DeliveryRow) else row


def _state_of(row: Any) -> str:
    return str(row.state) if isinstance(row, RequestRow | DeliveryRow) else _message_of(row).status


_SORT_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "age": lambda row: _message_of(row).created_at or _NEVER,
    "agent": lambda row: (row.recipient if isinstance(row, DeliveryRow) else _message_of(row).sender).casefold(),
    "kind": lambda row: str(row.kind) if isinstance(row, RequestRow) else _message_of(row).type,
    "state": _state_of,
}


def next_sort(mode: str, present: str) -> str | None:
    """Return the column after `present`: at the end none, which is ""; None where there is no choice."""
    shape = properties_of(Sort).get(mode)
    if shape is None:
        return None
    names = shape["enum"]
    return names[(names.index(present) + 1) % len(names)] if present in names else ""
