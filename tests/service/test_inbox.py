"""Receiving and acknowledging (seed 000, requirements 6-48; decision D3)."""

from __future__ import annotations

import pytest
from team_console.store.service import inbox, sending

from tests.equipment.memory_team import MemoryTeam
from tests.service.conftest import SeatOf


def _send(
    caller: SeatOf, text: str, *, to: str = "file-manager", priority: str | None = None, type: str = "message"
) -> str:
    return (
        sending.send(caller("ceo"), to=to, content=text, summary=text, priority=priority, type=type)
        .messages[0]
        .message_id
    )


def test_the_queue_stays_small_and_history_keeps_everything(team: MemoryTeam, caller: SeatOf) -> None:
    for number in range(130):
        _send(caller, f"message {number}")
    inbox.receive(caller("file-manager"), agent="file-manager")
    assert [message.status for message in team.snapshot().messages] == ["read"] * 130
    _send(caller, "one more")
    inbox.receive(caller("file-manager"), agent="file-manager")
    assert len(team.snapshot().messages) == team.config().active_messages_max + 1
    assert len(team.history(agent="file-manager", limit=500).messages) == 131


@pytest.mark.parametrize(
    ("counted", "tries"),
    [({"retry_count": 2}, 3), ({"attempts": 2, "retry_count": 1}, 3), ({"attempts": True}, 1)],
    ids=["retries of another router", "both", "no number"],
)
def test_a_lease_is_one_try_more_than_were_counted_before(
    team: MemoryTeam, caller: SeatOf, counted: dict[str, object], tries: int
) -> None:
    message_id = _send(caller, "work")
    with team.transaction(actor="ceo", action="edit", wait=1) as tx:
        message = tx.get(message_id)
        assert message is not None
        tx.replace(message, message.with_changes(**counted))
        tx.record("edit")
    (claimed,) = inbox.receive(caller("file-manager"), agent="file-manager", lease=60).messages
    assert claimed.envelope("attempts") == tries
