"""The verbs `failures`, `retry`, `redirect`, `discard`, `recall` and `clear`: messages not delivered, or over."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

from team_console.console.cli.call import Call, is_terminal
from team_console.console.cli.main import Arg, VerbCommand, arg, flag, verb
from team_console.console.cli.printing import Cells, age_since, print_rows
from team_console.console.cli.talk import confirmed, finish_records
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import counted
from team_console.store.model.schedule import attempts_of, expires_at, max_attempts, next_attempt
from team_console.store.service.deliveries import Remedy, treat
from team_console.store.service.maintenance import Cleared, clear, clearing_forecast

# `failures`: what could not be delivered, with attempts, the next try and the last error.

_DEAD = ("failed", "expired")


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
        if message.status in _DEAD or (not call.options.failed and _is_put_off(message))
    ]
    messages.sort(key=lambda entry: (entry.status not in _DEAD, entry.order_by()[1]))
    listed = {"failures": [as_json(message) for message in messages], "count": len(messages)}
    rows = [_cells(message, snapshot.taken_at) for message in messages]
    print_rows(call, listed, snapshot, rows, "no failed deliveries")


def as_json(message: Message) -> dict[str, Any]:
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
    return message.status == "retry" or (message.status == "pending" and message.envelope("error_message") is not None)


def _cells(message: Message, now: datetime) -> Cells:
    following = next_attempt(message)
    wait = f"in {max(0, int((following - now).total_seconds()))} s" if following and following > now else "now"
    return {
        "STATE": message.status,
        "TRIES": f"{attempts_of(message)}/{max_attempts(message)}",
        "NEXT TRY": "-" if message.status in _DEAD else wait,
        "TO": ", ".join(message.recipients),
        "FROM": message.sender,
        "TYPE": message.type,
        "AGE": age_since(from_text(message.created), now),
        "MESSAGE": message.message_id,
        "LAST ERROR": str(message.envelope("error_message") or ""),
    }


# `retry`, `redirect`, `discard`, `recall`: what is done about messages that did not arrive, or should not.


def _remedy(action: Remedy, word: str, description: str, *arguments: Arg) -> VerbCommand:
    """Return the command that does `action` to messages, and says `word` of each; it wants `arguments` besides their
    ids.
    """

    def run(call: Call) -> None:
        names = [one.names.strip("-") for one in arguments]
        receipt = treat(call.caller, action, call.options.ids, **{n: getattr(call.options, n) for n in names})
        finish_records(call, receipt, word)

    run.__doc__ = description
    return verb(_IDS, *arguments)(run)


_IDS = arg(
    "ids",
    "message ids; those that it does not apply to are named and left alone",
    nargs="+",
    metavar="ID",
    source="messages",
)
do_retry = _remedy(
    Remedy.RETRY,
    "pending again:",
    """Make messages pending again that failed, expired or wait for another try; each gets all its tries again.

Examples:
  team-console retry ID""",
)
do_redirect = _remedy(
    Remedy.REDIRECT,
    "redirected:",
    """Give messages that nobody has received yet to another agent. Id, sender and content stay.

Examples:
  team-console redirect ID --to helper""",
    arg("--to", "the agent to take them", required=True, metavar="NAME", source="agents"),
)
do_discard = _remedy(
    Remedy.DISCARD,
    "discarded:",
    """Remove dead letters from the queue. They stay readable in the history of their agent.

Examples:
  team-console discard ID --reason "The agent is gone\"""",
    arg("--reason", "why; kept in the audit trail", required=True, metavar="TEXT"),
)
do_recall = _remedy(
    Remedy.RECALL,
    "recalled:",
    """Take back messages that nobody has received yet; delivered and read ones stay.

Examples:
  team-console recall ID""",
)


# `clear`: what ended long ago leaves the queue, archived first.


@verb(
    arg("--older-than-days", "age in days (default: 7)", type=float, default=7.0, metavar="DAYS"),
    flag("--archives", "also delete archived messages beyond the team's delete_archived_after_days, for good"),
    flag("--yes", "do not ask before archives are deleted"),
    flag("--dry-run", "show what would be removed, write nothing"),
)
def do_clear(call: Call) -> None:
    """Archive and remove messages that were delivered, read, failed, expired or recalled --older-than-days ago or
    earlier. Messages that still wait, or that an open request depends on, stay.

    Examples:
      team-console clear --older-than-days 30 --dry-run"""
    options = call.options
    call.tell_stranger()
    if options.dry_run:
        _clear_show(call, clearing_forecast(call.caller, older_than_days=options.older_than_days), dry_run=True)
        return
    if options.archives and not options.yes:
        days = call.team.config().delete_archived_after_days
        call.note(f"archived messages older than {days} days will be deleted for good")
        if not (is_terminal(sys.stdin) and is_terminal(sys.stderr) and confirmed("Delete them?")):
            text = "deleting archives was not confirmed; nothing was written"
            raise TeamError(Code.NOT_PERMITTED, text, "Add --yes.")
    cleared = clear(call.caller, older_than_days=options.older_than_days, delete_archived=options.archives)
    _clear_show(call, cleared, dry_run=False)


def _clear_show(call: Call, cleared: Cleared, *, dry_run: bool) -> None:
    statuses = ", ".join(f"{number:,} {status}" for status, number in cleared.statuses.items())
    verb = "would leave" if dry_run else "left"
    lines = [f"{counted(cleared.deleted, 'message')} {verb} the queue" + (f": {statuses}" if statuses else "")]
    if cleared.kept:
        stay = "stays" if cleared.kept == 1 else "stay"
        lines.append(f"{counted(cleared.kept, 'old message')} {stay}: an open request or the roster rests on them")
    lines += [f"refused: {message_id}: {why}" for message_id, why in cleared.refused.items()]
    if cleared.archives:
        lines.append(f"deleted for good: {counted(cleared.archives, 'archived message')}")
    done = {
        "success": True,
        "action": "clear",
        "dry_run": dry_run,
        "messages_deleted": cleared.deleted,
        "deleted_statuses": dict(cleared.statuses),
        "messages_kept": cleared.kept,
        "archived_deleted": cleared.archives,
        "disk_space_freed_mb": cleared.freed_mb,
        **cleared.refused_json,
    }
    call.show(done, *lines)
