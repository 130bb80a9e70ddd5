"""The console says what it knows: harm, locks and loss stand above the last good view, and go by themselves."""

from __future__ import annotations

import shutil
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.feed import Sight
from console.situation import Situation, empty_words, notice_of, pulse_of
from console.subject import Mode
from store.config import TeamConfig
from store.locations import open_team
from store.team import Condition, LockHolder, Snapshot, WatchHint, WatchState
from tests.conftest import CommandLine
from tests.pty import Terminal, console
from tests.store.yaml_folder import HOLD, ROOT_ONLY, process, wait_for
from tests.trust.damage import FILES, HARMS, PLAN, healthy, repair

QUIET_WORDS = ("Nothing waits", "No messages in this inbox", "The queue is empty", "No requests yet")
"""How the screen says that there is nothing."""
BANNERS = ("UNREADABLE", "VANISHED")


@pytest.fixture
def folder(team: CommandLine) -> Path:
    """A healthy team."""
    healthy(team)
    return team.folder


def assert_honest(terminal: Terminal) -> None:
    """Nothing on the screen says that there is nothing."""
    assert not any(word in terminal.text for word in QUIET_WORDS), terminal.text


def test_every_harm_to_the_queue_leaves_the_last_good_view_under_a_banner_and_is_over_by_itself(
    folder: Path, tmp_path: Path
) -> None:
    good = Path(shutil.copy2(folder / FILES["queue"], tmp_path / "good.yaml"))
    with console(folder) as terminal:
        terminal.wait_for(PLAN[:20], "LIVE")
        for name, harm in HARMS.items():
            harm(folder / FILES["queue"])
            if not _can_be_read(folder):
                terminal.wait_until(lambda: _tells(terminal), f"word of harm: {name}")
            assert_honest(terminal)
            if any(word in terminal.text for word in BANNERS):
                assert PLAN[:20] in terminal.text, (name, terminal.text)
                terminal.wait_until(lambda: "Shown is what" in " ".join(terminal.text.split()), "what is shown")
            repair(folder / FILES["queue"], good)
            terminal.wait_until(lambda: not _tells(terminal) and PLAN[:20] in terminal.text, f"recovery from: {name}")
        terminal.send("q")
        assert terminal.wait_exit() == 0


def _can_be_read(folder: Path) -> bool:
    """Whether what is left of the queue is a queue all the same, shown as it stands."""
    team = open_team(str(folder), read_only=True)
    try:
        return team.snapshot().condition is Condition.OK
    finally:
        team.close()


def _tells(terminal: Terminal) -> bool:
    """Whether the screen says that the queue came to harm: a banner, an error in Health, or doubt."""
    health = terminal.text.split("\n")[1].rstrip().endswith("!")
    return any(word in terminal.text for word in (*BANNERS, "as it stands")) or health or PLAN[:20] not in terminal.text


@pytest.mark.parametrize("harm", ["zeros", "only the key", "emptied", "gone", "a folder instead", "a dangling link"])
def test_a_console_opened_on_a_harmed_queue_does_not_know_what_waits(folder: Path, harm: str) -> None:
    HARMS[harm](folder / FILES["queue"])
    with console(folder) as terminal:
        terminal.wait_until(lambda: any(word in terminal.text for word in ("not known", "not sure")), "doubt")
        for mode in "123":
            terminal.send(mode)
            terminal.settle()
            assert_honest(terminal)
        terminal.send("q")
        assert terminal.wait_exit() == 0


def test_a_held_lock_is_shown_with_who_since_when_and_whether_it_lives(folder: Path) -> None:
    with console(folder) as terminal, process(HOLD, folder) as holder:
        wait_for(holder, b"held")
        holder.send_signal(signal.SIGSTOP)
        terminal.wait_for("LOCKED", f"process {holder.pid}", "(hold)", "it is alive")
        assert PLAN[:20] in terminal.text
        holder.kill()
        holder.wait()
        terminal.wait_gone("LOCKED")
        terminal.send("7")
        terminal.wait_for("STALE_LOCK")
        terminal.send("q")
        assert terminal.wait_exit() == 0


@ROOT_ONLY
def test_a_folder_that_vanishes_is_shown_and_comes_back(folder: Path) -> None:
    with console(folder) as terminal:
        terminal.wait_for(PLAN[:20], "LIVE")
        away = folder.with_name("away")
        folder.rename(away)
        terminal.wait_for("VANISHED")
        assert PLAN[:20] in terminal.text
        assert_honest(terminal)
        away.rename(folder)
        terminal.wait_gone("VANISHED")
        terminal.send("q")
        assert terminal.wait_exit() == 0


NOW = datetime(2026, 2, 24, 10, 30, tzinfo=UTC)
HELD = LockHolder(7, "host", "2026-02-24T10:29:00.000Z", "send", True)


def _seen(condition: Condition, *, holder: LockHolder | None = None, **more: object) -> Situation:
    snapshot = Snapshot("r", NOW, NOW, TeamConfig(), condition=condition, holder=holder)
    return Situation(sight=Sight(1, snapshot, None, False), looked_at=NOW, good_at=NOW, **more)  # type: ignore[arg-type]


STATES = {
    "loading": Situation(progress=(10, 100)),
    "failed": Situation(failure="disk error"),
    "live": _seen(Condition.OK),
    "locked": _seen(Condition.OK, holder=HELD),
    "unreadable": _seen(Condition.UNREADABLE),
    "vanished": _seen(Condition.VANISHED),
    "polling": _seen(Condition.OK, watch=WatchHint(WatchState.POLLING, "no events here")),
}


def test_each_state_has_a_banner_of_its_own() -> None:
    kinds = {name: getattr(notice_of(state, NOW), "kind", None) for name, state in STATES.items()}
    assert kinds["live"] is None
    assert len(set(kinds.values())) == len(kinds)
    assert notice_of(_seen(Condition.OK, watch=WatchHint(WatchState.STALLED, "x")), NOW) != notice_of(
        STATES["live"], NOW
    )


def test_each_state_has_a_pulse_of_its_own() -> None:
    pulses = {name: (pulse_of(state, NOW).glyph, pulse_of(state, NOW).word) for name, state in STATES.items()}
    assert len(set(pulses.values())) == len(pulses)
    assert [name for name, pulse in pulses.items() if pulse == pulses["live"]] == ["live"]


@pytest.mark.parametrize("mode", [one for one in Mode if one not in (Mode.HISTORY, Mode.HEALTH)])
@pytest.mark.parametrize("name", ["loading", "failed", "unreadable", "vanished"])
def test_a_list_without_rows_says_that_it_does_not_know(mode: Mode, name: str) -> None:
    words = "".join(text for line in empty_words(mode, STATES[name]) for text, _ in line)
    assert not any(quiet in words for quiet in QUIET_WORDS)
    assert words
