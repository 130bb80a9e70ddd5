"""`check`: what is damaged in a team or breaks the rules of its protocols, and where it is."""

from __future__ import annotations

import os

from msgspec.structs import asdict, replace
from team_console.console.cli.arguments import flag, verb
from team_console.console.cli.call import Call
from team_console.console.cli.printing import cell_width, print_list
from team_console.console.cli.watching import settled_snapshot
from team_console.store.contract.team import Team
from team_console.store.model.errors import Problem
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.findings import trail_findings
from team_console.store.views.status import State, assess, check_json, view_of_team

MOST_ARCHIVED = 20_000
"""How many archived messages are looked at, so that an answer is not said to answer nothing."""
_MOST_AUDITED = 2_000
"""Lines of the audit trail whose chain is checked, the newest."""
_CHECK_COLOURS = {"error": "red", "warning": "yellow", "notice": "cyan"}


@verb(
    (
        flag("--heal", "first put back messages that another program removed, and finish writes that were cut short"),
        flag(
            "--accept-settings",
            "first confirm settings that are less strict than before, so that they apply as they are",
        ),
        flag(
            "--accept-keys",
            "first record new keys of humans in the settings, signed with a recorded key if there is one",
        ),
    )
)
def do_check(call: Call) -> int:
    """List damage, and departures from the protocols, each with its place and the next step. Exits with 1 if any of
    them is an error.

    Examples:
      team-console check
      team-console check --heal"""
    from team_console.console.clients.joined import join_problems  # 20 ms, and only here
    from team_console.store.service.signing import authority_problems  # what writes, as in `_repair`

    healed = _repair(call)
    snapshot = settled_snapshot(call.team, whole=True)
    broken = trail_findings(call.team.audit(limit=_MOST_AUDITED)) if snapshot.is_known else ()
    truth = assess(snapshot, call.team.clock())
    problems = [*snapshot.problems, *broken, *authority_problems(call.team, snapshot)]
    locked = truth.reason(State.LOCKED)  # everything else that is the matter is a finding already
    if locked is not None and snapshot.holder is not None:
        held = f"the lock is held {locked.text}"
        problems.append(Problem("LOCKED", "warning", call.team.location, held, locked.hint))
    seen = replace(snapshot, problems=(*problems, *join_problems(call.team, snapshot.config)))
    view = view_of_team(call.team, seen, me=call.viewer(snapshot), archived=MOST_ARCHIVED, thorough=True)
    view = replace(view, findings=tuple(_with_place(call, finding) for finding in view.findings))
    errors = sum(finding.severity == "error" for finding in view.findings)
    if call.as_json:
        print_list(call, {**check_json(view), "healed": [asdict(item) for item in healed]}, snapshot)
        return int(errors > 0)
    if healed:
        call.say(*(each.message for each in healed))
    for current in view.findings:
        _print_finding(call, current)
    if truth.reasons:
        call.say(f"condition  {truth.state}")
    number = len(view.findings)
    call.say(findings_words(number, errors) if number else "nothing to report")
    return int(errors > 0)


def _repair(call: Call) -> tuple[Problem, ...]:
    """Do what the option asks for before the look, of which there is one at most (`do_check`); returns what was put
    right.
    """
    # What writes is imported here: `status` counts findings by this module, too.
    from team_console.store.service.maintenance import heal
    from team_console.store.service.signing import accept_keys, accept_settings

    if call.options.accept_settings:
        return accept_settings(call.decider)
    if call.options.accept_keys:
        return accept_keys(call.decider)
    return heal(call.caller) if call.options.heal else ()


_VERDICT_CODES = frozenset({"FORGED_VERDICT", "UNVERIFIED_VERDICT", "ALTERED_VERDICT"})


def _with_place(call: Call, problem: Problem) -> Problem:
    """Return the finding with the place in the file of a verdict that another program wrote or changed."""
    where = place_of_message(call.team, problem.place) if problem.code in _VERDICT_CODES else problem.place
    return problem if where == problem.place else replace(problem, message=f"{problem.message} ({where})")


def _print_finding(call: Call, problem: Problem) -> None:
    """Print a finding: how severe it is, its code and place, then its sentence and the next step."""
    word = safe_line(problem.severity)
    pad = " " * max(1, 9 - cell_width(word))
    call.say(word, style=_CHECK_COLOURS.get(problem.severity, "dim"), rest=f"{pad}{problem.code}  {problem.place}")
    call.say(f"         {problem.message}")
    if problem.hint:
        call.say(f"         {problem.hint}", style="dim")


# Place of a message: file and line in a team of files, the row in a database.

_MOST_SEARCHED = 64 * 1024 * 1024
"""Bytes of a queue that are searched."""


def place_of_message(team: Team, message_id: str) -> str:
    """Return the place of the message: `message-queue.yaml:12` or `row MSG-...`; its id once it has left the queue."""
    path = team.places().get("queue")
    if path is None:
        return f"row {message_id}"
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_SEARCHED)
    except OSError:
        return message_id
    at = data.find(message_id.encode("utf-8", "replace"))
    line = data.count(b"\n", 0, at) + 1
    return message_id if at < 0 else f"{os.path.basename(path)}:{line}"


# Findings counted for people: `1 finding, an error`, `3 findings, 1 of them an error`.


def findings_words(number: int, errors: int) -> str:
    """Return the number of findings and of errors among them, in words; errors only where there are any."""
    of_them = f"{errors} of them " if number > 1 else ""
    told = f", {of_them}{'an error' if errors == 1 else 'errors'}" if errors else ""
    return f"{counted(number, 'finding')}{told}"
