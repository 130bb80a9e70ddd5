"""Facts for the record: which messages open, answer or take back a request, so that the audit trail keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from team_console.store.model.message import Message, from_record
from team_console.store.model.recorded import RecordedFact
from team_console.store.protocol.kinds.kind import Kind
from team_console.store.protocol.kinds.registry import CARRIERS, KINDS, carried_name
from team_console.store.protocol.reading import reading

_QUOTING = ("request_id", "requestId", "in_reply_to", "approve", "approved")
"""Keys by which a message of any kind may belong to a request."""


def is_answer(message: Message) -> bool:
    """Whether a message answers a request or takes one back, so that its content may not change once recorded."""
    read = reading(message)
    if read.kind is None or read.opens is not None:
        return False
    return read.answers is not None or read.kind.withdraws or (read.request_id is not None and read.approve is not None)


def fact_of(
    raw: bytes, record: Mapping[str, Any], *, line: int, at: datetime | None, by_desk: bool, in_time: bool
) -> RecordedFact | None:
    """What a record on the trail tells of a request, None when it belongs to none.

    Args:
        raw: The record as JSON.
        line, at, by_desk, in_time: As in `RecordedFact`.
    """
    if not _may_belong(record):
        return None
    try:
        message = from_record(record)
    except ValueError:
        return None
    read = reading(message)
    if read.request_id is None and read.answers is None:
        return None
    is_question = read.opens is not None
    return RecordedFact(
        message.message_id,
        line,
        at,
        message.created_at,
        by_desk,
        None if is_question else read.request_id,
        b"" if is_question else raw,
        in_time,
    )


def _may_belong(record: Mapping[str, Any]) -> bool:
    """A quick look that lets every question and answer through, and few others."""
    payload = record.get("payload")
    if not isinstance(payload, dict):
        return True
    name = record.get("type")
    if not isinstance(name, str):
        return True
    if name in CARRIERS:
        name = carried_name(name, payload) or name
    kind = KINDS.get(name)
    if kind is not None and _concerns_requests(kind):
        return True
    return any(key in payload or key in record for key in _QUOTING)


def _concerns_requests(kind: Kind) -> bool:
    return kind.opens is not None or kind.answers is not None or kind.withdraws
