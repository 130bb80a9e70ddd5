"""`watch`: one line per change, until interrupted."""

from __future__ import annotations

from argparse import ArgumentParser

from msgspec.structs import replace
from team_console.console.cli.call import Call
from team_console.console.cli.looking import watched
from team_console.console.cli.printing.changes import changes
from team_console.console.cli.printing.output import to_json
from team_console.store.contract.team import Snapshot
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.truth import judge


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what bounds a watch in scripts."""
    parser.description = (
        "Print one line per change, in local time (one JSON object per line with --json, in UTC). Nothing is written."
    )
    parser.add_argument("--for", dest="seconds", type=float, metavar="SECONDS", help="leave after this long")


def run(call: Call) -> int:
    """Follow the team; a queue that becomes unreadable or vanishes is a line, not the end, and forgets no message."""
    from team_console.store.service.waiting import LONGEST_WAIT, until

    seconds = call.options.seconds
    if seconds is not None and not 0 <= seconds <= LONGEST_WAIT:
        raise TeamError(Code.USAGE, f"--for {seconds:g} is not a number of seconds", "For example --for 30.")
    team = call.team
    last = watched(team)
    state = judge(last, last.taken_at).state
    call.out.note(safe_line(f"watching {team.location}: {state}, {counted(len(last.messages), 'message')}"))

    if not call.out.as_json:
        call.tell_zone()

    def look() -> None:
        nonlocal last
        now = team.snapshot()
        if now is not last:
            _print(call, last, now)
            last = now if now.is_known else replace(now, messages=last.messages)

    until(team, look, timeout=seconds)
    return 0


def _print(call: Call, before: Snapshot, after: Snapshot) -> None:
    for change in changes(before, after):
        call.out.say(to_json(change.as_json()) if call.out.as_json else change.line())
    call.out.flush()
