"""`clear`: what ended long ago leaves the queue, archived first."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from team_console.console.cli.call import Call
from team_console.console.cli.printing.output import is_terminal
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted

if TYPE_CHECKING:
    from team_console.store.service.maintenance import Cleared


def add_arguments(parser: ArgumentParser) -> None:
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


def run(call: Call) -> int:
    """Say what would leave, or do it; deleting archives is asked about where there is somebody to ask."""
    from team_console.store.service.maintenance import clear, forecast

    options = call.options
    call.tell_stranger()
    if options.dry_run:
        return _show(call, forecast(call.caller, older_than_days=options.older_than_days), dry_run=True)
    if options.archives and not options.yes:
        _ask(call)
    cleared = clear(call.caller, older_than_days=options.older_than_days, delete_archived=options.archives)
    return _show(call, cleared, dry_run=False)


def _ask(call: Call) -> None:
    from team_console.console.cli.verbs.broadcast import confirmed

    days = call.team.config().delete_archived_after_days
    call.out.note(f"archived messages older than {days} days will be deleted for good")
    asked = is_terminal(sys.stdin) and is_terminal(sys.stderr)
    if not (asked and confirmed()):
        raise TeamError(Code.NOT_PERMITTED, "deleting archives was not confirmed; nothing was written", "Add --yes.")


def _show(call: Call, cleared: Cleared, *, dry_run: bool) -> int:
    if call.out.as_json:
        call.out.json(_as_json(cleared, dry_run))
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


def _as_json(cleared: Cleared, dry_run: bool) -> dict[str, Any]:
    from team_console.store.service.maintenance import FREED_MB

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
