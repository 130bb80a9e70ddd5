"""The console stands on foreign queues with any value in any field, whatever keys are pressed at whatever size."""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from team_console.store.backends.open import QUEUE_NAME
from team_console.store.protocol.kinds import KINDS
from team_console.store.settings.team_config import CONFIG_NAME

from tests.drive import ESCAPE, drive
from tests.equipment import corpus
from tests.equipment.command_line import ROOT
from tests.equipment.terminal import console

pytestmark = pytest.mark.slow

SETTINGS = "team: sprint-42\nlead: ceo\nagents:\n- name: task-manager\n- name: file-manager\n"
_FOLDERS = ("store/protocol", "store/views", "store/model")
_NAME = re.compile(r'"([a-z][a-z_]{1,30})"')
_KINDS = (*sorted(KINDS), "message", "nonsense", "")
_IDS = ("r1", "r1", "plan_approval-1@a@b", "shutdown-1771929015123@task-manager", "DBG-1", "MSG-1", "MSG-2")
_AGENTS = ("ceo", "task-manager", "file-manager", "all", "user", "сео", "ne\u0301")
_STATES = ("pending", "read", "claimed", "delivered", "failed", "retry", "expired", "recalled")
_TIMES = ("2026-02-24T10:30:15.123Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "not a date")
_NUMBERS = (0, 1, -1, 10**30, 1.5, float("inf"), float("nan"), None, True, False)
_ROUNDS = 4


def field_names() -> tuple[str, ...]:
    """Every word that the code may look for in a message."""
    texts = (path.read_text(encoding="utf-8") for folder in _FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return tuple(sorted({name for text in texts for name in _NAME.findall(text)}))


class Foreign:
    """Makes records by chance."""

    def __init__(self, chance: Random) -> None:
        self._chance, self._names = chance, field_names()

    def queue(self, number: int) -> bytes:
        """A queue of so many records."""
        return corpus.queue_of([self._record(place) for place in range(number)])

    def _record(self, place: int) -> dict[str, Any]:
        pick = self._chance.choice
        payload = {pick(self._names): self._value() for _ in range(pick((1, 3, 6, 12)))}
        record: dict[str, Any] = {
            "message_id": f"MSG-{place}",
            "type": pick(_KINDS),
            "from": pick(_AGENTS),
            "to": pick(("ceo", "ceo", "task-manager", "all")),
            "priority": pick(("critical", "high", "low")),
            "created": pick(_TIMES),
            "status": pick(_STATES),
            "payload": {
                "request_id": pick(_IDS),
                "summary": pick(corpus.TEXTS)[:200],
                "content": "words",
                **payload,
            },
        }
        odd = (*record, "read_by", "attempts", "next_attempt_at", "to_agents", "signature", "broadcast_id")
        return {**record, **{key: self._value() for key in odd if self._chance.random() < 0.05}}

    def _value(self, depth: int = 0) -> Any:
        pick, kind = self._chance.choice, self._chance.random()
        if kind < 0.6 or depth > 3:
            return pick((*_IDS, *_AGENTS, *_TIMES, *_STATES, *(text[:200] for text in corpus.TEXTS)))
        if kind < 0.75:
            return pick(_NUMBERS)
        if kind < 0.9:
            return [self._value(depth + 1) for _ in range(pick((0, 1, 3)))]
        return {pick(self._names): self._value(depth + 1) for _ in range(pick((0, 1, 4)))}


def test_random_keys_on_a_random_foreign_queue_end_in_order(tmp_path: Path) -> None:
    chance, folder = Random(1), tmp_path / "team"
    foreign, queue = Foreign(chance), folder / QUEUE_NAME
    folder.mkdir()
    (folder / CONFIG_NAME).write_text(SETTINGS)
    queue.write_bytes(foreign.queue(20))

    def goes_on(number: int) -> bool:
        if number % 3 == 2:
            (folder / "next").write_bytes(foreign.queue(30))
            os.replace(folder / "next", queue)
        return number < _ROUNDS

    homes = {name: str(tmp_path / name.lower()) for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    with console(folder, env={"TMPDIR": str(tmp_path), **homes}) as terminal:
        terminal.wait_for("? help")
        assert drive(terminal, chance, goes_on) == ""
        terminal.send(ESCAPE * 5 + "\x11")
        assert terminal.wait_exit() == 0, terminal.text
    assert not any(tmp_path.rglob("defects.log"))
