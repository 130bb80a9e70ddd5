"""`status`: the team on one screen."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.console.cli.looking import watched
from team_console.console.cli.printing.findings import findings_of
from team_console.console.cli.printing.table import age_since, print_table
from team_console.console.cli.verbs.roster import print_roster
from team_console.store.contract.team import Snapshot
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.rows import AttentionItem, View
from team_console.store.views.status_json import status_json
from team_console.store.views.truth import State, Truth, holder_words, judge, view_of_team

_UNREADABLE = 4
_ROWS = 10
_WORDS = {State.DOUBT: "in doubt"}
_COLOURS = {State.OK: "green", State.EMPTY: "green", State.LOCKED: "yellow"}


def add_arguments(parser: ArgumentParser) -> None:
    """No options of its own."""
    parser.description = (
        "Show the condition of the team, what needs you, its agents and its problems. Leaves with 4 when the queue\n"
        "cannot be read, so that a script never takes a broken team for a quiet one."
    )


def run(call: Call) -> int:
    """Print it; a broken queue is shown as what it is, not as an error of this verb."""
    snapshot = watched(call.team)
    view = view_of_team(call.team, snapshot, me=call.looker(snapshot), lists=False)
    if call.out.as_json:
        call.out.json(status_json(view, call.team))
    else:
        _show(call, snapshot, view)
    call.tell_stranger(snapshot)
    return 0 if snapshot.is_known else _UNREADABLE


def _show(call: Call, snapshot: Snapshot, view: View) -> None:
    out = call.out
    name = out.paint(safe_line(snapshot.config.name), "bold")
    backend = call.team.kind
    out.say(f"{name}  {safe_line(call.team.location)}  ({backend}{', read-only' if call.team.read_only else ''})")
    truth = judge(snapshot, view.now)
    out.say(f"{'condition':<11}{_condition(call, truth)}")
    counts = ", ".join(f"{number:,} {safe_line(status)}" for status, number in view.counts.items() if number)
    changed = age_since(snapshot.changed_at, view.now)
    if snapshot.is_known:
        out.say(f"{'messages':<11}{counts or 'none'}; last change {changed}{' ago' if snapshot.changed_at else ''}")
    for reason in truth.reasons[1:]:
        out.say(f"{'and':<11}{_WORDS.get(reason.state, str(reason.state))}: {safe_line(reason.sentence)}")
    if snapshot.dropped:
        waiting = f"{counted(len(snapshot.dropped), 'message')} {'waits' if len(snapshot.dropped) == 1 else 'wait'}"
        out.say(f"{'drop/':<11}{waiting} to be taken in, with the next write")
    _show_needs(call, view, truth)
    if view.roster:
        out.say()
        print_roster(call, view)
    errors = [finding for finding in view.findings if finding.severity == "error"]
    if view.findings:
        out.say()
        out.say(f"{findings_of(len(view.findings), len(errors))}; team-console check lists them")


def _condition(call: Call, truth: Truth) -> str:
    """The state in a word, with what is the matter; a lock that is only being used is told beside a good state."""
    word = call.out.paint(_WORDS.get(truth.state, str(truth.state)), _COLOURS.get(truth.state, "red"))
    if truth.reasons:
        first = truth.reasons[0]
        return f"{word}{' ' if first.state is State.LOCKED else ': '}{safe_line(first.sentence)}"
    if truth.holder is None:
        return word
    return f"{word}, being written {safe_line(holder_words(truth.holder, truth.holder.since))}"


def _show_needs(call: Call, view: View, truth: Truth) -> None:
    call.out.say()
    if not view.snapshot.is_known:
        call.out.say(f"what needs {safe_line(view.me)} is not known until the queue can be read")
        return
    if not view.attention:
        seen = "" if truth.is_complete else " in the queue as it stands"
        call.out.say(f"nothing needs {safe_line(view.me)}{seen}")
        return
    number = len(view.attention)
    call.out.say(
        call.out.paint(f"{counted(number, 'thing')} {'needs' if number == 1 else 'need'} {safe_line(view.me)}", "bold")
    )
    print_table(call.out, ("WHAT", "WHO", "AGE", "ABOUT"), [_cells(item, view) for item in view.attention[:_ROWS]])
    if len(view.attention) > _ROWS:
        call.out.say(f"and {len(view.attention) - _ROWS} more")


def _cells(attention_item: AttentionItem, view: View) -> tuple[str, ...]:
    blocks = f" (blocks {', '.join(attention_item.blocks)})" if attention_item.blocks else ""
    return (
        str(attention_item.need),
        attention_item.who,
        age_since(attention_item.since, view.now),
        f"{attention_item.title}{blocks}",
    )
