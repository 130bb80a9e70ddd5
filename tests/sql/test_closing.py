"""A connection that is in use when its team is closed closes with its user: none is left open (Python 3.13 warns)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.conftest import Open


def test_a_connection_in_use_while_the_team_is_closed_is_closed_afterwards(place: str, opened: Open) -> None:
    team = opened(place)
    with team._dialect.connect() as connection:
        raw: Any = connection.connection.driver_connection
        team.close()
        assert raw.execute("SELECT 1").fetchone() == (1,)
    with pytest.raises(Exception, match="closed"):
        raw.execute("SELECT 1")


def test_a_team_that_was_closed_can_be_used_again(place: str, opened: Open) -> None:
    team = opened(place)
    team.close()
    assert team.snapshot().is_known
    assert team.history().messages == ()
