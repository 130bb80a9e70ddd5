"""Ask of a message the fields that the settings of its team require of its kind, and expect of its handoff."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Fields
from team_console.store.settings.team_config import TeamConfig

_ENVELOPE = frozenset(
    {"message_id", "type", "from", "from_agent", "sender", "to", "to_agent", "to_agents", "recipient", "priority"}
    | {"created", "timestamp", "status"}
)
"""Fields that every record we write has, so that settings may require them and nobody has to give them."""


def check_configured(config: TeamConfig, *, type: str, sender: str, to: Sequence[str], payload: Fields) -> list[str]:
    """Refuse a message without a field its kind requires in this team; returns what its handoff lacks as warnings.

    Raises:
        TeamError: `INVALID_FIELD`, naming the field and where it is required.
    """
    for name in missing_fields(config, type, payload):
        hint = f"message_types.{type} in the team settings requires it."
        raise TeamError(Code.INVALID_FIELD, f"payload.{name} is missing", hint)
    warnings = []
    for name in to if type == "handoff" else ():
        routes = [route for route in config.routes if (route.sender, route.recipient) == (sender, name)]
        lacks = [(_missing(route.payload, payload), route.key) for route in routes]
        # Of several routes between two members the one that it fits best.
        missing, key = min(lacks, key=lambda lack: len(lack[0]), default=((), ""))
        warnings += [f"the handoff {key} usually carries {', '.join(missing)}"] if missing else []
    return warnings


def missing_fields(config: TeamConfig, type: str, payload: Fields) -> list[str]:
    """Return the payload fields that the settings require of a kind, and that this payload lacks or has empty."""
    rule = config.kinds.get(type)
    return _missing([name for name in rule.required_fields if name not in _ENVELOPE], payload) if rule else []


def _missing(names: Iterable[str], payload: Fields) -> list[str]:
    return [name for name in names if payload.get(name) in (None, "", [], (), {})]
