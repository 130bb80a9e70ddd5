"""Fields of what others wrote, payloads and JSON: of the type that is expected, else as if they were not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from team_console.store.model.message import Fields


def as_key(value: object) -> str:
    """Return an id or key as text, empty when the value is none (missing, a list or a mapping)."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def text_in(data: Fields, key: str) -> str:
    """Return the text under a key; empty for anything else."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def key_in(data: Fields, key: str) -> str:
    """Return the id under a key as text (`as_key`)."""
    return as_key(data.get(key))


def texts_in(data: Fields, key: str) -> tuple[str, ...]:
    """Return the texts of the list under a key; none for anything else."""
    return tuple(item for item in items_in(data, key) if isinstance(item, str))


def items_in(data: Fields, key: str) -> tuple[Any, ...]:
    """Return the items of the list under a key; none for anything else."""
    value = data.get(key)
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def mapping_in(data: Fields, key: str) -> Fields:
    """Return the object under a key; empty for anything else."""
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def mappings_in(data: Fields, key: str) -> tuple[Fields, ...]:
    """Return the objects of the list under a key; none for anything else."""
    return tuple(item for item in items_in(data, key) if isinstance(item, dict))


def ids_listed(value: Any) -> list[str]:
    """Return the ids and texts of a list as texts; none for anything else."""
    return [text for item in value if (text := as_key(item))] if isinstance(value, list) else []
