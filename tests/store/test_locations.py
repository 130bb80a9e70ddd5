"""Where a team is found: every way to its place opens the same team with the same settings."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from team_console.store.backends.locations import absolute
from team_console.store.backends.open import open_team
from team_console.store.model.errors import Code, TeamError

from tests.equipment.cases import cases
from tests.equipment.yaml_folder import ROOT_ONLY, as_nobody

LOCKED_UP = os.strerror(errno.EACCES)
TOO_LONG = os.strerror(errno.ENAMETOOLONG)


@cases
def test_a_team_of_another_program_is_named_with_the_command_that_opens_it(
    files: tuple[str, ...], place: str, location: str, tmp_path: Path
) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("{}\n", encoding="utf-8")
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    with pytest.raises(TeamError) as caught:
        open_team(start=tmp_path / place)
    assert caught.value.code is Code.TEAM_NOT_FOUND
    assert f"team-console -t {tmp_path / location}." in caught.value.hint
    assert open_team(str(tmp_path / location)).read_only


@ROOT_ONLY
def test_the_team_of_a_folder_further_up_is_not_taken_for_that_of_a_closed_one(tmp_path: Path) -> None:
    """An agent that is started with `sudo -u` stands in a folder it cannot look into."""
    (tmp_path / "message-queue.yaml").write_text("messages: []\n")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert open_team(start=closed).location == str(tmp_path)
    with as_nobody(), pytest.raises(TeamError, match=f"closed: {LOCKED_UP}") as refused:
        open_team(start=closed)
    assert refused.value.code is Code.TEAM_NOT_FOUND


@pytest.mark.parametrize("place", ["{}", "{}/team.db", "sqlite:///{}"])
def test_a_name_that_is_too_long_is_refused_with_the_reason(place: str) -> None:
    with pytest.raises(TeamError, match=TOO_LONG) as refused:
        open_team(place.format("a" * 300))
    assert refused.value.code is Code.TEAM_NOT_FOUND


@pytest.mark.parametrize("odd", ["\0", "%00", "\ud800"])
@pytest.mark.parametrize("place", ["a{}b", "~a{}b", "a{}b.db", "sqlite:///a{}b"])
def test_a_location_that_names_no_file_is_refused(place: str, odd: str) -> None:
    if odd == "%00" and "://" not in place:
        pytest.skip("only an address spells characters so")
    with pytest.raises(TeamError, match="no file can have the name") as refused:
        open_team(place.format(odd))
    assert refused.value.code is Code.TEAM_NOT_FOUND


@pytest.mark.parametrize("place", [None, "crew", "crew.db"])
def test_a_current_folder_that_is_gone_is_said(
    place: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEAM_CONSOLE_TEAM", raising=False)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(TeamError, match="current folder") as refused:
        open_team(place)
    assert refused.value.code is Code.TEAM_NOT_FOUND


def test_a_way_up_is_taken_out_of_a_place_and_the_place_stays_the_same(tmp_path: Path) -> None:
    (tmp_path / "far" / "folder").mkdir(parents=True)
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "link").symlink_to(tmp_path / "far" / "folder")
    ways = {
        "near/../far/folder": "far/folder",
        "near/link": "near/link",
        "near/link/..": "far",  # the folder of what the link leads to, and not `near`
        "near/./../near/link": "near/link",
        "missing/../near": "near",
    }
    assert {way: absolute(f"{tmp_path}/{way}") for way in ways} == {way: tmp_path / to for way, to in ways.items()}
    assert absolute("/../..") == Path("/")
