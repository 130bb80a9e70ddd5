"""`deliver`: the router, one pass or kept running."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call, split_names
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line

if TYPE_CHECKING:
    from team_console.store.model.errors import TeamError
    from team_console.store.service.delivery_state import Delivered


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Push every due message to its agent: to the command in its settings, else into its inbox. What fails is\n"
        "tried again after 30, 60 and 120 seconds, then kept as failed. Nothing is pushed to the human or the lead,\n"
        "unless they have a command. Agents that use 'receive' need no router.\n\n"
        "Any number of routers may run: each message goes out once. A command is the exception: when a router is\n"
        "killed while one runs, nobody knows what it did, and the record comes again once its time limit is over,\n"
        "with the same message_id and a higher 'attempts'."
    )
    parser.add_argument("--loop", action="store_true", help="go on until interrupted")
    add_completed(parser, "agents", "--to", action="append", metavar="A[,B]", help="serve only these agents (one pass)")
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="time every command gets, instead of its own limit"
    )


def run(call: Call) -> int:
    """One pass and its result, or passes until a signal comes."""
    from team_console.store.service.router import deliver

    options = call.options
    if options.timeout is not None and not 0 < options.timeout < 86_400:
        raise TeamError(Code.USAGE, f"--timeout {options.timeout} is not a number of seconds above 0")
    only = _only(options.to)
    call.tell_stranger()
    if not options.loop:
        _end_like_interrupted()
        done = deliver(call.caller, only=only, limit=options.timeout)
        _show(call, done)
        _say_skipped(call, done)
        return 0
    if only is not None:
        raise TeamError(Code.USAGE, "--to is for one pass", "Leave out --loop or --to.")
    return _loop(call)


def _only(given: list[str] | None) -> list[str] | None:
    """The agents that were named, None for all.

    Raises:
        TeamError: `MISSING_RECIPIENT` for an empty name: a script whose variable is not set does not mean all.
    """
    if given is None:
        return None
    names = split_names(given)
    if not names:
        raise TeamError(Code.MISSING_RECIPIENT, "--to names nobody", "Name an agent, or leave --to out to serve all.")
    return names


def _end_like_interrupted() -> None:
    """A pass that is told to end notes what is running; a claim left behind would hold its message back."""
    import signal

    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)


def _loop(call: Call) -> int:
    import signal
    import threading

    from team_console.store.service.router import deliver_loop

    stop = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda number, frame: stop.set())
    call.out.note(f"delivering for {safe_line(call.team.location)}; Ctrl-C ends it after what it has begun")

    def report(done: Delivered) -> None:
        _show(call, done)
        call.out.flush()

    def trouble(error: TeamError) -> None:
        call.out.note(f"waiting: {safe_line(error.message)} ({error.code})")

    deliver_loop(call.caller, stop=stop, limit=call.options.timeout, report=report, trouble=trouble)
    return 0


def _show(call: Call, done: Delivered) -> None:
    if call.out.as_json:
        call.out.json(_as_json(call, done))
        return
    for attempt in done.attempts:
        what = f"{attempt.message.message_id} -> {attempt.recipient}"
        if attempt.error is None:
            call.out.say(safe_line(f"delivered: {what}"))
        else:
            call.out.say(safe_line(f"failed: {what} ({attempt.message.status}): {attempt.error}"))
    for message in done.expired:
        call.out.say(safe_line(f"expired: {message.message_id} -> {', '.join(message.recipients)}"))
    if not (done.attempts or done.expired):
        call.out.say("nothing was due")


def _say_skipped(call: Call, done: Delivered) -> None:
    """What this pass left, each with its reason; in JSON it stands in the result."""
    for message in done.skipped if not call.out.as_json else ():
        call.out.say(safe_line(f"skipped: {message.message.message_id} -> {message.recipient}: {message.reason}"))


def _as_json(call: Call, done: Delivered) -> dict[str, Any]:
    return {
        "success": True,
        "action": "deliver",
        "messages_delivered": len(done.delivered),
        "messages_failed": len(done.failed),
        "messages_expired": len(done.expired),
        "delivery_summary": done.summary_json(),
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
