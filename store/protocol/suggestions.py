"""Say in one line each what a client offers with a permission to allow always."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from team_console.store.model.message import Fields
from team_console.store.protocol.foreign_fields import items_in, text_in, texts_in

_REACH = {
    "session": "for this session",
    "localSettings": "in this project, for you alone",
    "projectSettings": "in this project, for everybody",
    "userSettings": "in all your projects",
}


def suggestion_words(suggestion: Any) -> str:
    """Return one line for a suggestion of a client: its own rules as it writes them; what is not understood as JSON.

    Whole, however long it is: the widest rule may be the last.

    A rule of Claude Code reads `allow Bash(npm test *) for this session`.
    """
    if isinstance(suggestion, str):
        return suggestion
    if not isinstance(suggestion, Mapping):
        return _json(suggestion)
    what = _effect_words(suggestion)
    # guard: rules-told-whole
    if not what or suggestion.keys() - _TOLD_FIELDS[str(suggestion["type"])]:
        return _json(suggestion)
    destination = suggestion.get("destination", "")
    if not isinstance(destination, str):
        return _json(suggestion)
    reach = _REACH.get(destination, f"in {destination}") if destination else ""
    return f"{what} {reach}".strip()


_TOLD_FIELDS = {
    "setMode": {"type", "mode", "destination"},
    "addDirectories": {"type", "directories", "destination"},
    "addRules": {"type", "behavior", "rules", "destination"},
}
"""Fields of a suggestion that its words tell of; with any other it is told as it is."""


def _effect_words(suggestion: Fields) -> str:
    """Return what a suggestion changes, in words; empty for one that is not understood."""
    kind, behavior = suggestion.get("type"), suggestion.get("behavior")
    if kind == "setMode" and isinstance(suggestion.get("mode"), str):
        return f"mode {suggestion['mode']}"
    if kind == "addDirectories":
        given = suggestion.get("directories")
        folders = texts_in(suggestion, "directories")
        return f"work in {', '.join(folders)}" if folders and folders == tuple(given or ()) else ""
    if kind == "addRules" and behavior in ("allow", "deny", "ask"):
        rules = ", ".join(_rule_words(suggestion))
        return f"{behavior} {rules}" if rules else ""
    return ""


_RULE_FIELDS = {"toolName", "ruleContent"}


def _rule_words(suggestion: Fields) -> Iterator[str]:
    """Yield each rule of a suggestion as its client writes it, `Bash(npm test *)`; one of another form as JSON."""
    for item in items_in(suggestion, "rules"):
        if isinstance(item, Mapping) and text_in(item, "toolName") and not item.keys() - _RULE_FIELDS:
            content = item.get("ruleContent", "")
            named = f"{item['toolName']}({content})" if "ruleContent" in item else item["toolName"]
            yield named if isinstance(content, str) else _json(item)
        else:
            yield _json(item)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
