"""Make the facts that the audit trail keeps of requests and answers out of its records."""

from __future__ import annotations

from datetime import datetime

from team_console.store.model.message import Fields, Message, from_record
from team_console.store.model.recorded_facts import RecordedFact
from team_console.store.protocol.grants import use_in
from team_console.store.protocol.kinds import UNKNOWN, kind_of
from team_console.store.protocol.membership import CREATED, created_agent
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.sprint_in_text import carried_name

_QUOTING = ("request_id", "requestId", "in_reply_to", "approve", "approved")
"""Keys by which a message of any kind may belong to a request."""


def is_answer(message: Message) -> bool:
    """Return whether a message answers a request or takes one back, so that its content may not change once
    recorded.
    """
    read = parse_message(message)
    if read.kind is UNKNOWN or read.opens is not None:
        return False
    return read.answers is not None or read.kind.withdraws or (read.request_id is not None and read.approve is not None)


def fact_of(
    raw: bytes, record: Fields, *, line: int, at: datetime | None, by_desk: bool, in_time: bool
) -> RecordedFact | None:
    """Return the fact that a record of the trail tells of a request; None when it belongs to none.

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
    read = parse_message(message)
    if read.request_id is None and read.answers is None:
        return None
    is_question = read.opens is not None
    use = use_in(message)
    return RecordedFact(
        message_id=message.message_id,
        line=line,
        at=at,
        created=message.created_at,
        by_desk=by_desk,
        request_id=None if is_question else read.request_id,
        record=b"" if is_question else raw,
        in_time=in_time,
        grant=use.grant_id,
        use=use.number,
        creates=(created_agent(read) or "") if read.name == CREATED else "",
    )


def _may_belong(record: Fields) -> bool:
    """Return whether it may be a question or an answer; quick, and lets few others through."""
    payload, name = record.get("payload"), record.get("type")
    if not isinstance(payload, dict) or not isinstance(name, str):
        return True
    kind = kind_of(carried_name(name, payload) or name)
    if kind.request_kind is not None or kind.withdraws:
        return True
    return any(key in payload or key in record for key in _QUOTING)
