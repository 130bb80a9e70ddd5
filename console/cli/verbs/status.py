"""`status`: the team on one screen."""

from __future__ import annotations

from argparse import ArgumentParser

from console.cli.call import Call
from console.cli.looking import view_of_team, watched
from console.cli.table import age_since, print_table
from console.cli.verbs.roster import print_roster
from store.safe import safe_line
from store.team import Condition, Snapshot
from store.views.rows import AttentionItem, View
from store.views.status import condition_of, status_json

_UNREADABLE = 4
_ROWS = 10


def add_arguments(parser: ArgumentParser) -> None:
    """No options of its own."""
    parser.description = (
        "Show the condition of the team, what needs you, its agents and its problems. Leaves with 4 when the queue\n"
        "cannot be read, so that a script never takes a broken team for a quiet one."
    )


def run(call: Call) -> int:
    """Print it; a broken queue is shown as what it is, not as an error of this verb."""
    snapshot = watched(call.team)
    view = view_of_team(call.team, snapshot, me=call.actor)
    if call.out.as_json:
        call.out.json(status_json(view, call.team))
    else:
        _show(call, snapshot, view)
    return 0 if snapshot.condition in (Condition.OK, Condition.EMPTY) else _UNREADABLE


def _show(call: Call, snapshot: Snapshot, view: View) -> None:
    out = call.out
    name = out.paint(safe_line(snapshot.config.name), "bold")
    backend = call.team.capabilities.name
    out.say(f"{name}  {safe_line(call.team.location)}  ({backend}{', read-only' if call.team.read_only else ''})")
    out.say(f"{'condition':<11}{_condition(call, snapshot)}")
    counts = ", ".join(f"{number} {safe_line(status)}" for status, number in view.counts.items() if number)
    changed = age_since(snapshot.changed_at, view.now)
    if snapshot.is_known:
        out.say(f"{'messages':<11}{counts or 'none'}; last change {changed}{' ago' if snapshot.changed_at else ''}")
    if snapshot.dropped:
        waiting = "1 message waits" if len(snapshot.dropped) == 1 else f"{len(snapshot.dropped)} messages wait"
        out.say(f"{'drop/':<11}{waiting} to be taken in, with the next write")
    if snapshot.doubt is not None:
        out.say(f"{'but':<11}{safe_line(f'{snapshot.doubt.message}. {snapshot.doubt.hint}')}")
    _show_needs(call, view)
    if view.roster:
        out.say()
        print_roster(call, view)
    errors = [one for one in view.findings if one.severity == "error"]
    if view.findings:
        out.say()
        out.say(f"{len(view.findings)} findings, {len(errors)} of them errors; team-console check lists them")


def _condition(call: Call, snapshot: Snapshot) -> str:
    word = str(snapshot.condition)
    if not snapshot.is_known:
        first = next((one for one in snapshot.problems if one.severity == "error"), None)
        text = call.out.paint(word, "red")
        return f"{text}: {safe_line(f'{first.sentence} {first.hint}')}" if first else text
    text = call.out.paint("in doubt", "red") if snapshot.is_rolled_back else call.out.paint(word, "green")
    if snapshot.holder is None:
        return text
    held = snapshot.holder
    who = safe_line(f"pid {held.pid} on {held.host or 'this host'}" if held.pid else "somebody")
    if condition_of(snapshot, call.team.clock()) != "locked":
        return f"{text}, {who} is writing"
    alive = {True: "it is alive", False: "it is not alive", None: "not known whether it is alive"}[held.alive]
    doing = f"({held.action})" if held.action else "(another program, its name is not known)"
    what = safe_line(f"{doing} since {held.since or 'a time it does not say'}; {alive}")
    return f"{text}, {call.out.paint('locked', 'yellow')} by {who} {what}"


def _show_needs(call: Call, view: View) -> None:
    call.out.say()
    if not view.snapshot.is_known:
        call.out.say(f"what needs {safe_line(view.me)} is not known until the queue can be read")
        return
    if not view.attention:
        seen = " in the queue as it stands" if view.snapshot.doubt else ""
        call.out.say(f"nothing needs {safe_line(view.me)}{seen}")
        return
    call.out.say(call.out.paint(f"{len(view.attention)} need {safe_line(view.me)}", "bold"))
    print_table(call.out, ("WHAT", "WHO", "AGE", "ABOUT"), [_cells(one, view) for one in view.attention[:_ROWS]])
    if len(view.attention) > _ROWS:
        call.out.say(f"and {len(view.attention) - _ROWS} more")


def _cells(one: AttentionItem, view: View) -> tuple[str, ...]:
    blocks = f" (blocks {', '.join(one.blocks)})" if one.blocks else ""
    return str(one.need), one.who, age_since(one.since, view.now), f"{one.title}{blocks}"
