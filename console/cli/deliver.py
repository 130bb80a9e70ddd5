"""Verbs of deliveries: `deliver`, `failures`, and what is done about them: `retry`, `redirect`, `discard`, `recall`."""

from __future__ import annotations

import signal
import threading
from datetime import datetime
from typing import Any

from team_console.console.cli.arguments import DAY, Arg, VerbCommand, arg, flag, seconds, verb
from team_console.console.cli.call import Call, UsageError, split_names
from team_console.console.cli.printing import Cells, age_since, print_rows
from team_console.console.cli.sending import print_records
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.delivery_schedule import attempts_of, expires_at, max_attempts, next_attempt
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.service.deliveries import PassResult, Remedy, apply_remedy

# `deliver`: pushes due messages to their agents, once or in a loop.


@verb(
    flag("--loop", "continue until interrupted"),
    arg("--to", "serve only these agents (one pass)", action="append", metavar="NAME[,NAME]", source="agents"),
    seconds("--timeout", "the time limit of every command, instead of its own", DAY),
)
def do_deliver(call: Call) -> None:
    """Push every due message to its agent: to the command in its settings, else into its inbox file. A failed
    message is tried again after 30, 60 and 120 seconds, then kept as failed. The human and the lead get nothing
    pushed unless they have a command. Agents that use 'receive' need no router.

    Any number of routers may run: each message goes out once. The exception is a command: if a router is killed
    while one runs, nobody knows what it did, and the message is handed out again after its time limit, with the
    same message_id and a higher 'attempts'.

    Examples:
      team-console deliver --loop"""
    from team_console.store.service.router import deliver  # 15 ms: processes, for which no other verb here has a use

    options = call.options
    only = _agents_to_serve(options.to)
    call.warn_of_stranger()
    if not options.loop:
        for name in (signal.SIGTERM, signal.SIGHUP):  # a claim left behind would hold its message back
            signal.signal(name, signal.default_int_handler)
        done = deliver(call.caller, only=only, limit=options.timeout)
        _print_deliveries(call, done)
        for left in done.skipped if not call.as_json else ():
            call.say(f"skipped: {left.message.message_id} -> {left.recipient}: {left.error}")
        return
    if only is not None:
        raise UsageError("--to is for one pass", "Leave out --loop or --to.")
    _deliver_in_loop(call)


def _agents_to_serve(given: list[str] | None) -> list[str] | None:
    """Return the agents that were named, None for all.

    Raises:
        TeamError: `MISSING_RECIPIENT` for an empty name: a script whose variable is not set does not mean all.
    """
    if given is None:
        return None
    names = split_names(given)
    if not names:
        raise TeamError(Code.MISSING_RECIPIENT, "--to names nobody", "Name an agent, or leave --to out to serve all.")
    return names


def _deliver_in_loop(call: Call) -> None:
    """Deliver until a signal ends it, and print each pass and what keeps one from being made."""
    from team_console.store.service.router import deliver_loop  # as in `do_deliver`

    stop = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda number, frame: stop.set())
    call.note(f"delivering for {call.team.location}; Ctrl-C ends it after what it has begun")

    def report(done: PassResult) -> None:
        _print_deliveries(call, done)
        call.flush()

    def trouble(error: TeamError) -> None:
        call.note(f"waiting: {error.message} ({error.code})")

    deliver_loop(call.caller, stop=stop, limit=call.options.timeout, report=report, trouble=trouble)


def _print_deliveries(call: Call, done: PassResult) -> None:
    """Print what one pass did: what was delivered, failed and expired."""
    if call.as_json:
        call.json(_pass_json(call, done))
        return
    for attempt in done.attempts:
        what = f"{attempt.message.message_id} -> {attempt.recipient}"
        if attempt.error is None:
            call.say(f"delivered: {what}")
        else:
            call.say(f"failed: {what} ({attempt.message.status}): {attempt.error}")
    for message in done.expired:
        call.say(f"expired: {message.message_id} -> {', '.join(message.recipients)}")
    if not (done.attempts or done.expired):
        call.say("nothing was due")


def _pass_json(call: Call, done: PassResult) -> dict[str, Any]:
    """Return what one pass did, as `deliver --json` prints it."""
    return {
        "success": True,
        "action": "deliver",
        **done.counts_json(),
        **done.refused_json(),
        "failures": [
            {
                "message_id": attempt.message.message_id,
                "recipient": attempt.recipient,
                "status": attempt.message.status,
                "error": attempt.error,
                "next_attempt_at": attempt.message.envelope("next_attempt_at"),
            }
            for attempt in done.failed
        ],
        **done.skipped_json(),
        "next_due": to_text(done.next_due) if done.next_due else None,
        "timestamp": to_text(call.team.clock(), milliseconds=False),
    }


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
    listed = {"failures": [_failure_json(message) for message in messages], "count": len(messages)}
    rows = [_failure_cells(message, snapshot.taken_at) for message in messages]
    print_rows(call, listed, snapshot, rows, "no failed deliveries")


def _failure_json(message: Message) -> dict[str, Any]:
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
    """Return the row of one failed message in the table."""
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
