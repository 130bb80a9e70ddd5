"""`decisions`: the ledger of who decided what, on what, and what of it is proved."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING

from team_console.console.cli.call import Call
from team_console.console.cli.printing.table import age, print_csv, print_table
from team_console.store.model.errors import Code, TeamError

if TYPE_CHECKING:
    from team_console.store.views.decisions import Decision


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "List every decision, newest first: made from the archives and the audit trail, so the queue may be gone.\n"
        "AT is local time. PROOF is signed (by the key of who decided), recorded (the audit trail has it, and its\n"
        "chain holds), unverified (no desk wrote it) or not known. --json, --csv and --md say all: words, digests,\n"
        "evidence, gaps."
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="as comma-separated values")
    form.add_argument("--md", action="store_true", help="as a Markdown document")
    parser.add_argument("--by", metavar="NAME", help="only what this member decided")


def run(call: Call) -> int:
    """Print the ledger, and say what keeps it from being whole or proved."""
    from msgspec.structs import replace
    from team_console.store.views.decisions import CSV_FIELDS, csv_row, ledger_json, ledger_of_team, markdown

    options = call.options
    if call.out.as_json and (options.csv or options.md):
        form = "--csv" if options.csv else "--md"
        raise TeamError(Code.USAGE, f"--json and {form} exclude each other", "Leave one of them out.")
    snapshot = call.team.snapshot()
    ledger = ledger_of_team(call.team, snapshot)
    if options.by is not None:
        ledger = replace(ledger, decisions=tuple(item for item in ledger.decisions if item.by == options.by))
    if call.out.as_json:
        call.print_list(ledger_json(ledger), snapshot, ledger.problems)
        return 0
    if options.md:
        call.out.say("\n".join(markdown(ledger, call.team.config().name)))
        return 0
    if options.csv:
        print_csv(call.out, CSV_FIELDS, map(csv_row, ledger.decisions))
    elif ledger.decisions:
        call.tell_zone()
        heads = ("AT", "VERDICT", "BY", "KIND", "AFTER", "PROOF", "REQUEST", "WHAT")
        print_table(call.out, heads, [_cells(decision) for decision in ledger.decisions])
    else:
        call.out.say("no decisions")
    call.out.warn([problem.sentence for problem in ledger.problems])
    return 0


def _cells(decision: Decision) -> tuple[str, ...]:
    at = f"{decision.at.astimezone():%Y-%m-%d %H:%M}" if decision.at else "not known"
    words = decision.words.partition("\n")[0]
    what = " · ".join(filter(None, (decision.title, words)))
    took = age(decision.after_seconds)
    return at, decision.verdict, decision.by, decision.kind, took, str(decision.proof), decision.request_id, what
