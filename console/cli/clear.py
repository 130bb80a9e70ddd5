"""The verb `clear`: what ended long ago leaves the queue, archived first."""

from __future__ import annotations

import sys

from team_console.console.cli.call import Call
from team_console.console.cli.main import arg, flag, verb
from team_console.console.cli.output import is_terminal
from team_console.console.cli.talk import ask_yes_or_no
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted
from team_console.store.service.maintenance import ClearResult, clear, clearing_forecast


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
    call.warn_of_stranger()
    if options.dry_run:
        _print_cleared(call, clearing_forecast(call.caller, older_than_days=options.older_than_days), dry_run=True)
        return
    if options.archives and not options.yes:
        days = call.team.config().delete_archived_after_days
        call.note(f"archived messages older than {days} days will be deleted for good")
        if not (is_terminal(sys.stdin) and is_terminal(sys.stderr) and ask_yes_or_no("Delete them?")):
            text = "deleting archives was not confirmed; nothing was written"
            raise TeamError(Code.NOT_PERMITTED, text, "Add --yes.")
    cleared = clear(call.caller, older_than_days=options.older_than_days, delete_archived=options.archives)
    _print_cleared(call, cleared, dry_run=False)


def _print_cleared(call: Call, cleared: ClearResult, *, dry_run: bool) -> None:
    """Print what left the queue, what stays and why, and what was deleted for good."""
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
    call.print_result(done, *lines)
