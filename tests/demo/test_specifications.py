"""The demo's schedule manager hands each specification over once, however long the demo runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from team_console.console.demo import agents, words


def test_no_specification_is_ready_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str]] = []
    later: list[Callable[[], None]] = []

    def send(caller: object, *, summary: str, payload: dict[str, Any], **more: object) -> None:
        sent.append((summary, payload["artifact_path"]))

    monkeypatch.setattr(agents, "send", send)
    manager = object.__new__(agents.ScheduleManager)
    manager.caller = None  # type: ignore[assignment]
    manager.specifications = iter(words.SPECIFICATIONS)
    monkeypatch.setattr(manager, "after", lambda seconds, act: later.append(act), raising=False)
    manager.announce_spec()
    while later:
        later.pop()()
    assert sent[0] == ("SPEC-031 is ready for review", "specs/SPEC-031-audit-log.md")
    assert len({summary for summary, _ in sent}) == len(sent) == len(words.SPECIFICATIONS)
