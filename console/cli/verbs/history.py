"""`history`: archived and live messages, as log lines (seed 001), JSON or CSV."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import TYPE_CHECKING

from team_console.console.cli.arguments import add_agent, add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing.table import print_csv
from team_console.store.model.errors import Code, TeamError

if TYPE_CHECKING:
    from team_console.store.contract.team import Snapshot
    from team_console.store.model.message import Message


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Print archived and live messages, oldest first, each once. With an agent the log lines say OUTGOING and\n"
        "INCOMING as that agent saw it; without, they name both ends. JSON holds the records as they are stored.\n"
        "Times of log lines, and of --since without a zone, are local; JSON and CSV say theirs. TZ=UTC gives UTC."
    )
    add_agent(parser, help="only what this agent sent or got")
    parser.add_argument("--since", metavar="T", help="2026-02-24, 2026-02-24T10:30:00Z, or an age: 30m, 12h, 7d")
    add_completed(parser, "kinds", "--type", metavar="T", help="only this kind of message")
    parser.add_argument("--grep", metavar="RE", help="only messages with this regular expression in their text")
    parser.add_argument("--format", choices=("log", "json", "csv"), help="default: log, or json with --json")


def run(call: Call) -> int:
    """Print the history that is wanted; what could not be read of the archives is said, not left out."""
    from team_console.store.views.history import CSV_FIELDS, csv_row, history, history_json, wanted

    options = call.options
    form = options.format or ("json" if call.out.as_json else "log")
    if call.out.as_json and form != "json":
        raise TeamError(Code.USAGE, f"--json and --format {form} exclude each other", "Leave one of them out.")
    for name, value in (("agent", call.agent), ("since", options.since), ("type", options.type)):
        if value == "":  # of a script whose variable is not set; everything is not what it asks for
            raise TeamError(Code.USAGE, f"--{name} is empty", f"Give a value, or leave --{name} out.")
    fits = wanted(now=call.team.clock(), agent=call.agent, since=options.since, type=options.type, grep=options.grep)
    snapshot = call.snapshot()
    messages, problems = history(call.team, snapshot.messages, fits)
    if form == "json":
        call.print_list(history_json(messages), snapshot, problems)
    elif form == "csv":
        print_csv(call.out, CSV_FIELDS, map(csv_row, messages))
    else:
        _print_log(call, messages)
    call.out.warn([problem.sentence for problem in problems])
    if not messages and not problems:
        _tell_slips(call, snapshot)
    call.tell_doubt(snapshot)
    return 0


def _tell_slips(call: Call, snapshot: Snapshot) -> None:
    """Whether nothing was found because nobody has that name, or no kind of message."""
    from team_console.console.cli.unheard_names import unheard_agent, unheard_kind
    from team_console.store.views.history import HistoryFilter, history

    agent, kind = call.agent, call.options.type
    names = unheard_agent(snapshot, agent, lambda: history(call.team, snapshot.messages, HistoryFilter(agent))[0])
    call.out.warn([*names, *unheard_kind(snapshot.config, kind)])


def _print_log(call: Call, messages: Sequence[Message]) -> None:
    from team_console.store.views.history import log_line

    if messages:
        call.tell_zone()
    for message in messages:
        call.out.say(log_line(message, call.agent))
