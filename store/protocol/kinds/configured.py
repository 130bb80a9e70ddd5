"""What a team's own settings ask of a message: fields of its kind (`message_types`) and of its handoff (`routing`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.team_config import Route, TeamConfig

_ENVELOPE = frozenset(
    {"message_id", "type", "from", "from_agent", "sender", "to", "to_agent", "to_agents", "recipient", "priority"}
    | {"created", "timestamp", "status"}
)
"""Fields that every record we write has, so that settings may require them and nobody has to give them."""


def check_configured(
    config: TeamConfig, *, type: str, sender: str, to: Sequence[str], payload: Mapping[str, Any]
) -> list[str]:
    """Refuse a message without a field its kind requires in this team; returns what its handoff lacks as warnings.

    Raises:
        TeamError: `INVALID_FIELD`, naming the field and where it is required.
    """
    for name in missing_fields(config, type, payload):
        wanted = ", ".join(required_fields(config, type))
        hint = f"message_types.{type} in the team settings requires {wanted}."
        raise TeamError(Code.INVALID_FIELD, f"payload.{name} is missing", hint)
    return [warning for name in to if (warning := _handoff_warning(config, type, sender, name, payload))]


def required_fields(config: TeamConfig, type: str) -> tuple[str, ...]:
    """Payload fields the team's settings require of a kind."""
    rule = config.kinds.get(type)
    return tuple(name for name in rule.required_fields if name not in _ENVELOPE) if rule else ()


def missing_fields(config: TeamConfig, type: str, payload: Mapping[str, Any]) -> list[str]:
    """Those of them that a payload has not, or has empty."""
    return [name for name in required_fields(config, type) if _is_missing(payload.get(name))]


def _handoff_warning(
    config: TeamConfig, type: str, sender: str, recipient: str, payload: Mapping[str, Any]
) -> str | None:
    """What a handoff between two members lacks; with several routes between them, by the one it fits best."""
    routes = [route for route in config.routes if (route.sender, route.recipient) == (sender, recipient)]
    if type != "handoff" or not routes:
        return None
    route = min(routes, key=lambda candidate: len(_lacks(candidate, payload)))
    lacks = _lacks(route, payload)
    return f"the handoff {route.key} usually carries {', '.join(lacks)}" if lacks else None


def _lacks(route: Route, payload: Mapping[str, Any]) -> list[str]:
    return [name for name in route.payload if _is_missing(payload.get(name))]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, tuple, dict)) and not value)
