"""Verbs of the router and its failure desk: `deliver`, `failures`, `retry`, `redirect`, `discard`, `clear`."""

from __future__ import annotations

import signal
import sys
import threading
from argparse import ArgumentParser
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call, read, split_names
from team_console.console.cli.output import is_terminal
from team_console.console.cli.printing import age_since, print_table
from team_console.console.cli.talk import confirmed
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, safe_line
from team_console.store.model.schedule import attempts_of, expires_at, max_attempts, next_attempt
from team_console.store.service.deliveries import REMEDIES, Remedy
from team_console.store.service.maintenance import FREED_MB, clear, forecast

if TYPE_CHECKING:
    from team_console.store.service.deliveries import Delivered
    from team_console.store.service.maintenance import Cleared


def add_deliver_arguments(parser: ArgumentParser) -> None:
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


def do_deliver(call: Call) -> int:
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
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)


def _loop(call: Call) -> int:

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


# `failures`: what could not be delivered, with attempts, the next try and the last error.

_TROUBLED = ("failed", "expired", "retry")


def add_failures_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "List messages that are failed, expired or put off for another try. Then: team-console retry, redirect,\n"
        "discard or recall."
    )
    parser.add_argument("--failed", action="store_true", help="only dead letters: no more tries will be made")


def do_failures(call: Call) -> int:
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


# `retry`, `redirect`, `discard`, `recall`: what is done about messages that did not arrive, or should not.


class RemedyVerb(Struct, frozen=True):
    """One of the four verbs.

    Attributes:
        action: The action of the desk.
        word: What is said of each message it was done to.
        option: What the action wants besides ids: its name, placeholder and meaning.
    """

    action: str
    description: str
    word: str
    option: tuple[str, str, str] | None = None

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.description = self.description
        text = "message ids; those that the action does not fit are named and left alone"
        add_completed(parser, "messages", "ids", nargs="+", metavar="ID", help=text)
        if self.option is not None:
            name, placeholder, meaning = self.option
            source = "agents" if name == "to" else ""
            add_completed(parser, source, f"--{name}", required=True, metavar=placeholder, help=meaning)

    def run(self, call: Call) -> int:
        """Do it and print what was done to which message."""

        wanted = {self.option[0]: getattr(call.options, self.option[0])} if self.option is not None else {}
        receipt = REMEDIES[Remedy(self.action)](call.caller, ids=call.options.ids, **wanted)
        lines = [
            f"{self.word} {message.message_id} {message.sender} -> {', '.join(message.recipients)}"
            for message in receipt.messages
        ]
        return call.finish(receipt, [safe_line(line) for line in lines])


_RETRY = RemedyVerb(
    "retry", "Failed, expired or put off messages become pending, with all their tries again.", "pending again:"
)
_REDIRECT = RemedyVerb(
    "redirect",
    "Give messages that nobody has got yet to another agent. Id, sender and content stay.",
    "redirected:",
    ("to", "A", "the agent to take them"),
)
_DISCARD = RemedyVerb(
    "discard",
    "Take dead letters out of the queue. They stay readable in the history of their agent.",
    "discarded:",
    ("reason", "R", "why; goes on the audit trail"),
)
_RECALL = RemedyVerb(
    "recall", "Take back messages that nobody has got yet; what was delivered or read stays so.", "recalled:"
)


# `clear`: what ended long ago leaves the queue, archived first.


def add_clear_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Archive and remove messages that were delivered, read, failed, expired or recalled more than N days ago.\n"
        "What still waits, and what an open request rests on, stays."
    )
    parser.add_argument("--older-than-days", type=float, default=7.0, metavar="N", help="age in days (default: 7)")
    text = "also delete archived messages beyond the team's delete_archived_after_days, for good"
    parser.add_argument("--archives", action="store_true", help=text)
    parser.add_argument("--yes", action="store_true", help="do not ask before archives are deleted")
    parser.add_argument("--dry-run", action="store_true", help="only say what would leave")


def do_clear(call: Call) -> int:
    """Say what would leave, or do it; deleting archives is asked about where there is somebody to ask."""
    options = call.options
    call.tell_stranger()
    if options.dry_run:
        return _clear_show(call, forecast(call.caller, older_than_days=options.older_than_days), dry_run=True)
    if options.archives and not options.yes:
        _ask(call)
    cleared = clear(call.caller, older_than_days=options.older_than_days, delete_archived=options.archives)
    return _clear_show(call, cleared, dry_run=False)


def _ask(call: Call) -> None:

    days = call.team.config().delete_archived_after_days
    call.out.note(f"archived messages older than {days} days will be deleted for good")
    asked = is_terminal(sys.stdin) and is_terminal(sys.stderr)
    if not (asked and confirmed()):
        raise TeamError(Code.NOT_PERMITTED, "deleting archives was not confirmed; nothing was written", "Add --yes.")


def _clear_show(call: Call, cleared: Cleared, *, dry_run: bool) -> int:
    if call.out.as_json:
        call.out.json(_clear_as_json(cleared, dry_run))
        return 0
    statuses = ", ".join(f"{number:,} {status}" for status, number in cleared.statuses.items())
    verb = "would leave" if dry_run else "left"
    call.out.say(f"{counted(cleared.deleted, 'message')} {verb} the queue" + (f": {statuses}" if statuses else ""))
    if cleared.kept:
        stay = "stays" if cleared.kept == 1 else "stay"
        call.out.say(f"{counted(cleared.kept, 'old message')} {stay}: an open request or the roster rests on them")
    if cleared.archives:
        call.out.say(f"deleted for good: {counted(cleared.archives, 'archived message')}")
    return 0


def _clear_as_json(cleared: Cleared, dry_run: bool) -> dict[str, Any]:

    return {
        "success": True,
        "action": "clear",
        "dry_run": dry_run,
        "messages_deleted": cleared.deleted,
        "disk_space_freed_mb": FREED_MB,
        "deleted_statuses": dict(cleared.statuses),
        "messages_kept": cleared.kept,
        "archived_deleted": cleared.archives,
    }


# `route`: one orchestrator JSON document (seed 003) on standard input, its answer on standard output.


def add_route_arguments(parser: ArgumentParser) -> None:
    """Explain what stands on standard input."""
    parser.description = (
        'Reads {"ACTION": ...} or invoke_command("route-inter-agent-messages", {"ACTION": ...}). ACTION is\n'
        "poll, deliver, deliver_all, send, clear or clear_old. The answer is always JSON."
    )


def do_route(call: Call) -> int:
    """Do what the document asks; refusals are the error object, on standard output as well.

    A failed delivery is seed 003's error object and nothing more.
    """
    from team_console.store.service.orchestrator import read_document, route

    call.out.as_json = True
    try:
        document = read_document(read("the document"))
        answer, status = route(call.caller, document, check_sender=partial(call.refuse_to_rise, field="SENDER")), 0
    except TeamError as error:
        if error.code is not Code.DELIVERY_TIMEOUT:
            raise
        answer, status = {key: item for key, item in error.as_json().items() if key != "hint"}, error.exit_code
    call.out.json(answer)
    return status


add_retry_arguments, do_retry = _RETRY.add_arguments, _RETRY.run
add_redirect_arguments, do_redirect = _REDIRECT.add_arguments, _REDIRECT.run
add_discard_arguments, do_discard = _DISCARD.add_arguments, _DISCARD.run
add_recall_arguments, do_recall = _RECALL.add_arguments, _RECALL.run
