"""Suggestions of clients in words: their own rules as they write them, and whatever is not understood in full."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.protocol.suggestions import suggestion_words


@pytest.mark.parametrize(
    ("suggestion", "words"),
    [
        (
            {
                "type": "addRules",
                "rules": [{"toolName": "Bash", "ruleContent": "npm *"}, {"toolName": "Read"}],
                "behavior": "allow",
                "destination": "localSettings",
            },
            "allow Bash(npm *), Read in this project, for you alone",
        ),
        ({"type": "setMode", "mode": "acceptEdits", "destination": "session"}, "mode acceptEdits for this session"),
        (
            {"type": "addDirectories", "directories": ["/a", "/b"], "destination": "session"},
            "work in /a, /b for this session",
        ),
        ({"type": "setMode", "mode": "plan", "destination": "moon"}, "mode plan in moon"),
        ({"type": "setMode", "mode": "plan", "x": 1}, '{"type": "setMode", "mode": "plan", "x": 1}'),
        (
            {"type": "setMode", "mode": "plan", "destination": 1},
            '{"type": "setMode", "mode": "plan", "destination": 1}',
        ),
        (
            {"type": "addDirectories", "directories": ["/a", 1]},
            '{"type": "addDirectories", "directories": ["/a", 1]}',
        ),
        (
            {
                "type": "addRules",
                "behavior": "allow",
                "rules": [{"toolName": "Bash", "ruleContent": 1}, {"toolName": ""}],
            },
            'allow {"toolName": "Bash", "ruleContent": 1}, {"toolName": ""}',
        ),
        (
            {"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Bash", "except": "rm"}]},
            'allow {"toolName": "Bash", "except": "rm"}',
        ),
        ("(cut)", "(cut)"),
        ({"type": "somethingNew", "x": 1}, '{"type": "somethingNew", "x": 1}'),
        ({"type": "addRules", "rules": "all"}, '{"type": "addRules", "rules": "all"}'),
        ([1], "[1]"),
        (None, "null"),
    ],
)
def test_a_suggestion_is_told_in_the_words_of_its_client(suggestion: Any, words: str) -> None:
    assert suggestion_words(suggestion) == words
