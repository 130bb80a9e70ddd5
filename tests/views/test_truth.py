"""The one verdict on how true what is shown is, from snapshot, lock, clock and watch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from team_console.store.contract.snapshot import Condition, LockHolder, Snapshot
from team_console.store.contract.team import WatchHint, WatchState
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import new_record
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.status import LONG_WRITE, SILENT, Looks, assess

from tests.test_architecture import modules

NOW = datetime(2026, 2, 24, 10, 30, tzinfo=UTC)
MESSAGE = new_record(
    message_id="MSG-1", type="message", sender="a", to="b", created=to_text(NOW), priority="medium", payload={}
)
WELL = Snapshot("1", NOW, NOW, TeamConfig(), (MESSAGE,), condition=Condition.OK)
ROLLED_BACK = Problem("ROLLED_BACK", "error", "queue", "somebody took 3 messages out", "Write again.")
DAMAGED = Problem("DAMAGED_ENTRY", "error", "queue:7", "not closed", "Repair it.")
BAD_CONFIG = Problem("SETTINGS_UNREADABLE", "error", "settings:6", "settings:6: no YAML", "Correct it.")
GONE = Problem("UNREADABLE", "error", "queue:47", "the frame is broken", "Repair line 47.")


def held(seconds: float, *, pid: int | None = 7, alive: bool | None = True) -> LockHolder:
    """Somebody who has held the lock for so long."""
    return LockHolder(pid, "box", to_text(NOW - timedelta(seconds=seconds)), "send", alive)


@pytest.mark.parametrize(
    ("snapshot", "looks", "states"),
    [
        (None, Looks(), ["reading"]),
        (None, Looks(failure="no answer"), ["stale"]),
        (WELL, Looks(), []),
        (replace(WELL, holder=held(LONG_WRITE - 0.1)), Looks(), []),
        (replace(WELL, holder=held(LONG_WRITE)), Looks(), ["locked"]),
        (replace(WELL, holder=held(-60)), Looks(), ["locked"]),
        (replace(WELL, holder=LockHolder(None, "", "", "", None)), Looks(), ["locked"]),
        (replace(WELL, problems=(DAMAGED,)), Looks(), ["doubt"]),
        (replace(WELL, problems=(replace(DAMAGED, severity="warning"),)), Looks(), []),
        (replace(WELL, missing=frozenset({"a"})), Looks(), ["doubt"]),
        (replace(WELL, problems=(ROLLED_BACK, DAMAGED), missing=frozenset({"a"})), Looks(), ["doubt", "doubt"]),
        (replace(WELL, problems=(BAD_CONFIG, DAMAGED), holder=held(9)), Looks(), ["doubt", "locked", "settings"]),
        (WELL, Looks(watch=WatchHint(WatchState.STALLED)), ["stale"]),
        (WELL, Looks(watch=WatchHint(WatchState.POLLING)), ["polling"]),
        (WELL, Looks(looked_at=NOW - timedelta(seconds=SILENT + 1)), ["stale"]),
        (WELL, Looks(looked_at=NOW - timedelta(seconds=SILENT - 1)), []),
        (WELL, Looks(failure="no answer"), ["stale"]),
    ],
)
def test_everything_that_is_the_matter_is_told_worst_first(
    snapshot: Snapshot | None, looks: Looks, states: list[str]
) -> None:
    truth = assess(snapshot, NOW, looks)
    assert [str(reason.state) for reason in truth.reasons] == states
    assert str(truth.state) == (states or ["ok"])[0]
    assert truth.is_complete == (not {"reading", "stale", "doubt"} & set(states))


@pytest.mark.parametrize(
    ("condition", "words"),
    [(Condition.UNREADABLE, "the queue cannot be read"), (Condition.VANISHED, "the queue is gone")],
)
def test_a_queue_that_is_not_known_is_told_with_its_own_problem_and_not_with_that_of_the_settings(
    condition: Condition, words: str
) -> None:
    problem = replace(GONE, code=str(condition).upper())
    snapshot = replace(WELL, messages=(), condition=condition, problems=(BAD_CONFIG, problem))
    truth = assess(snapshot, NOW)
    assert (truth.state, truth.reasons[0].sentence) == (
        str(condition),
        "queue:47: the frame is broken. Repair line 47.",
    )
    assert assess(replace(snapshot, problems=()), NOW).reasons[0].text == words


def test_screen_and_verbs_judge_nothing_themselves() -> None:
    """They ask `assess`: no module of theirs knows conditions, thresholds, or what a doubt is made of."""
    paths = [path for package in ("console", "widgets") for path in modules(package)]
    assert [
        path for path in paths if re.search(r"\w\.(?:doubt|condition)\b(?! ?`)", path.read_text(encoding="utf-8"))
    ] == []
