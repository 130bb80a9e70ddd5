"""Suggestions of clients in words: what would be allowed from now on, and how far that reaches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from team_console.store.protocol.foreign_fields import texts_in

_REACH = {
    "session": "for this session",
    "localSettings": "in this project, for you alone",
    "projectSettings": "in this project, for everybody",
    "userSettings": "in all your projects",
}
_MODES = {
    "default": "it asks before each step",
    "acceptEdits": "it edits files without asking",
    "plan": "it plans and changes nothing",
    "auto": "it asks only what its own check does not allow",
    "dontAsk": "it does only what is allowed already",
    "bypassPermissions": "it asks nothing any more",
}


def mode_words(mode: str) -> str:
    """What a mode of a client means, as a few words; empty for one that is not known."""
    return _MODES.get(mode, "")


def suggestion_words(suggestion: Any) -> str:
    """One line for a suggestion of a client: its own rules as it writes them; what is not understood as JSON.

    Whole, however long it is: the widest rule may be the last.

    A rule of Claude Code reads `allow Bash(npm test *) for this session`.
    """
    if isinstance(suggestion, str):
        return suggestion
    if not isinstance(suggestion, Mapping):
        return _json(suggestion)
    what = _what(suggestion)
    if not what:
        return _json(suggestion)
    destination = suggestion.get("destination")
    reach = _REACH.get(destination, f"in {destination}") if isinstance(destination, str) and destination else ""
    return f"{what} {reach}".strip()


def _what(suggestion: Mapping[str, Any]) -> str:
    kind, behavior = suggestion.get("type"), suggestion.get("behavior")
    if kind == "setMode" and isinstance(suggestion.get("mode"), str):
        return f"mode {suggestion['mode']}"
    if kind == "addDirectories":
        folders = ", ".join(texts_in(suggestion, "directories"))
        return f"work in {folders}" if folders else ""
    if kind == "addRules" and behavior in ("allow", "deny", "ask"):
        rules = ", ".join(_rules(suggestion.get("rules")))
        return f"{behavior} {rules}" if rules else ""
    return ""


def _rules(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping) and isinstance(item.get("toolName"), str):
            content = item.get("ruleContent")
            yield f"{item['toolName']}({content})" if isinstance(content, str) else item["toolName"]
        else:
            yield _json(item)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
