"""Copies of one broadcast as one message: which belong together, and what is told of all of them."""

from __future__ import annotations

from typing import Any

from team_console.store.model.message import Message
from team_console.store.views.conversation import gathered_copies

from tests.equipment.cases import cases
from tests.equipment.teams import make_message


def copy(number: int, to: str, **changes: Any) -> Message:
    """One copy of the broadcast `BC-1`."""
    base = make_message(number, to=to, type="broadcast", broadcast_id="BC-1", created="2026-02-24T10:30:00Z")
    payload = {"summary": "The freeze begins", "content": "Commit before."}
    return base.with_changes(payload=payload, **changes)


@cases
def test_whatever_differs_is_not_hidden_behind_a_broadcast(changes: dict[str, Any]) -> None:
    other = copy(3, "c").with_changes(**changes)
    rows = list(gathered_copies((copy(1, "a"), copy(2, "b"), other)))
    assert (other,) in rows
    assert sorted(len(row) for row in rows) == [1, 2]


def test_many_copies_are_gathered_with_one_look_at_each() -> None:
    """A look at each pair of them would not end within a test's time."""
    copies = [copy(number, f"agent-{number}") for number in range(5_000)]
    (row,) = gathered_copies(copies)
    assert len(row) == 5_000
