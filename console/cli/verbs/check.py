"""`check`: what departs from the protocols or is damaged."""

from __future__ import annotations

from argparse import ArgumentParser

from console.cli.call import Call
from console.cli.table import width
from store.safe import safe_line
from store.team import Problem

_COLOURS = {"error": "red", "warning": "yellow", "notice": "cyan"}


def add_arguments(parser: ArgumentParser) -> None:
    """No options of its own."""
    parser.description = "List what departs from the protocols or is damaged; leaves with 1 when any of it is an error."


def run(call: Call) -> int:
    """List the findings, errors first; a queue that cannot be read is itself a finding."""
    findings = find(call)
    failed = any(one.severity == "error" for one in findings)
    if call.out.as_json:
        call.out.json({"findings": [finding_json(one) for one in findings]})
        return int(failed)
    for one in findings:
        _print(call, one)
    errors = sum(one.severity == "error" for one in findings)
    call.out.say(f"{len(findings)} findings, {errors} of them errors" if findings else "nothing to report")
    return int(failed)


def find(call: Call) -> list[Problem]:
    """The findings of the present state."""
    from console.cli.looking import view_of_team

    view = view_of_team(call.team, call.team.snapshot(), me=call.actor)
    return list(view.findings)


def finding_json(one: Problem) -> dict[str, str]:
    """A finding as `DESIGN.md` section 5 shows it."""
    return {
        "code": one.code,
        "severity": one.severity,
        "place": one.place,
        "message": one.message,
        "hint": one.hint,
    }


def _print(call: Call, one: Problem) -> None:
    word = safe_line(one.severity)
    colour = _COLOURS.get(one.severity, "dim")
    call.out.say(
        f"{call.out.paint(word, colour)}{' ' * max(1, 9 - width(word))}{safe_line(f'{one.code}  {one.place}')}"
    )
    call.out.say(f"         {safe_line(one.message)}")
    if one.hint:
        call.out.say(call.out.paint(f"         {safe_line(one.hint)}", "dim"))
