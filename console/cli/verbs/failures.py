"""`failures`: what could not be delivered, with attempts, the next try and the last error."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from team_console.console.cli.call import Call
from team_console.console.cli.printing.table import age_since, print_table
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.message import Message
from team_console.store.model.schedule import attempts_of, expires_at, max_attempts, next_attempt

_TROUBLED = ("failed", "expired", "retry")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "List messages that are failed, expired or put off for another try. Then: team-console retry, redirect,\n"
        "discard or recall."
    )
    parser.add_argument("--failed", action="store_true", help="only dead letters: no more tries will be made")


def run(call: Call) -> int:
    """Dead letters first, the oldest on top."""
    snapshot = call.snapshot()
    words = _TROUBLED[:2] if call.options.failed else _TROUBLED
    messages = [message for message in snapshot.messages if message.status in words or _is_put_off(message)]
    messages = [message for message in messages if not (call.options.failed and _is_put_off(message))]
    messages.sort(key=lambda entry: (entry.status not in _TROUBLED[:2], entry.order[1]))
    if call.out.as_json:
        failures = [as_json(message) for message in messages]
        call.print_list({"failures": failures, "count": len(failures)}, snapshot)
    elif not messages:
        call.out.say("no failed deliveries")
    else:
        heads = ("STATE", "TRIES", "NEXT TRY", "TO", "FROM", "TYPE", "AGE", "MESSAGE", "LAST ERROR")
        print_table(call.out, heads, [_cells(message, snapshot.taken_at) for message in messages])
    call.tell_doubt(snapshot)
    call.tell_stranger(snapshot)
    return 0


def as_json(message: Message) -> dict[str, Any]:
    """One row of the failure desk."""
    following, end = next_attempt(message), expires_at(message)
    return {
        "message_id": message.message_id,
        "status": message.status,
        "sender": message.sender,
        "recipient": ", ".join(message.recipients),
        "message_type": message.type,
        "attempts": attempts_of(message),
        "max_attempts": max_attempts(message),
        "error_message": message.envelope("error_message"),
        "next_attempt_at": to_text(following) if following else None,
        "expires_at": to_text(end) if end else None,
        "created_at": message.created,
    }


def _is_put_off(message: Message) -> bool:
    return message.status == "pending" and message.envelope("error_message") is not None


def _cells(message: Message, now: datetime) -> tuple[str, ...]:
    following = next_attempt(message)
    wait = f"in {max(0, int((following - now).total_seconds()))} s" if following and following > now else "now"
    return (
        message.status,
        f"{attempts_of(message)}/{max_attempts(message)}",
        "-" if message.status in _TROUBLED[:2] else wait,
        ", ".join(message.recipients),
        message.sender,
        message.type,
        age_since(from_text(message.created), now),
        message.message_id,
        str(message.envelope("error_message") or ""),
    )
