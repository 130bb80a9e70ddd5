"""The rows of a roster that is followed: made anew exactly when what they say may be another thing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from team_console.store.model.message import Message
from team_console.store.views.board import Board
from team_console.store.views.rows import AgentState, RosterRow

from tests.views.chronicle import AGENTS, LEAD, START, Chronicle, snapshot_of

NEVER = "9999-12-31T23:59:59.999999Z"


class Followed:
    """One board that sees each state of a queue."""

    def __init__(self) -> None:
        self._board = Board(LEAD)

    def rows(self, messages: Iterable[Message], *, at: datetime) -> dict[str, RosterRow]:
        """Name -> row at a moment."""
        return {row.name: row for row in self._board.update(snapshot_of(messages), at).roster}


def test_a_message_makes_the_rows_of_its_two_agents_anew_and_no_others() -> None:
    story, followed = Chronicle(), Followed()
    story.say("file-manager", "debugger")
    before = followed.rows(story.messages, at=story.now)
    story.say("file-manager", "debugger")
    after = followed.rows(story.messages, at=story.now)
    anew = {name for name, row in after.items() if row is not before[name]}
    assert anew == {"file-manager", "debugger"}
    assert len(after) == len(AGENTS)


def test_the_clock_alone_makes_an_active_agent_one_that_rests_and_no_sooner() -> None:
    story, followed = Chronicle(), Followed()
    story.say("file-manager", LEAD)
    states = [
        followed.rows(story.messages, at=story.now + timedelta(seconds=after))["file-manager"].state
        for after in (0, 299, 300, 300.001, 5000, 10)
    ]
    assert states == [AgentState.ACTIVE] * 3 + [AgentState.IDLE] * 2 + [AgentState.ACTIVE]


def test_a_date_at_the_end_of_all_time_is_no_trouble() -> None:
    story, followed = Chronicle(), Followed()
    late = story.say("file-manager", LEAD).with_changes(created=NEVER)
    rows = followed.rows([late], at=START)
    assert (
        rows["file-manager"].last_seen == followed.rows([late], at=START + timedelta(days=1))["file-manager"].last_seen
    )
