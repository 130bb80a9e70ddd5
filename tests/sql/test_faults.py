"""What goes wrong with a database is said, loses nothing and passes by itself where it can (cases 64 and 65)."""

from __future__ import annotations

import os
import resource
from contextlib import closing
from pathlib import Path

import pytest
from team_console.store.backends.open import create_database, open_database
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.contract.snapshot import Condition
from team_console.store.model.errors import Code, TeamError

from tests.equipment.teams import ids, make_message, put
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A SQLite team with one message, nobody connected."""
    path = tmp_path / "team.db"
    create_database(str(path), SETTINGS)
    return path


def _fill(team: SqlTeam) -> None:
    put(team, make_message(1, to="architect"))


def test_a_full_disk_loses_nothing_and_says_so(file: Path, opened: Open) -> None:
    team = opened(str(file))
    _fill(team)
    with pytest.raises(TeamError) as caught, team.transaction(actor="ceo", action="send", wait=1.0) as tx:
        pages = tx.connection.scalar("PRAGMA page_count")
        tx.connection.change(f"PRAGMA max_page_count = {pages + 1}")
        tx.add(make_message(2, payload={"content": "x" * 200_000}))
        tx.record("send")
    assert caught.value.code is Code.STORE_FAILED
    assert "full" in caught.value.message
    assert ids(opened(str(file))) == [make_message(1).message_id]
    assert [line.action for line in team.audit()] == ["send"]


def test_a_disk_without_room_for_the_index_of_the_log_can_be_read(file: Path, opened: Open) -> None:
    """Even a reader makes that index; whoever writes is told of the disk and not of rights."""
    _fill(opened(str(file)))
    team, limits = opened(str(file)), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))  # what is there stays, nothing larger can be made
    try:
        seen = team.snapshot()
        with pytest.raises(TeamError, match="disk") as caught:
            put(team, make_message(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (seen.condition, len(seen.messages)) == (Condition.OK, 1)
    assert caught.value.code is Code.STORE_FAILED
    put(team, make_message(2))
    assert len(ids(team)) == 2


def test_a_disk_that_is_made_read_only_under_a_team_can_be_read(
    file: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a system does it once a disk has errors; when it is mended, the same team is written again."""
    team = opened(str(file))
    _fill(team)
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda *_, **__: False)
        assert len(ids(team)) == 1
        with pytest.raises(TeamError) as caught:
            put(team, make_message(2))
        assert caught.value.code is Code.READ_ONLY
    put(team, make_message(2))
    assert len(ids(team)) == 2


@pytest.mark.parametrize("read_only", [True, False])
def test_a_pipe_beside_the_file_is_refused_and_not_waited_for(file: Path, read_only: bool) -> None:
    os.mkfifo(f"{file}-journal")
    end = os.open(f"{file}-journal", os.O_RDWR)  # else whoever forgets to refuse it hangs here instead of failing
    with closing(open_database(str(file), read_only=read_only)) as team:
        snapshot = team.snapshot()
        assert snapshot.condition is Condition.UNREADABLE
        assert f"{file}-journal is a pipe" in snapshot.problems[0].message
        if not read_only:
            with (
                pytest.raises(TeamError, match="is a pipe") as refused,
                team.transaction(actor="a", action="b", wait=0),
            ):
                pass
            assert refused.value.code is Code.STORE_UNREADABLE
    os.close(end)
    Path(f"{file}-journal").unlink()
    with closing(open_database(str(file), read_only=read_only)) as team:
        assert team.snapshot().condition is Condition.EMPTY
