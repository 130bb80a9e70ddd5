"""What a human says about a request without deciding it is on record in every kind of team: no mark warns of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.api import join_team
from team_console.store.backends.open import QUEUE_NAME
from team_console.store.backends.sql.open import create_database
from team_console.store.settings.team_config import CONFIG_NAME

from tests.sql.conftest import SETTINGS

NOTE = "one two three four five"


@pytest.fixture(params=["folder", "sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A new team of each kind."""
    if request.param == "folder":
        (tmp_path / CONFIG_NAME).write_text(SETTINGS)
        (tmp_path / QUEUE_NAME).write_text("messages: []\n")
        yield str(tmp_path)
        return
    at = str(request.getfixturevalue("postgres")) if request.param == "postgresql" else str(tmp_path / "team.db")
    create_database(at, SETTINGS)
    yield at


def test_a_reply_of_the_lead_to_a_request_is_handed_out_without_a_mark(location: str) -> None:
    with join_team(location, "architect") as agent, join_team(location, "ceo") as lead:
        plan = agent.submit_plan("Split the parser.\n", summary=NOTE)
        lead.send("architect", "Which file first?", summary=NOTE, in_reply_to=plan.request_id)
        (words,) = agent.receive().messages
        assert (words.content, words.envelope("trust")) == ("Which file first?", None)
        assert plan.look().is_open
