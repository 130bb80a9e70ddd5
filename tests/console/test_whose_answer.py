"""Whose answer a request waits for, as keys of the console know it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from team_console.console.selection import ActionContext, Mode, Selection
from team_console.store.model.message import Message, new_record
from team_console.store.protocol.judgement import judge
from team_console.store.protocol.request_row import RequestRow
from team_console.store.settings.team_config import TeamConfig

from tests.equipment.cases import cases

NOW = datetime(2026, 2, 24, 10, 5, tzinfo=UTC)
TEAM = TeamConfig(lead="ceo")


def message(
    number: int, *, type: str = "message", sender: str = "slave-1", to: str = "ceo", **payload: object
) -> Message:
    """A message of the team, in the order of its number."""
    created = f"2026-02-24T10:0{number}:00Z"
    return new_record(
        message_id=f"MSG-{number}", type=type, sender=sender, to=to, created=created, priority="medium", payload=payload
    )


def context(row: RequestRow, *, me: str = "ceo") -> ActionContext:
    """The context of a key while the cursor is on this request."""
    return ActionContext(Mode.REQUESTS, me, "ceo", selection=Selection(key=row.key, request=row))


@cases
def test_what_asks_for_a_result_is_not_answered_in_words(name: str, body: dict[str, object]) -> None:
    """A reply in words leaves it open, so the console must not say that words are wanted, and mark it read."""
    question = message(1, summary="s", content=f"{name}: {json.dumps({'msg_type': name, **body})}")
    reply = message(2, sender="ceo", to="slave-1", summary="s", content="look at the log", in_reply_to="MSG-1")
    row = judge([question, reply], TEAM, None, NOW)[question]
    asked = context(row)
    assert row.is_open
    assert (asked.wants_words, asked.no_verdict_on(row)) == (False, "its result comes from the agent asked")


def test_what_is_put_to_everybody_may_be_answered_by_anybody() -> None:
    asked = message(1, type="clarify", to="all", question="Which?", context="the report")
    row = judge([asked], TEAM, None, NOW)[asked]
    assert context(row, me="reviewer").wants_words
