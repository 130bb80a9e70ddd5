"""Readings for the screen: archives that could not be read at first are known as soon as they can be."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from team_console.console.tui.reader import StoreReader
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Page
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.migration import open_target
from team_console.store.settings.team_config import Agent, TeamConfig
from team_console.store.views.rows import RequestState, View

from tests.console.conftest import LEAD, Clock, hand_in_plan
from tests.equipment.memory_team import MemoryTeam


def _view(reader: StoreReader) -> View:
    view = reader.read().view
    assert view is not None
    return view


def test_archives_behind_a_server_that_was_away_are_read_when_it_is_back(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = StoreReader(team, LEAD)
    reader.read()

    def away(**options: object) -> Page:
        raise TeamError(Code.STORE_UNREADABLE, "connection refused")

    with monkeypatch.context() as patched:
        patched.setattr(team, "history", away)
        shown = _view(reader)
        assert "UNREADABLE_ARCHIVE" in {finding.code for finding in shown.findings}
        assert len(shown.attention) == 1
        assert reader.knows_archives
    again = _view(reader)
    assert "UNREADABLE_ARCHIVE" not in {finding.code for finding in again.findings}
    assert again.attention == ()


def test_a_console_whose_folder_is_removed_goes_on_reading(
    team: MemoryTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.location = str(tmp_path)
    reader = StoreReader(team, LEAD)
    reader.read()
    folder = tmp_path / "removed"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert reader.read().is_fresh


def test_a_team_at_rest_costs_no_view_until_time_alone_changes_something(team: MemoryTeam, clock: Clock) -> None:
    reader = StoreReader(team, LEAD)
    hand_in_plan(team)
    reader.read()
    _view(reader)  # the first that knows the archives
    first = _view(reader)
    assert _view(reader) is first
    clock.advance(1)
    assert _view(reader) is first
    hand_in_plan(team, "Another plan that is handed in later")
    changed = _view(reader)
    assert changed is not first
    due = changed.next_due
    assert due is not None
    clock.advance((due - clock()).total_seconds())
    late = _view(reader)
    assert any(row.state is RequestState.OVERDUE for row in late.requests)


@pytest.mark.parametrize("name", ["team", "team.db"])
def test_what_waited_in_a_team_waits_no_more_where_another_team_took_its_place(name: str, tmp_path: Path) -> None:
    """As after a checkout of another branch, or where a team was made anew."""
    folder, other = tmp_path / name, tmp_path / f"other-{name}"
    for place, author in ((folder, "a"), (other, "b")):
        with closing(
            open_target(
                str(place), TeamConfig(lead=LEAD, agents={name: Agent(name) for name in (LEAD, author)}, declared=True)
            )
        ) as team:
            hand_in_plan(team, f"The plan that {author} hands in", by=author)
    with closing(open_team(str(folder))) as team:
        reader = StoreReader(team, LEAD)
        assert [row.asker for row in _view(reader).requests] == ["a"]
        folder.rename(tmp_path / "aside")
        other.rename(folder)
        shown = _view(reader)
        assert [(row.asker, row.is_open) for row in shown.requests] == [("b", True)]
        assert shown.snapshot.missing == frozenset()
        folder.rename(other)
        (tmp_path / "aside").rename(folder)
        assert [row.asker for row in _view(reader).requests] == ["a"]
