"""Drafts outlive the console, belong to one team and one name, and never lie in the team's folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from team_console.console.clients.session_files import agent_prefix
from team_console.console.tui.drafts import MOST_DAYS, Drafts, state_file
from team_console.store.contract.team import Team
from team_console.store.model.home import state_folder

from tests.console.conftest import hand_in_plan, opened

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


def test_what_is_kept_of_a_team_on_a_server_is_there_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        places = ("postgresql://console@db.example/sprint", "team.db", "sqlite:///team.db")
        found.append([(state_file("drafts", place, "ceo"), agent_prefix("dev", place)) for place in places])
    assert [here == there for here, there in zip(*found, strict=True)] == [True, False, False]


def test_a_read_only_console_writes_none(tmp_path: Path, home: Path) -> None:
    drafts = Drafts(str(tmp_path), "ceo", enabled=False)
    keep(drafts, "broadcast", {"content": "freeze"})
    assert not home.exists()


def test_two_consoles_of_one_human_keep_the_drafts_of_both(tmp_path: Path) -> None:
    item, other = Drafts(str(tmp_path), "ceo"), Drafts(str(tmp_path), "ceo")
    assert item.get("reject:plan-1") == other.get("reject:plan-1") == {}
    keep(item, "reject:plan-1", {"words": "add tests"})
    keep(other, "broadcast", {"content": "freeze"})
    keep(other, "broadcast", {})
    assert Drafts(str(tmp_path), "ceo").get("reject:plan-1") == {"words": "add tests"}
    assert other.get("reject:plan-1") == {"words": "add tests"}


def test_consoles_of_one_human_that_write_at_once_keep_what_each_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("team_console.console.tui.drafts._LONGEST_WAIT", 600.0)
    consoles = [Drafts(str(tmp_path), "ceo") for _ in range(4)]
    for number in range(20):
        for place, drafts in enumerate(consoles):
            drafts.keep(f"reject:plan-{place}-{number}", {"words": "add tests"})
    for drafts in consoles:
        drafts.flush()
    assert len(Drafts(str(tmp_path), "ceo").purposes("reject:")) == 80


def test_half_a_character_does_not_end_the_keeping(tmp_path: Path) -> None:
    drafts = Drafts(str(tmp_path), "ceo")
    keep(drafts, "reject:plan-1", {"words": "half \ud800"})
    keep(drafts, "broadcast", {"content": "freeze"})
    again = Drafts(str(tmp_path), "ceo")
    assert (again.get("reject:plan-1"), again.get("broadcast")) == ({"words": "half ?"}, {"content": "freeze"})


def test_what_could_not_be_written_is_written_with_the_next(tmp_path: Path, home: Path) -> None:
    home.write_text("in the way")
    drafts = Drafts(str(tmp_path), "ceo")
    keep(drafts, "broadcast", {"content": "freeze"})
    home.unlink()
    keep(drafts, "reject:plan-1", {"words": "add tests"})
    assert Drafts(str(tmp_path), "ceo").get("broadcast") == {"content": "freeze"}
    assert [path.suffix for path in (home / "team-console" / "drafts").iterdir()] == [".json"]


@pytest.mark.parametrize("text", ['{"a": ' + "[" * 100_000, "null", '{"a": 1}', "\x00"])
def test_a_file_that_cannot_be_read_has_no_drafts_and_is_written_anew(tmp_path: Path, text: str) -> None:
    keep(Drafts(str(tmp_path), "ceo"), "broadcast", {"content": "freeze"})
    (file,) = state_folder().rglob("*.json")
    file.write_text(text)
    drafts = Drafts(str(tmp_path), "ceo")
    assert (drafts.requests(), drafts.purposes("")) == (frozenset(), [])
    keep(drafts, "broadcast", {"content": "freeze"})
    assert Drafts(str(tmp_path), "ceo").get("broadcast") == {"content": "freeze"}


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


def test_a_folder_that_cannot_be_written_costs_only_the_life_after_exit(tmp_path: Path, home: Path) -> None:
    home.write_text("in the way")
    drafts = Drafts(str(tmp_path), "ceo")
    keep(drafts, "broadcast", {"content": "freeze"})
    assert drafts.get("broadcast") == {"content": "freeze"}


@pytest.mark.anyio
async def test_a_form_that_is_taken_down_keeps_nothing_in_the_place_of_what_was_typed(team: Team) -> None:
    """A signal and the end of its terminal each end a console, and the second comes to a form without fields."""
    request = hand_in_plan(team)
    async with opened(team) as desk:
        await desk.asks("r")
        await desk.press(*"half a reason")
        app = desk.app
        app.exit()
    app.keep_typed()
    app.drafts.flush()
    assert Drafts(team.location, "ceo").get(f"reject:{request}") == {"words": "half a reason"}
