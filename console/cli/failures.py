"""The verbs `failures`, `retry`, `redirect`, `discard` and `recall`: messages that were not delivered."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from team_console.console.cli.call import Call
from team_console.console.cli.main import Arg, VerbCommand, arg, flag, verb
from team_console.console.cli.printing import Cells, age_since, print_rows
from team_console.console.cli.talk import print_records
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.delivery_schedule import attempts_of, expires_at, max_attempts, next_attempt
from team_console.store.model.message import Message
from team_console.store.service.deliveries import Remedy, apply_remedy

# `failures`: what could not be delivered, with attempts, the next try and the last error.

_DEAD_LETTERS = ("failed", "expired")
"""Statuses of messages that nobody tries to deliver any more."""


@verb(flag("--failed", "only dead letters: no more tries will be made"))
def do_failures(call: Call) -> None:
    """List messages that failed, expired, or wait for another try. Then: team-console retry, redirect, discard or
    recall.

    Examples:
      team-console failures --failed"""
    snapshot = call.snapshot()
    messages = [
        message
        for message in snapshot.messages
        if message.status in _DEAD_LETTERS or (not call.options.failed and _is_put_off(message))
    ]
    messages.sort(key=lambda entry: (entry.status not in _DEAD_LETTERS, entry.order_by()[1]))
    listed = {"failures": [failure_json(message) for message in messages], "count": len(messages)}
    rows = [_failure_cells(message, snapshot.taken_at) for message in messages]
    print_rows(call, listed, snapshot, rows, "no failed deliveries")


def failure_json(message: Message) -> dict[str, Any]:
    """Return one failed message as `failures --json` prints it."""
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
    """Return whether a message failed and waits for another try."""
    return message.status == "retry" or (message.status == "pending" and message.envelope("error_message") is not None)


def _failure_cells(message: Message, now: datetime) -> Cells:
    following = next_attempt(message)
    wait = f"in {max(0, int((following - now).total_seconds()))} s" if following and following > now else "now"
    return {
        "STATE": message.status,
        "TRIES": f"{attempts_of(message)}/{max_attempts(message)}",
        "NEXT TRY": "-" if message.status in _DEAD_LETTERS else wait,
        "TO": ", ".join(message.recipients),
        "FROM": message.sender,
        "TYPE": message.type,
        "AGE": age_since(from_text(message.created), now),
        "MESSAGE": message.message_id,
        "LAST ERROR": str(message.envelope("error_message") or ""),
    }


# `retry`, `redirect`, `discard`, `recall`: what is done about messages that did not arrive, or should not.


_IDS = arg(
    "ids",
    "message ids; those that it does not apply to are named and left alone",
    nargs="+",
    metavar="ID",
    source="messages",
)


def _remedy_command(action: Remedy, word: str, description: str, *arguments: Arg) -> VerbCommand:
    """Return the verb that treats messages by `action`.

    Args:
        word: What is said of each message that was treated.
        arguments: What the verb takes besides their ids.
    """

    def run(call: Call) -> None:
        names = [one.names.strip("-") for one in arguments]
        receipt = apply_remedy(call.caller, action, call.options.ids, **{n: getattr(call.options, n) for n in names})
        print_records(call, receipt, word)

    run.__doc__ = description
    return verb(_IDS, *arguments)(run)


do_retry = _remedy_command(
    Remedy.RETRY,
    "pending again:",
    """Make messages pending again that failed, expired or wait for another try; each gets all its tries again.

Examples:
  team-console retry ID""",
)
do_redirect = _remedy_command(
    Remedy.REDIRECT,
    "redirected:",
    """Give messages that nobody has received yet to another agent. Id, sender and content stay.

Examples:
  team-console redirect ID --to helper""",
    arg("--to", "the agent to take them", required=True, metavar="NAME", source="agents"),
)
do_discard = _remedy_command(
    Remedy.DISCARD,
    "discarded:",
    """Remove dead letters from the queue. They stay readable in the history of their agent.

Examples:
  team-console discard ID --reason "The agent is gone\"""",
    arg("--reason", "why; kept in the audit trail", required=True, metavar="TEXT"),
)
do_recall = _remedy_command(
    Remedy.RECALL,
    "recalled:",
    """Take back messages that nobody has received yet; delivered and read ones stay.

Examples:
  team-console recall ID""",
)
