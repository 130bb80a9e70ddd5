"""`roster`: who is in the team, in which state, with how much unread; sent to the residents with `--send`."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.console.cli.printing.table import age_since, print_table
from team_console.store.views.rows import RosterRow, View


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--send", action="store_true", help="send every resident the complete roster as it is now")


def run(call: Call) -> int:
    """List the agents, or send the list to the residents."""
    if call.options.send:
        from team_console.store.service.agents import send_roster

        receipt = send_roster(call.caller)
        told = ", ".join(message.recipients[0] for message in receipt.messages)
        return call.finish(receipt, [f"the complete roster went to {told}"])
    view = call.view()
    if call.out.as_json:
        from team_console.store.views.status_json import roster_json

        call.print_list(roster_json(view), view.snapshot)
    elif not view.roster:
        call.out.say("no agents: the settings name none, and none has written yet")
    else:
        print_roster(call, view)
    call.tell_doubt(view.snapshot)
    call.tell_stranger(view.snapshot)
    return 0


def print_roster(call: Call, view: View) -> None:
    """The roster as a table."""
    heads = ("AGENT", "ROLE", "STATE", "UNREAD", "OLDEST", "SEEN", "NOTE")
    print_table(call.out, heads, [_cells(row, view) for row in view.roster])


def _cells(row: RosterRow, view: View) -> tuple[str, ...]:
    notes = [row.reason, "plans first" if row.plan_mode_required else ""]
    if row.reported:
        notes.append(f"reported: {row.reported}")
    if row.unanswered:
        notes.append(f"{row.unanswered} read and not answered")
    if row.looks_like:
        notes.append(f"looks like {row.looks_like}, is another")
    if not row.is_addressable:
        notes.append("its name is none, so nobody can write to it")
    if row.stranger:
        notes.append("on no roster")
    if row.dropped:
        notes.append(f"{row.dropped} in drop/")
    seen = age_since(row.last_seen, view.now)
    oldest = age_since(row.oldest_unread, view.now)
    unread = str(row.unread) if row.unread else "-"
    state = "you" if row.name == view.me else str(row.state)
    return row.name, row.role, state, unread, oldest, seen, "; ".join(filter(None, notes))
