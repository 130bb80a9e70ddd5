"""Inboxes and deliveries: what each agent finds, and what is still on its way."""

from __future__ import annotations

from datetime import timedelta

from team_console.store.views.rows import DeliveryRow, DeliveryState

from tests.equipment.chronicle import LEAD, START, Chronicle


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
