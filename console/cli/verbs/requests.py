"""`requests`: the ledger of who asked whom for what, and what was answered."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime

from team_console.console.cli.call import Call
from team_console.console.cli.printing.table import age, print_table
from team_console.store.protocol.kinds import RequestKind
from team_console.store.views.rows import RequestRow
from team_console.store.views.truth import ARCHIVED, requests_of_team


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--open", action="store_true", dest="only_open", help="only those that wait for an answer")
    parser.add_argument("--kind", choices=[str(kind) for kind in RequestKind], help="only this kind")


def run(call: Call) -> int:
    """List them: open ones first, the oldest on top."""
    options = call.options
    snapshot = call.snapshot()
    _ = call.actor  # a name that cannot act is refused, as by every verb
    now, every = requests_of_team(call.team, snapshot, archived=0 if options.only_open else ARCHIVED)
    rows = [row for row in every if _wanted(row, options.only_open, options.kind)]
    if call.out.as_json:
        from team_console.store.views.status_json import request_json

        call.print_list({"requests": [request_json(row, now) for row in rows]}, snapshot)
    elif not rows:
        call.out.say("no open requests" if options.only_open else "no requests")
    else:
        heads = ("STATE", "KIND", "WAITED", "FROM", "TO", "REQUEST", "WHAT")
        print_table(call.out, heads, [_cells(row, now) for row in rows])
    call.tell_doubt(snapshot)
    call.tell_stranger(snapshot)
    return 0


def _wanted(row: RequestRow, only_open: bool, kind: str | None) -> bool:
    return (row.is_open or not only_open) and kind in (None, str(row.kind))


def _cells(row: RequestRow, now: datetime) -> tuple[str, ...]:
    state = f"{row.state} by {row.answered_by}" if row.answered_by else str(row.state)
    odd = [str(flag) for flag in row.flags if str(flag) != str(row.state)]
    what = f"{row.title} ({', '.join(odd)})" if odd else row.title
    waited = age(row.waiting_seconds(now))
    return state, str(row.kind), waited, row.asker, row.addressee, row.request_id, what
