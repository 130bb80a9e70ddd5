"""`migrate`: copies a team with its history to another place."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import asdict
from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import LOCK_WAIT, Call
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_line

if TYPE_CHECKING:
    from team_console.store.service.migration import Migrated


def add_arguments(parser: ArgumentParser) -> None:
    """Declare where from and where to."""
    parser.description = (
        "Copy queue, archives, attachments and audit trail of the team FROM to TO, which is made when it is not\n"
        "there. Only missing things are copied, so it can be run again, after an interruption or to bring the rest\n"
        "over before the change. FROM is only read. Stop what writes to it first, then let everybody use TO.\n\n"
        "  team-console migrate . postgresql://console@db.example/sprint42"
    )
    forms = "a folder, PATH.db or postgresql://..."
    add_completed(parser, "files", "source", metavar="FROM", help=f"the team to copy: {forms}")
    add_completed(parser, "files", "target", metavar="TO", help=f"where to: {forms}")


def run(call: Call) -> int:
    """Copy, compare, and say what was copied."""
    from team_console.store.backends.open import open_team
    from team_console.store.service.migration import migrate, open_target
    from team_console.store.views.findings import key_findings, trail_findings

    options = call.options
    if options.read_only:
        raise TeamError(Code.READ_ONLY, "migrate writes to its target", "Leave --read-only out.")
    source = open_team(options.source, read_only=True)
    try:
        config = source.config()
        target = open_target(options.target, config)
        try:
            actor = call.given_actor or config.lead
            found = [*key_findings(config, source.snapshot().recorded), *trail_findings(source.audit(limit=10**9))]
            done = migrate(source, target, actor=actor, wait=LOCK_WAIT, progress=_progress(call), found=found)
        finally:
            target.close()
    finally:
        source.close()
    return _show(call, done, safe_line(target.location))


def _progress(call: Call) -> Callable[[str, int], None]:
    def told(what: str, number: int) -> None:
        if not call.out.as_json and number:
            call.out.note(f"{number:,} {what}")

    return told


def _show(call: Call, done: Migrated, place: str) -> int:
    if call.out.as_json:
        call.out.json({"success": True, "action": "migrate", "location": place, **asdict(done)})
        return 0
    copied = (
        counted(done.live, "message"),
        counted(done.archived, "archive entry"),
        counted(done.attachments, "attachment"),
        counted(done.audit, "audit line"),
    )
    there = f"{done.already:,} {'was' if done.already == 1 else 'were'} there"
    call.out.say(f"copied to {place}: {', '.join(copied)}; {done.updated:,} updated, {there}")
    if done.differing:
        names = safe_line(", ".join(done.differing[:5]))
        number = f"{len(done.differing):,}"
        call.out.note(f"left alone, because the target has another state of them: {number} ({names}, ...)")
    call.out.warn(done.warnings)
    return 0
