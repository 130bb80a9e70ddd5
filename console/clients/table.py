"""Every client that can join, and which of them an event is from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from team_console.console.clients.claude import Claude
from team_console.console.clients.client import Client
from team_console.console.clients.codex import Codex
from team_console.console.clients.qwen import Qwen

CLIENTS: Mapping[str, Client] = {client.name: client for client in (Codex(), Qwen(), Claude())}
"""Name -> client. The last takes the events in which no other recognises its own."""


def client_of(data: Mapping[str, Any], name: str = "") -> Client:
    """Return the client that is named, else the one whose event it looks like."""
    return CLIENTS.get(name) or next(client for client in CLIENTS.values() if client.has_sent(data))
