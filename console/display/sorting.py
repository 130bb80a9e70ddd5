"""Sorts rows by what the user wants; the order of the view stays where rows are equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from team_console.console.preferences.model import SORTS
from team_console.store.model.message import Message
from team_console.store.views.rows import DeliveryRow, RequestRow

RowT = TypeVar("RowT")

_NEVER = datetime.max.replace(tzinfo=UTC)


def sorts_of(mode: str) -> tuple[str, ...]:
    """What rows of a mode can be sorted by."""
    return SORTS.get(str(mode), ())


def sorted_rows(rows: tuple[RowT, ...], name: str) -> tuple[RowT, ...]:
    """The rows by `name`, oldest first; as they are for an empty name."""
    key = _KEYS.get(name)
    return tuple(sorted(rows, key=key)) if key is not None else rows


def _message(row: Any) -> Message:
    if isinstance(row, RequestRow):
        return row.question
    return row.message if isinstance(row, DeliveryRow) else row


def _agent(row: Any) -> str:
    return row.recipient if isinstance(row, DeliveryRow) else _message(row).sender


def _state(row: Any) -> str:
    return str(row.state) if isinstance(row, RequestRow | DeliveryRow) else _message(row).status


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "age": lambda row: _message(row).created_at or _NEVER,
    "agent": lambda row: _agent(row).casefold(),
    "kind": lambda row: str(row.kind) if isinstance(row, RequestRow) else _message(row).type,
    "state": _state,
}


def next_sort(mode: str, present: str) -> str | None:
    """What a list is sorted by after `present`: in the end by nothing, which is ""; None where there is no choice."""
    names = ("", *sorts_of(mode))
    if len(names) == 1:
        return None
    return names[(names.index(present) + 1) % len(names)] if present in names else ""
