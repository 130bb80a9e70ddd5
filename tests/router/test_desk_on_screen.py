"""Mode Deliveries on a terminal: the clocks of every delivery, many marked, previewed, confirmed, on every store."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from team_console.store.contract.team import AuditLine
from team_console.store.model.clock import to_text, utc_now
from team_console.store.model.message import Message

from tests.pty import Terminal
from tests.router.places import Place, made
from tests.store.contract import make_message, put
from tests.trust.keys import ENTER, ESCAPE, reach

pytestmark = pytest.mark.slow

SECONDS = 60.0
DEAD = ("MSG-dead-1", "MSG-dead-2", "MSG-dead-3")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with made("sqlite", tmp_path) as place:
        put(place.open(), *_messages())
        yield place


def _messages() -> list[Message]:
    now = utc_now()
    created, soon = to_text(now - timedelta(minutes=10)), to_text(now + timedelta(minutes=1, seconds=50))

    def item(message_id: str, **changes: object) -> Message:
        payload = {"summary": f"Summary of {message_id}", "content": "x"}
        base = make_message(1, message_id=message_id, to="architect", created=created, payload=payload)
        return base.with_changes(**changes)

    dead = [item(name, status="failed", attempts=4, error_message="disk full") for name in DEAD]
    later = item("MSG-later", status="retry", attempts=2, next_attempt_at=soon, error_message="exit status 3")
    return [*dead, later, item("MSG-old", status="expired"), item("MSG-new", status="pending")]


def _states(place: Place) -> dict[str, str]:
    return {message.message_id: message.status for message in place.open().snapshot().messages}


def _done(place: Place, action: str) -> list[AuditLine]:
    return [line for line in place.open().audit() if line.action == action]


def _open(place: Place) -> Terminal:
    command = [sys.executable, "-P", "-m", "team_console.console", "-t", place.location]
    return Terminal(command, cwd=place.folder, columns=140, lines=40)


def _rest(terminal: Terminal, seconds: float) -> None:
    """Let a moment pass, as a reader does; clocks on the screen go on meanwhile."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        terminal.pump(left)


def _ask(terminal: Terminal, key: str, *texts: str) -> None:
    """Press a key of the failure desk until its question stands there whole."""
    _rest(terminal, 0.9)
    reach(terminal, key, texts[0])
    terminal.wait_for(*texts, seconds=SECONDS)
    _rest(terminal, 0.9)


def test_many_are_marked_previewed_and_treated_as_one_and_the_rest_is_left_alone(place: Place) -> None:
    with _open(place) as terminal:
        terminal.wait_for("LIVE", seconds=SECONDS)
        reach(terminal, "6", "Deliveries · 6 · 3 failed")
        terminal.wait_for("Summary of MSG-dead-1", "disk full", "4 of 4 tries", seconds=SECONDS)

        _rest(terminal, 0.9)
        for key in "  ":
            terminal.send(key)
            _rest(terminal, 0.3)
        _ask(
            terminal,
            "t",
            "2 messages: each starts again with all its tries",
            "• Summary of MSG-dead-1",
            "• Summary of MSG-dead-2",
        )
        terminal.send(ESCAPE)
        terminal.wait_gone("2 messages: each starts again with all its tries", seconds=SECONDS)
        assert _done(place, "retry") == []

        _ask(terminal, "t", "2 messages: each starts again with all its tries")
        terminal.send(ENTER)
        terminal.wait_for("2 messages tried again", seconds=SECONDS)
        (line,) = _done(place, "retry")
        assert sorted(line.facts["ids"]) == list(DEAD[:2])
        states = _states(place)
        assert [states[name] for name in DEAD] == ["pending", "pending", "failed"]
        terminal.wait_for("Deliveries · 6 · 1 failed", seconds=SECONDS)
        terminal.send("q")
        terminal.wait_exit(SECONDS)
