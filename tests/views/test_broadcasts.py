"""Copies of one broadcast as one message: which belong together, and what is told of all of them."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.model.message import Message
from team_console.store.views.conversation import as_one, gathered_copies

from tests.equipment.teams import make_message

READ, LATE = {"status": "read", "read_at": "2026-02-24T10:31:00Z"}, {"status": "failed", "error_message": "exit 75"}


def copy(number: int, to: str, **changes: Any) -> Message:
    """One copy of the broadcast `BC-1`."""
    base = make_message(number, to=to, type="broadcast", broadcast_id="BC-1", created="2026-02-24T10:30:00Z")
    payload = {"summary": "The freeze begins", "content": "Commit before."}
    return base.with_changes(payload=payload, **changes)


def test_neighbours_of_one_broadcast_come_together_and_others_stay_alone() -> None:
    alone, last = make_message(8), copy(9, "d", created="2026-02-24T10:29:00Z")
    copies = copy(1, "a"), copy(2, "b"), copy(3, "c")
    assert list(gathered_copies((alone, *copies, last))) == [(alone,), copies, (last,)]


@pytest.mark.parametrize(
    "changes",
    [
        {"payload": {"summary": "The freeze begins", "content": "Drop the database."}},
        {"from": "mallory"},
        {"type": "message"},
        {"priority": "critical"},
        {"to": "a"},
        {"to": None, "to_agents": ["x", "y"]},
        {"broadcast_id": "BC-2"},
    ],
)
def test_whatever_differs_is_not_hidden_behind_a_broadcast(changes: dict[str, Any]) -> None:
    other = copy(3, "c").with_changes(**changes)
    rows = list(gathered_copies((copy(1, "a"), copy(2, "b"), other)))
    assert (other,) in rows
    assert sorted(len(row) for row in rows) == [1, 2]


def test_one_message_goes_to_all_and_names_who_read_it() -> None:
    one = as_one((copy(2, "b", **READ), copy(1, "a"), copy(3, "c", status="delivered")))
    assert one.message_id == copy(1, "a").message_id
    assert one.recipients == ("b", "a", "c")
    assert dict(one.read_by) == {"b": READ["read_at"]}
    assert (one.status, one.summary) == ("pending", "The freeze begins")


@pytest.mark.parametrize(
    ("states", "told"),
    [
        (("read", "read"), "read"),
        (("read", "delivered"), "delivered"),
        (("delivered", "pending"), "pending"),
        (("pending", "failed"), "failed"),
        (("read", "recalled"), "recalled"),
        (("read", "a word of another program"), "a word of another program"),
    ],
)
def test_its_state_is_the_one_that_is_least_on_its_way(states: tuple[str, str], told: str) -> None:
    assert as_one([copy(number, f"a{number}", status=word) for number, word in enumerate(states)]).status == told


def test_many_copies_are_gathered_with_one_look_at_each() -> None:
    """A look at each pair of them would not end within a test's time."""
    copies = [copy(number, f"agent-{number}") for number in range(5_000)]
    (row,) = gathered_copies(copies)
    assert len(row) == 5_000
