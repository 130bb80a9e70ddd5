"""Receiving and acknowledging (seed 000, requirements 6-48; decision D3)."""

from __future__ import annotations

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import from_record
from team_console.store.service import inbox, sending

from tests.memory_team import MemoryTeam
from tests.service.conftest import SeatOf
from tests.store.contract import FakeClock, put


def _send(
    caller: SeatOf, text: str, *, to: str = "file-manager", priority: str | None = None, type: str = "message"
) -> str:
    return (
        sending.send(caller("ceo"), to=to, content=text, summary=text, priority=priority, type=type)
        .messages[0]
        .message_id
    )


def test_receiving_marks_as_read_archives_and_hands_out_once(team: MemoryTeam, caller: SeatOf) -> None:
    sent = _send(caller, "first")
    got = inbox.receive(caller("file-manager"), agent="file-manager")
    assert got.status_message == "Messages for file-manager: 1"
    assert got.as_json()["messages"][0]["status"] == "read"
    assert [message.message_id for message in team.history(agent="file-manager").messages] == [sent]
    again = inbox.receive(caller("file-manager"), agent="file-manager")
    assert again.as_json() == {"messages": [], "count": 0, "status_message": "No pending messages for file-manager"}


def test_an_empty_queue_says_so_with_the_same_three_keys(caller: SeatOf) -> None:
    got = inbox.receive(caller("file-manager"), agent="file-manager")
    assert got.as_json() == {"messages": [], "count": 0, "status_message": "No messages in queue"}


def test_the_most_urgent_comes_first_and_the_oldest_within_a_priority(caller: SeatOf, clock: FakeClock) -> None:
    sent = []
    for text, priority in (("low", "low"), ("old", "high"), ("new", "high"), ("now", "critical")):
        sent.append(_send(caller, text, priority=priority))
        clock.advance(1)
    got = inbox.receive(caller("file-manager"), agent="file-manager")
    assert [message.message_id for message in got.messages] == [sent[3], sent[1], sent[2], sent[0]]


def test_a_type_filter_leaves_the_others_pending(team: MemoryTeam, caller: SeatOf) -> None:
    _send(caller, "plain")
    got = inbox.receive(caller("file-manager"), agent="file-manager", type="notify")
    assert got.messages == ()
    assert team.snapshot().messages[0].status == "pending"


def test_peeking_changes_nothing(team: MemoryTeam, caller: SeatOf) -> None:
    _send(caller, "first")
    before = team.snapshot().revision
    got = inbox.receive(caller("file-manager"), agent="file-manager", mark_read=False)
    assert len(got.messages) == 1
    assert team.snapshot().revision == before
    assert team.history().messages == ()


def test_one_reader_of_a_group_record_does_not_hide_it_from_the_others(team: MemoryTeam, caller: SeatOf) -> None:
    record = {
        "message_id": "G-1",
        "type": "notify",
        "from": "ceo",
        "to_agents": "all",
        "created": "2026-02-24T10:00:00Z",
        "status": "pending",
        "payload": {"message": "hello"},
    }
    put(team, from_record(record))
    for name in ("file-manager", "task-manager", "knowledge-manager"):
        assert [message.message_id for message in inbox.receive(caller(name), agent=name).messages] == ["G-1"]
        assert inbox.receive(caller(name), agent=name).messages == ()
    (stored,) = team.snapshot().messages
    assert stored.status == "read"
    assert set(stored.read_by) == {"file-manager", "task-manager", "knowledge-manager"}


def test_a_leased_message_is_hidden_until_the_lease_ends_then_handed_out_again(
    team: MemoryTeam, caller: SeatOf, clock: FakeClock
) -> None:
    _send(caller, "work")
    first = inbox.receive(caller("file-manager"), agent="file-manager", lease=60)
    assert first.messages[0].status == "claimed"
    assert inbox.receive(caller("file-manager"), agent="file-manager", lease=60).messages == ()
    clock.advance(61)
    second = inbox.receive(caller("file-manager"), agent="file-manager", lease=60)
    assert second.messages[0].envelope("attempts") == 2
    with pytest.raises(TeamError) as late:
        inbox.acknowledge(
            caller("file-manager"),
            ids=[first.messages[0].message_id],
            token=str(first.messages[0].envelope("token")),
        )
    assert late.value.code is Code.NOT_PERMITTED


def test_acknowledging_reads_and_archives_and_twice_is_a_no_op(team: MemoryTeam, caller: SeatOf) -> None:
    message_id = _send(caller, "work")
    inbox.receive(caller("file-manager"), agent="file-manager", lease=60)
    assert inbox.acknowledge(caller("file-manager"), ids=[message_id]).repeated is False
    assert inbox.acknowledge(caller("file-manager"), ids=[message_id]).repeated is True
    assert team.snapshot().messages[0].status == "read"
    assert len(team.history(agent="file-manager").messages) == 1


def test_acknowledging_what_was_never_received_or_is_anothers_is_refused(caller: SeatOf) -> None:
    message_id = _send(caller, "work")
    for name in ("file-manager", "task-manager"):
        with pytest.raises(TeamError):
            inbox.acknowledge(caller(name), ids=[message_id])


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
    [({"retry_count": 2}, 3), ({"attempts": 2, "retry_count": 1}, 3), ({"attempts": True}, 1), ({}, 1)],
    ids=["retries of another router", "both", "no number", "nothing"],
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
