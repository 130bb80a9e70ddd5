"""Settings as the text of a `messenger-config.yaml` that reads back as the same settings."""

from __future__ import annotations

from typing import Any

from store.config import OVERDUE_SECONDS, Agent, Route, TeamConfig

_RETENTION = ("active_messages_max", "archive_after_days", "delete_archived_after_days")
_LIMITS = ("content_max_bytes", "attachment_bytes", "content_soft_bytes")


def settings_text(config: TeamConfig) -> str:
    """YAML with every value that is not the default. The team key is left out: only its file may hold it."""
    import yaml

    return yaml.safe_dump(_settings(config), sort_keys=False, allow_unicode=True, width=120)


def _settings(config: TeamConfig) -> dict[str, Any]:
    default = TeamConfig()
    overdue = {key: value for key, value in config.overdue_seconds.items() if value != OVERDUE_SECONDS.get(key)}
    found: dict[str, Any] = {
        "team": config.name,
        "lead": config.lead,
        "language": config.language,
        "agents": [_agent(one) for one in config.agents.values()] if config.declared else None,
        "retention": {key: getattr(config, key) for key in _RETENTION if getattr(config, key) != getattr(default, key)},
        "limits": {key: getattr(config, key) for key in _LIMITS if getattr(config, key) != getattr(default, key)},
        "overdue_seconds": overdue,
        "priorities": dict(config.priorities),
        "routes": {one.key: _route(one) for one in config.routes},
        "spawn": list(config.spawn),
    }
    return {key: value for key, value in found.items() if value}


def _agent(agent: Agent) -> dict[str, Any]:
    found: dict[str, Any] = {"name": agent.name, "role": agent.role}
    if agent.plan_mode_required:
        found["plan_mode_required"] = True
    if agent.deliver:
        found["deliver"] = list(agent.deliver)
    if agent.deliver_timeout != Agent("x").deliver_timeout:
        found["deliver_timeout"] = agent.deliver_timeout
    for key in ("may_message", "may_send"):
        names = getattr(agent, key)
        if names is not None:
            found[key] = sorted(names)
    return found


def _route(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = {"trigger": route.trigger, "from": route.sender, "to": route.recipient}
    if route.payload:
        found["payload"] = list(route.payload)
    return {key: value for key, value in found.items() if value}
