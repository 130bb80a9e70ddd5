"""Skipped messages: what a pass of the router left where it is although it is on its way, and why."""

from __future__ import annotations

from collections.abc import Iterator

from team_console.store.contract.team import Snapshot
from team_console.store.desk.delivery.attempts import Choice, Delivered, Skipped
from team_console.store.desk.delivery.delivery_state import serves
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message, Status
from team_console.store.model.names import USER
from team_console.store.model.schedule import ON_ITS_WAY, is_held, lease_end, next_attempt
from team_console.store.settings.team_config import TeamConfig


def skipped(snapshot: Snapshot, choice: Choice, done: Delivered) -> tuple[Skipped, ...]:
    """What the pass that ended as `done` left; `snapshot` was taken after it."""
    tried = {(attempt.message.message_id, attempt.recipient) for attempt in done.attempts}
    return tuple(
        Skipped(message, name, reason)
        for message in snapshot.messages
        if message.status in ON_ITS_WAY or message.status == Status.CLAIMED
        for name, reason in _reasons(snapshot, message)
        if (message.message_id, name) not in tried
        and (choice.recipients is None or name in choice.recipients)
        and (choice.ids is None or choice.most is not None or message.message_id in choice.ids)
    )


def _reasons(snapshot: Snapshot, message: Message) -> Iterator[tuple[str, str]]:
    for name in message.recipients:
        if name not in message.read_by and name not in message.delivered_to:
            yield name, _reason(snapshot, message, name)


def _reason(snapshot: Snapshot, message: Message, name: str) -> str:
    config: TeamConfig = snapshot.config
    now, put_off, held_until = snapshot.taken_at, next_attempt(message), lease_end(message)
    if not serves(config, name):
        return "the human reads it in the console" if name == USER else "the lead reads it in the console"
    if is_held(message, now) and held_until is not None:
        holder = message.envelope("claimed_by") or "somebody"
        return f"held by {holder} until {to_text(held_until, milliseconds=False)}"
    if put_off is not None and put_off > now:
        return f"put off until {to_text(put_off, milliseconds=False)}"
    return "not in this batch"
