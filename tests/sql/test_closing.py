"""A connection that is in use when its team is closed closes with its user: none is left open (Python 3.13 warns)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.conftest import Open
from tests.store.contract import make_message, put


def test_a_connection_in_use_while_the_team_is_closed_is_closed_afterwards(place: str, opened: Open) -> None:
    team = opened(place)
    with team._dialect.connect() as connection:
        raw: Any = connection.driver
        team.close()
        assert raw.execute("SELECT 1").fetchone() == (1,)
    with pytest.raises(Exception, match="closed"):
        raw.execute("SELECT 1")


def test_what_was_written_since_a_team_was_closed_is_seen(place: str, opened: Open) -> None:
    """SQLite's number of changes begins anew with every connection."""
    team = opened(place)
    assert team.snapshot().messages == ()
    team.close()
    put(opened(place), make_message(1))
    assert len(team.snapshot().messages) == 1


def test_a_team_that_was_closed_can_be_used_again(place: str, opened: Open) -> None:
    team = opened(place)
    team.close()
    assert team.snapshot().is_known
    assert team.history().messages == ()
