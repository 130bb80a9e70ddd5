"""Invocation of the hook: how it was called, and with which event."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

_VALUES = ("-t", "--team", "--as", "--client", "--timeout", "--held")
_FLAGS = ("--wake", "--hold")


def options_of(words: Sequence[str]) -> dict[str, str]:
    """Return the options that are known; whatever else stands there, perhaps of a later version, is left alone."""
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _VALUES:
            found[name] = value if equals else next(rest, "")
        elif word in _FLAGS:
            found[word] = ""
    return found


class Invocation:
    """How the hook was called, and with which event.

    Attributes:
        actor: Whose session it is, empty when nobody said.
        location: The team as it was given, empty for the one of the current folder.
        timeout: Seconds after which the client waits no longer, as text.
        wake: Whether to wait for mail and wake the session.
        held_rules: Rules of calls for which another hook of this session waits for a human in any case.
        is_held: Whether the call waits for a human even where none is there, and is refused where none decides.
        waker: Holds the lock of the one process that waits beside the session; None where this is another.
        has_own_name: Whether the session joined with all others, under a name made for it.
        data: The event.
        event_name: What happened, in the client's word; empty where it is none.
        session: The client's own id of its session.
    """

    def __init__(self, options: dict[str, str], data: dict[str, object]) -> None:
        self.actor = options.get("--as") or os.environ.get("TEAM_CONSOLE_AS", "")
        self.location = options.get("-t") or options.get("--team") or os.environ.get("TEAM_CONSOLE_TEAM", "")
        self.client = options.get("--client", "")
        self.timeout = options.get("--timeout", "")
        self.wake = "--wake" in options
        self.waker: int | None = None
        self.has_own_name = False
        self.is_held = "--hold" in options
        self.held_rules = [*filter(None, options.get("--held", "").split(","))]
        self.data = data
        self.event_name = self.text("hook_event_name")
        self.session = self.text("session_id")

    def text(self, key: str) -> str:
        """Return a text that the event has; empty for none."""
        value = self.data.get(key)
        return value if isinstance(value, str) else ""

    def rule_for(self, rules: Collection[str], project: str) -> str:
        """Return the rule by which this use of a tool is to be asked for; empty for none."""
        # Imported only while somebody is at a console: reading a command costs 10 ms.
        try:
            from team_console.console.clients.rules import rule_for

            return rule_for(self.data, rules, project=project)
        except Exception:  # what cannot be read may be what is to be asked for
            # guard: unread-call-is-asked-for
            return next(iter(rules), "")
