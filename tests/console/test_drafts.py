"""Drafts outlive the console, belong to one team and one name, and never lie in the team's folder."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path
from threading import Event

import pytest
from team_console.console.tui.drafts import MOST_DAYS, Drafts
from team_console.store.model.home import state_folder
from team_console.widgets import form

from tests.console.conftest import LEAD, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def keep(drafts: Drafts, purpose: str, draft: dict[str, str]) -> None:
    """Keep a draft, until it is on disk."""
    drafts.keep(purpose, draft)
    drafts.flush()


def test_a_draft_is_there_again_after_a_restart(tmp_path: Path) -> None:
    keep(Drafts(str(tmp_path), "ceo"), "reject:plan-1", {"words": "add tests", "suggestion": ""})
    assert Drafts(str(tmp_path), "ceo").get("reject:plan-1") == {"words": "add tests"}


def test_drafts_of_other_teams_and_names_are_others(tmp_path: Path) -> None:
    keep(Drafts(str(tmp_path), "ceo"), "broadcast", {"content": "freeze"})
    assert Drafts(str(tmp_path / "other"), "ceo").get("broadcast") == {}
    assert Drafts(str(tmp_path), "user").get("broadcast") == {}


def test_an_empty_draft_leaves_no_file(tmp_path: Path, home: Path) -> None:
    drafts = Drafts(str(tmp_path), "ceo")
    keep(drafts, "broadcast", {"content": "freeze"})
    (file,) = [path for path in home.rglob("*") if path.is_file()]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    keep(drafts, "broadcast", {})
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_a_read_only_console_writes_none(tmp_path: Path, home: Path) -> None:
    drafts = Drafts(str(tmp_path), "ceo", enabled=False)
    keep(drafts, "broadcast", {"content": "freeze"})
    assert not home.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[1]",
        b"\xff\xfe",
        b'{"broadcast": 3}',
        b'{"broadcast": {"content": 5}}',
        b'{"x": {"kept": 9e9, "typed": 1}}',
    ],
)
def test_a_damaged_draft_file_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    drafts = Drafts(str(tmp_path), "ceo")
    keep(drafts, "message:x", {"content": "first"})
    (file,) = state_folder().rglob("*.json")
    file.write_bytes(content)
    again = Drafts(str(tmp_path), "ceo")
    keep(again, "message:x", {"content": "second"})
    assert Drafts(str(tmp_path), "ceo").get("message:x") == {"content": "second"}


def test_two_consoles_of_one_human_keep_the_drafts_of_both(tmp_path: Path) -> None:
    item, other = Drafts(str(tmp_path), "ceo"), Drafts(str(tmp_path), "ceo")
    assert item.get("reject:plan-1") == other.get("reject:plan-1") == {}
    keep(item, "reject:plan-1", {"words": "add tests"})
    keep(other, "broadcast", {"content": "freeze"})
    keep(other, "broadcast", {})
    assert Drafts(str(tmp_path), "ceo").get("reject:plan-1") == {"words": "add tests"}
    assert other.get("reject:plan-1") == {"words": "add tests"}


def test_a_draft_nobody_came_back_to_is_thrown_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(Drafts(str(tmp_path), "ceo"), "reject:plan-1", {"words": "add tests"})
    later = time.time() + (MOST_DAYS + 1) * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    drafts = Drafts(str(tmp_path), "ceo")
    assert drafts.get("reject:plan-1") == {}
    keep(drafts, "broadcast", {"content": "freeze"})
    (file,) = state_folder().rglob("*.json")
    assert list(json.loads(file.read_text(encoding="utf-8"))) == ["broadcast"]


@pytest.mark.parametrize("days", [0, MOST_DAYS + 1])
def test_files_of_teams_nobody_writes_to_any_more_are_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    """Also where the clock is ahead of that of the disk."""
    for name in ("left", "used"):
        keep(Drafts(str(tmp_path / name), "ceo"), "broadcast", {"content": name})
    (used, left) = sorted(state_folder().rglob("*.json"), key=lambda path: "left" in path.read_text())
    litter = left.with_suffix(".4711.tmp")
    litter.write_text("{")
    for path in (left, litter):
        os.utime(path, (0, 0))
    later = time.time() + days * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    keep(Drafts(str(tmp_path / "new"), "ceo"), "broadcast", {"content": "new"})
    assert Drafts(str(tmp_path / "new"), "ceo").get("broadcast") == {"content": "new"}
    assert (used.exists(), left.exists(), litter.exists()) == (True, False, False)


@pytest.mark.anyio
async def test_typing_does_not_wait_for_the_disk_and_the_end_does(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    request_id = hand_in_plan(team)
    asked, may_write = Event(), Event()
    monkeypatch.setattr(form, "KEEP_AFTER", 0.01)

    def hang(descriptor: int) -> None:
        asked.set()
        may_write.wait(5)

    monkeypatch.setattr(os, "fsync", hang)
    async with opened(team) as desk:
        await desk.asks("r")
        await desk.type("first")
        await desk.until(asked.is_set, "a draft on its way to the disk")
        await desk.type(" second")
        assert not may_write.is_set()
        assert "first second" in desk.text
        await desk.press("escape")
        may_write.set()
    assert Drafts(team.location, LEAD).get(f"reject:{request_id}")["words"] == "first second"


def test_a_folder_that_cannot_be_written_costs_only_the_life_after_exit(tmp_path: Path, home: Path) -> None:
    home.write_text("in the way")
    drafts = Drafts(str(tmp_path), "ceo")
    keep(drafts, "broadcast", {"content": "freeze"})
    assert drafts.get("broadcast") == {"content": "freeze"}
