"""Fields of what others wrote, payloads and JSON: of the type that is expected, else as if they were not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def text_in(data: Mapping[str, Any], key: str) -> str:
    """A text; empty for anything else."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def texts_in(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The texts of a list; none for anything else."""
    value = data.get(key)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, (list, tuple)) else ()


def mapping(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object; empty for anything else."""
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def mappings(data: Mapping[str, Any], key: str) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list; none for anything else."""
    value = data.get(key)
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def flag(data: Mapping[str, Any], key: str) -> bool:
    """Whether it is true."""
    return data.get(key) is True
