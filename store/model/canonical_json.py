"""The one JSON text of a value, of which a signature is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from team_console.store.model.message import Fields


def canonical_json(said: Fields) -> str:
    """Return the one JSON text of what is signed; texts keep their characters, keys become texts."""
    return json.dumps(_json_value(said), sort_keys=True, separators=(",", ":"))


def _json_value(value: Any) -> Any:
    """Return a value of what is signed in the types of JSON; what is of another type as its text."""
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)
