"""What rows and details say: titles, inboxes, broadcasts, reports, suggestions of clients and nested values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from team_console.store.model.message import Message
from team_console.store.protocol.membership import report_of
from team_console.store.protocol.suggestions import suggestion_words
from team_console.store.protocol.titles import message_title, structure
from team_console.store.views.conversation import gathered_copies
from team_console.store.views.rows import DeliveryRow, DeliveryState

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, START, Chronicle
from tests.equipment.teams import make_message


def title(kind: str, payload: Mapping[str, Any]) -> str:
    story = Chronicle()
    message = story.say("debugger", LEAD, kind)
    return message_title(message.with_changes(payload=dict(payload)))


@cases
def test_the_title_says_what_it_is_about(kind: str, payload: dict[str, Any], wanted: str) -> None:
    assert title(kind, payload) == wanted.strip()


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


def _rows(story: Chronicle, *, after: float = 0.0) -> dict[str, DeliveryRow]:
    return {delivery.key: delivery for delivery in story.view(after=after).deliveries}


def test_unread_messages_come_first_by_urgency_and_age_then_the_read_ones_newest_first() -> None:
    story = Chronicle()
    for number, (priority, status) in enumerate(
        [("low", "pending"), ("high", "read"), ("high", "pending"), ("critical", "pending"), ("low", "read")]
    ):
        story.say(LEAD, "debugger", id=f"m{number}", priority=priority, status=status)
    story.say(LEAD, "debugger", id="m5", priority="high")
    assert [inbox.message_id for inbox in story.view().inboxes["debugger"]] == ["m3", "m2", "m5", "m0", "m4", "m1"]


def test_a_retry_shows_its_attempts_its_next_one_and_its_error() -> None:
    story = Chronicle()
    story.say(
        *(LEAD, "debugger"),
        id="m",
        status="retry",
        attempts=2,
        next_attempt_at="2026-02-24T10:01:00Z",
        error_message="busy",
    )
    delivery = _rows(story)["m"]
    assert (delivery.state, delivery.attempts, delivery.max_attempts, delivery.error) == (
        DeliveryState.RETRY,
        2,
        4,
        "busy",
    )
    assert delivery.next_attempt_at == START + timedelta(minutes=1)
    assert delivery.expires_at == START + timedelta(days=7, minutes=1)


def test_failed_ones_come_first_and_what_was_read_is_no_delivery() -> None:
    story = Chronicle()
    for status in ("pending", "read", "recalled", "retry", "failed", "expired", "delivered", "claimed"):
        story.say(LEAD, "debugger", id=status, status=status)
    order = ["failed", "expired", "retry", "pending", "claimed", "delivered", "recalled"]
    assert [delivery.key for delivery in story.view().deliveries] == order


@cases
def test_a_broadcast_reports_its_counts_or_its_summary(payload: dict[str, object], text: str) -> None:
    report = report_of(make_message(type="broadcast", payload=payload))
    assert report is not None
    assert report.text == text


def report(story: Chronicle, running: int, *, sender: str = "task-manager") -> None:
    text = f"{running} running, 3 done, 2 to be assigned"
    story.say(sender, LEAD, "broadcast", summary=f"Task queue status: {running} run", content=text)


def test_a_newer_report_stands_for_the_older_ones_in_needs_you() -> None:
    story = Chronicle()
    report(story, 5)
    report(story, 4)
    report(story, 9, sender="file-manager")
    story.say("task-manager", LEAD, "broadcast", summary="Export is down", content="Printers too")
    items = story.view().attention
    assert sorted((item.who, item.title) for item in items) == [
        ("file-manager", "Task queue status: 9 run"),
        ("task-manager", "Export is down"),
        ("task-manager", "Task queue status: 4 run"),
    ]
    assert any("replaces 1 earlier report" in item.why for item in items)
    story.change(story.messages[1], status="read", read_at="2026-02-24T10:05:00Z")
    assert "Task queue status: 5 run" not in [item.title for item in story.view().attention]


@cases
def test_a_suggestion_is_told_in_the_words_of_its_client(suggestion: Any, words: str) -> None:
    assert suggestion_words(suggestion) == words


def test_nested_values_look_like_yaml() -> None:
    roster = {"residents": ["sm", "kr"], "temps": []}
    value = {"id": "DBG-1", "roster": roster, "fix": "one\ntwo", "none": None, "yes": True}
    assert structure(value) == (
        "id: DBG-1\nroster:\n  residents:\n    - sm\n    - kr\n  temps: []\nfix: |\n  one\n  two\nnone: null\nyes: true"
    )
    assert structure([{"a": 1, "b": 2}, {"a": 3}]) == "- a: 1\n  b: 2\n- a: 3"


def test_deep_nesting_is_shown_to_its_bottom_and_length_to_its_end() -> None:
    deep: object = "bottom"
    for _ in range(500):
        deep = [deep]
    assert '"bottom"' in structure(deep)
    for _ in range(100_000):
        deep = [deep]
    assert "nested deeper than can be shown" in structure(deep)
    assert structure(list(range(10_000))).endswith("- 9999")
