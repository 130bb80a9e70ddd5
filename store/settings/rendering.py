"""Settings as the text of a `messenger-config.yaml` that reads back as the same settings."""

from __future__ import annotations

from typing import Any

from team_console.store.model.clock import to_text
from team_console.store.settings.editing import fields_of
from team_console.store.settings.reference import LIMITS, RETENTION
from team_console.store.settings.team_config import OVERDUE_SECONDS, Agent, Human, Route, TeamConfig

_RETENTION = tuple(setting.key for setting in RETENTION)
_LIMITS = tuple(setting.key for setting in LIMITS)


def settings_text(config: TeamConfig) -> str:
    """YAML with every value that is not the default.

    Its key and the places of its files are left out: they are where this
    team is, not what it is.
    """
    import yaml

    return yaml.safe_dump(_settings(config), sort_keys=False, allow_unicode=True, width=120)


def _settings(config: TeamConfig) -> dict[str, Any]:
    default = TeamConfig()
    overdue = {key: value for key, value in config.overdue_seconds.items() if value != OVERDUE_SECONDS.get(key)}
    settings: dict[str, Any] = {
        "team": config.name,
        "version": config.version,
        "description": config.description,
        "lead": config.lead,
        "language": config.language,
        "wait_for_human": config.wait_for_human if config.wait_for_human != default.wait_for_human else None,
        "agents": [_agent(agent) for agent in config.agents.values()] if config.declared else None,
        "retention": {key: getattr(config, key) for key in _RETENTION if getattr(config, key) != getattr(default, key)},
        "limits": {key: getattr(config, key) for key in _LIMITS if getattr(config, key) != getattr(default, key)},
        "overdue_seconds": overdue,
        "message_types": _kinds(config),
        "priorities": _priorities(config),
        "routing": {route.key: _route(route) for route in config.routes},
        "humans": {human.name: _human(human) for human in config.humans.values()},
        "verdicts": config.verdicts if config.verdicts != default.verdicts or config.humans else None,
        "team_id": config.team_id,
        "signed_since": to_text(config.signed_since) if config.signed_since is not None else None,
        "spawn": list(config.spawn),
    }
    return {key: value for key, value in settings.items() if value}


def _agent(agent: Agent) -> dict[str, Any]:
    fields = fields_of(agent)
    return {"name": agent.name, **fields, **({"deliver": list(agent.deliver)} if agent.deliver else {})}


def _human(human: Human) -> dict[str, Any]:
    fields: dict[str, Any] = {"keys": list(human.keys), "sign_with": human.sign_with}
    return {key: value for key, value in fields.items() if value}


def _kinds(config: TeamConfig) -> dict[str, Any]:
    """The rules for kinds of message, each with the priority of its kind."""
    kinds: dict[str, dict[str, Any]] = {}
    for name, rule in config.kinds.items():
        fields = {"description": rule.description, "required_fields": list(rule.required_fields)}
        kinds[name] = {key: value for key, value in fields.items() if value}
        if name in config.priorities:
            kinds[name]["priority"] = config.priorities[name]
    return kinds


def _priorities(config: TeamConfig) -> dict[str, Any]:
    """The order of the priorities, and those of kinds that have no rule."""
    return {**config.ranks, **{kind: word for kind, word in config.priorities.items() if kind not in config.kinds}}


def _route(route: Route) -> dict[str, Any]:
    fields: dict[str, Any] = {"trigger": route.trigger, "from": route.sender, "to": route.recipient}
    if route.payload:
        fields["payload"] = list(route.payload)
    return {key: value for key, value in fields.items() if value}
