"""`check`: what departs from the protocols or is damaged."""

from __future__ import annotations

from argparse import ArgumentParser

from msgspec.structs import replace
from team_console.console.cli.call import Call
from team_console.console.cli.looking import watched
from team_console.console.cli.printing.findings import findings_of
from team_console.console.cli.printing.message_place import place_of
from team_console.console.cli.printing.table import width
from team_console.store.model.errors import Problem
from team_console.store.model.safe import safe_line
from team_console.store.views.findings import trail_findings
from team_console.store.views.truth import State, Truth, judge, view_of_team

_ARCHIVED = 20_000
"""How many archived messages are looked at, so that an answer is not said to answer nothing."""
_AUDITED = 2_000
_COLOURS = {"error": "red", "warning": "yellow", "notice": "cyan"}


def add_arguments(parser: ArgumentParser) -> None:
    """Looking is the rule, healing the exception."""
    parser.description = "List what departs from the protocols or is damaged; leaves with 1 when any of it is an error."
    text = "first write: put back what a program that does not lock took out, finish what a dead one began"
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--heal", action="store_true", help=text)
    text = "first write: confirm settings that lost what was in force, so that they hold as they are"
    which.add_argument("--accept-settings", action="store_true", help=text)
    text = "first write: take keys of humans in the settings on record, signed with one that is, where there is one"
    which.add_argument("--accept-keys", action="store_true", help=text)


def run(call: Call) -> int:
    """List the findings, errors first; a queue that cannot be read is itself a finding."""
    from team_console.store.views.status_json import check_json, finding_json

    healed = _repaired(call)
    snapshot = watched(call.team)
    broken = trail_findings(call.team.audit(limit=_AUDITED)) if snapshot.is_known else ()
    truth = judge(snapshot, call.team.clock())
    seen = replace(snapshot, problems=(*snapshot.problems, *broken, *_of_lock(call, truth)))
    view = view_of_team(call.team, seen, me=call.looker(snapshot), archived=_ARCHIVED, thorough=True, lists=False)
    view = replace(view, findings=tuple(_with_place(call, finding) for finding in view.findings))
    errors = sum(finding.severity == "error" for finding in view.findings)
    if call.out.as_json:
        call.print_list({**check_json(view), "healed": [finding_json(item) for item in healed]}, snapshot)
        return int(errors > 0)
    for each in healed:
        call.out.say(safe_line(each.message))
    for current in view.findings:
        _print(call, current)
    if not truth.is_well:
        call.out.say(f"condition  {truth.state}")
    number = len(view.findings)
    call.out.say(findings_of(number, errors) if number else "nothing to report")
    return int(errors > 0)


def _of_lock(call: Call, truth: Truth) -> tuple[Problem, ...]:
    """A lock that is in the way, as a finding; everything else that is the matter is one already."""
    reason = truth.reason(State.LOCKED)
    if reason is None:
        return ()
    return (Problem("LOCKED", "warning", call.team.location, f"the lock is held {reason.text}", reason.hint),)


def _repaired(call: Call) -> tuple[Problem, ...]:
    from team_console.store.service.maintenance import accept_keys, accept_settings, heal

    if call.options.accept_settings:
        return accept_settings(call.decider)
    if call.options.accept_keys:
        return accept_keys(call.decider)
    return heal(call.caller) if call.options.heal else ()


_OF_VERDICTS = frozenset({"FORGED_VERDICT", "UNVERIFIED_VERDICT", "ALTERED_VERDICT"})


def _with_place(call: Call, problem: Problem) -> Problem:
    """Where in its file a verdict stands that somebody else wrote or changed."""
    if problem.code not in _OF_VERDICTS:
        return problem
    where = place_of(call.team, problem.place)
    return problem if where == problem.place else replace(problem, message=f"{problem.message} ({where})")


def _print(call: Call, problem: Problem) -> None:
    word = safe_line(problem.severity)
    colour = _COLOURS.get(problem.severity, "dim")
    call.out.say(
        f"{call.out.paint(word, colour)}{' ' * max(1, 9 - width(word))}{safe_line(f'{problem.code}  {problem.place}')}"
    )
    call.out.say(f"         {safe_line(problem.message)}")
    if problem.hint:
        call.out.say(call.out.paint(f"         {safe_line(problem.hint)}", "dim"))
