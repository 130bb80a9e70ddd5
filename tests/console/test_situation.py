"""Empty, loading, locked, unreadable, stale, vanished and degraded look different, and none is shown as empty."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from team_console.console.selection import Mode
from team_console.console.tui.empty_lists import empty_words
from team_console.console.tui.reader import ReadResult
from team_console.console.tui.screen_bars import notice_of
from team_console.console.tui.situation import Situation, no_writing
from team_console.store.contract.snapshot import Condition, LockHolder, Snapshot
from team_console.store.contract.team import WatchHint, WatchState
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import new_record
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.rows import AgentState, RosterRow, View
from team_console.widgets.text import text_of

from tests.equipment.cases import cases

NOW = datetime(2026, 2, 24, 10, 30, tzinfo=UTC)
MESSAGE = new_record(
    message_id="MSG-1", type="message", sender="a", to="b", created=to_text(NOW), priority="medium", payload={}
)
SNAPSHOT = Snapshot("1", NOW, NOW, TeamConfig(), (MESSAGE,), condition=Condition.OK)


def seen(snapshot: Snapshot = SNAPSHOT, *, view: bool = True, **known: object) -> Situation:
    made = View("1", NOW, "ceo", SNAPSHOT) if view else None
    fresh = snapshot.condition in (Condition.OK, Condition.EMPTY)
    known = {"looked_at": NOW, "shown_read_at": NOW if view else None, **known}
    return Situation(reading=ReadResult(1, snapshot, made, fresh), **known)  # type: ignore[arg-type]


DAMAGE = Problem("not readable", "error", "message-queue.yaml:47", "the frame is broken", "Repair it.")
FOREIGN = Problem("FOREIGN_WRITE", "notice", "message-queue.yaml", "somebody wrote it without the lock", "Look again.")
ROLLED_BACK = Problem("ROLLED_BACK", "error", "message-queue.yaml", "somebody took 3 messages out", "Write again.")
BROKEN = Problem(
    "SETTINGS_UNREADABLE", "error", "messenger-config.yaml", "messenger-config.yaml line 6: no YAML", "Correct it."
)
HOLDER = LockHolder(4711, "box", to_text(NOW - timedelta(seconds=30)), "send", False)
UNREADABLE = replace(SNAPSHOT, messages=(), condition=Condition.UNREADABLE, problems=(DAMAGE,))
VANISHED = replace(SNAPSHOT, messages=(), condition=Condition.VANISHED)
SITUATIONS = {
    "loading": Situation(progress=(400, 1000)),
    "live": seen(),
    "locked": seen(replace(SNAPSHOT, holder=HOLDER)),
    "unreadable": seen(UNREADABLE),
    "gone": seen(replace(VANISHED, problems=(Problem("VANISHED", "error", "t.db", "t.db is gone", "Put it back."),))),
    "doubted": seen(replace(SNAPSHOT, messages=(), condition=Condition.EMPTY, problems=(FOREIGN,))),
    "rolled back": seen(replace(SNAPSHOT, problems=(ROLLED_BACK,))),
    "settings": seen(replace(SNAPSHOT, problems=(BROKEN,))),
    "polling": seen(watch=WatchHint(WatchState.POLLING, "no inotify here")),
}


@cases
def test_banners_say_where_who_and_since_when(name: str, pulse: str, text: str, hint: str) -> None:
    notice = notice_of(SITUATIONS[name], NOW)
    assert notice is not None
    assert (text in notice.text, hint in notice.hint) == (True, True)
    assert notice.pulse.word == pulse


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "situation",
    [Situation(), Situation(progress=(1, 9)), seen(UNREADABLE, view=False), seen(VANISHED, view=False)],
    ids=["unread", "loading", "unreadable", "vanished"],
)
def test_what_is_not_known_is_never_shown_as_empty(mode: Mode, situation: Situation) -> None:
    words = " ".join(text_of(line) for line in empty_words(mode, situation)).lower()
    for lie in ("no message", "nothing waits", "is empty", "no requests", "nothing went wrong", "no findings"):
        assert lie not in words


@pytest.mark.parametrize("snapshot", [VANISHED, UNREADABLE])
def test_what_was_read_before_the_store_was_lost_is_not_called_all_there_is(snapshot: Snapshot) -> None:
    words = " ".join(map(text_of, empty_words(Mode.HISTORY, seen(snapshot))))
    assert "cannot be read now" in words
    assert "Y copies" not in words


@pytest.mark.parametrize(
    ("state", "is_offered"),
    [(AgentState.UNKNOWN, True), (AgentState.STOPPED, True), (AgentState.IDLE, False), (AgentState.ACTIVE, False)],
)
def test_an_agent_that_runs_need_not_be_started(state: AgentState, is_offered: bool) -> None:
    situation = seen()
    assert situation.reading is not None
    assert situation.reading.view is not None
    view = replace(situation.reading.view, roster=(RosterRow("ceo", "master", state), RosterRow("helper", "", state)))
    local = replace(situation.reading.local, starts={"helper": "claude"})
    situation = replace(situation, reading=replace(situation.reading, view=view, local=local))
    words = " ".join(map(text_of, empty_words(Mode.NEEDS, situation)))
    assert ("helper has joined. Start it" in words) == is_offered


def test_nothing_is_written_to_what_cannot_be_read() -> None:
    assert no_writing(SITUATIONS["live"], read_only=False) is None
    assert no_writing(SITUATIONS["unreadable"], read_only=False)
    assert no_writing(SITUATIONS["loading"], read_only=False)
    assert no_writing(SITUATIONS["live"], read_only=True)
