"""What is planned for each state that a dead holder of the lock, or a program that does not lock, can leave."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from team_console.store.backends.yaml.audit_log import Line
from team_console.store.backends.yaml.disk import Mark, Stat
from team_console.store.backends.yaml.lock import Released
from team_console.store.backends.yaml.queue_file import Generation
from team_console.store.backends.yaml.queue_text import QueueText
from team_console.store.backends.yaml.recovery import Ending, Found, Plan, plan_of

BASE, OURS, THEIRS = (1, 10, 100), (2, 20, 200), (3, 30, 300)
"""Generations: the one that the last transaction was built upon, the one it made, and one of somebody else."""
SENT = (
    b"messages:\n- message_id: m1\n  from: a\n  to: b\n  type: message\n  priority: normal\n"
    b"  created: '2026-01-01T00:00:00Z'\n  status: pending\n  payload: {content: x}\n"
)
WITH, WITHOUT = QueueText.parse(SENT), QueueText.empty()
SEND = Line("a", "send", seq=7, base=BASE, queue=OURS, writes=({"message_id": "m1"},))
RECEIVE = replace(SEND, action="receive")
WHOLE, HEALED = Plan(False, Ending.DONE), Plan(True, Ending.DONE)


def _stat(mark: Mark, kind: str = "file") -> Stat:
    ino, size, mtime = mark
    return Stat(kind, 0, ino, size, mtime, 0o600, 1)


def _found(mark: Mark | None, prev: Mark | None, *, text: QueueText = WITH, **more: object) -> Found:
    queue = Generation(text, _stat(mark) if mark else None)
    found = Found(SEND, queue, _stat(prev) if prev else None)
    return replace(found, **more)


@pytest.mark.parametrize(
    ("found", "plan"),
    [
        pytest.param(_found(OURS, BASE, left=Released(7, OURS)), WHOLE, id="as it was left"),
        pytest.param(_found(THEIRS, BASE, left=Released(7, THEIRS)), WHOLE, id="as it was left, after another program"),
        pytest.param(_found(OURS, BASE), WHOLE, id="its holder died after the swap"),
        pytest.param(_found(THEIRS, BASE, left=Released(7, OURS)), HEALED, id="another program wrote"),
        pytest.param(_found(None, BASE, left=Released(7, OURS)), HEALED, id="the queue is gone"),
        pytest.param(
            _found(OURS, (1, 11, 101), left=Released(7, OURS)),
            Plan(False, Ending.MERGE),
            id="a late writer had it open",
        ),
        pytest.param(_found(OURS, THEIRS), Plan(False, Ending.MERGE), id="the swap displaced another generation"),
        pytest.param(_found(BASE, None), Plan(False, Ending.COMPLETE), id="cut short before the swap"),
        pytest.param(_found(BASE, None, line=RECEIVE), Plan(False, Ending.UNDO), id="a receive cut short"),
        pytest.param(
            _found(THEIRS, None, text=WITHOUT), Plan(True, Ending.COMPLETE), id="cut short, then another program wrote"
        ),
        pytest.param(
            _found(THEIRS, None, text=WITHOUT, line=RECEIVE),
            Plan(True, Ending.UNDO),
            id="a receive cut short, then another program wrote",
        ),
        pytest.param(_found(THEIRS, None), HEALED, id="what it wrote is seen in another's queue"),
        pytest.param(_found(THEIRS, BASE, text=WITHOUT), HEALED, id="the generation before proves the swap"),
        pytest.param(
            _found(THEIRS, (1, 11, 101), text=WITHOUT, line=RECEIVE),
            Plan(True, Ending.MERGE),
            id="it proves the swap also when a late writer had it open",
        ),
        pytest.param(
            _found(THEIRS, None, text=WITHOUT, has_arrived=True), HEALED, id="known to have reached the queue"
        ),
    ],
)
def test_each_state_has_one_plan(found: Found, plan: Plan) -> None:
    assert plan_of(found) == plan


def test_a_folder_in_the_place_of_the_generation_before_is_not_merged() -> None:
    assert plan_of(replace(_found(OURS, None), prev=_stat(THEIRS, "folder"))) == WHOLE


def test_a_transaction_that_made_the_queue_displaced_nothing() -> None:
    first = replace(SEND, base=None)
    assert plan_of(_found(OURS, THEIRS, line=first)) == WHOLE
