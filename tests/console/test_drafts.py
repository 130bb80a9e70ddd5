"""Drafts outlive the console, belong to one team and one name, and never lie in the team's folder."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from console.drafts import Drafts, state_folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_draft_is_there_again_after_a_restart(tmp_path: Path) -> None:
    Drafts(str(tmp_path), "ceo").keep("reject:plan-1", {"words": "add tests", "suggestion": ""})
    assert Drafts(str(tmp_path), "ceo").get("reject:plan-1") == {"words": "add tests"}


def test_drafts_of_other_teams_and_names_are_others(tmp_path: Path) -> None:
    Drafts(str(tmp_path), "ceo").keep("broadcast", {"content": "freeze"})
    assert Drafts(str(tmp_path / "other"), "ceo").get("broadcast") == {}
    assert Drafts(str(tmp_path), "user").get("broadcast") == {}


def test_an_empty_draft_leaves_no_file(tmp_path: Path, home: Path) -> None:
    drafts = Drafts(str(tmp_path), "ceo")
    drafts.keep("broadcast", {"content": "freeze"})
    (file,) = [path for path in home.rglob("*") if path.is_file()]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    drafts.keep("broadcast", {})
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_a_read_only_console_writes_none(tmp_path: Path, home: Path) -> None:
    drafts = Drafts(str(tmp_path), "ceo", enabled=False)
    drafts.keep("broadcast", {"content": "freeze"})
    assert not home.exists()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b"\xff\xfe", b'{"broadcast": 3}', b'{"broadcast": {"content": 5}}']
)
def test_a_damaged_draft_file_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    drafts = Drafts(str(tmp_path), "ceo")
    drafts.keep("message:x", {"content": "first"})
    (file,) = state_folder().rglob("*.json")
    file.write_bytes(content)
    again = Drafts(str(tmp_path), "ceo")
    again.keep("message:x", {"content": "second"})
    assert Drafts(str(tmp_path), "ceo").get("message:x") == {"content": "second"}


def test_a_folder_that_cannot_be_written_costs_only_the_life_after_exit(tmp_path: Path, home: Path) -> None:
    home.write_text("in the way")
    drafts = Drafts(str(tmp_path), "ceo")
    drafts.keep("broadcast", {"content": "freeze"})
    assert drafts.get("broadcast") == {"content": "freeze"}
