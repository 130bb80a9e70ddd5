"""The verb `deliver`: push due messages to their agents, once or in a loop."""

from __future__ import annotations

import signal
import threading
from typing import Any

from team_console.console.cli.call import Call, UsageError, split_names
from team_console.console.cli.main import DAY, arg, flag, seconds, verb
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.deliveries import PassResult
from team_console.store.service.router import deliver, deliver_loop


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
    if call.as_json:
        call.json(_as_json(call, done))
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


def _as_json(call: Call, done: PassResult) -> dict[str, Any]:
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
