"""Instructions for a model: who it is in the team and the few commands it needs; short, for they are read often."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence

from team_console.store.contract.team import Team
from team_console.store.model.names import ALL
from team_console.store.protocol.membership import members

PROGRAM = "team-console"


def program() -> tuple[str, ...]:
    """Return the command that starts this program from anywhere: the installed command by its whole path, else the
    module.
    """
    called = sys.argv[0]
    if os.path.basename(called) == PROGRAM and os.path.isfile(called):
        return (os.path.abspath(called),)
    beside = os.path.join(os.path.dirname(sys.executable), PROGRAM)
    if os.access(beside, os.X_OK):
        return (beside,)
    return (sys.executable, "-m", "team_console.console")


def command_of(location: str, name: str, *words: str) -> str:
    """Return a command line of `name` on a team, quoted for a shell."""
    return shlex.join([*_short_program(), "-t", location, "--as", name, *words])


def _short_program() -> Sequence[str]:
    """Return the bare name where a shell finds this very program by it; models copy short commands better."""
    whole = program()
    found = shutil.which(PROGRAM)
    return (PROGRAM,) if found is not None and os.path.realpath(found) == os.path.realpath(whole[0]) else whole


WAIT = "100"
"""Seconds of one wait: less than the two minutes for which clients let a command run."""
_BLANKS = frozenset({"TEXT", "PLAN", "QUESTION", "WHY", "RESULT"})
"""Words that the model replaces by some of its own: quoted, so that it quotes them, too."""
_MOST_NAMES = 20
"""Members that are named; a model of a larger team is told how to list them."""


def instructions_for(team: Team, name: str, *, by_itself: bool, location: str | None = None) -> str:
    """Return the instructions for the model of member `name`, as plain text.

    Args:
        by_itself: Whether its mail comes by itself, through the hooks of its client; else it has to take it.
        location: What its commands name, where that is not the location of the team.
    """
    snapshot, location = team.snapshot(), location or team.location
    config = snapshot.config
    others = [other for other in members(config, snapshot.messages) if other not in (name, ALL)]
    more = f" and {len(others) - _MOST_NAMES} more" if others[_MOST_NAMES:] else ""
    lines = [f"You are {name}, a member of the team {config.name}. {config.lead} leads it and decides."]
    lines += [f"Members you can write to: {', '.join(others[:_MOST_NAMES])}{more}."] if others else []
    if by_itself:
        lines += [
            "",
            "Your mail comes by itself: urgent messages while you work, the rest when you end a turn.",
            "What your client asks permission for, your plans and your questions go to the human by themselves, too.",
        ]
    else:
        lines += [
            "",
            "Take your mail before you begin, and whenever you have finished something:",
            f"    {command_of(location, name, 'receive', '--agent', name)}",
        ]
    return "\n".join([*lines, "", *_ways(location, name, config.lead)])


def _ways(location: str, name: str, lead: str) -> list[str]:
    def line(*words: str) -> str:
        rest = " ".join(f"'{word}'" if word in _BLANKS else shlex.quote(word) for word in words)
        return f"    {command_of(location, name)} {rest}"

    return [
        "Write to a member:",
        line("send", "--to", lead, "--summary", "FIVE TO TEN WORDS", "--content", "TEXT"),
        "Hand in a plan before risky work, and wait for the verdict:",
        line("plan", "--content", "PLAN", "--wait", WAIT),
        "Ask the human, and wait for the answer:",
        line("ask", "QUESTION", "--option", "A", "--option", "B", "--wait", WAIT),
        "Both print the verdict or the answer. Exit status 0: yes or answered; 10: no, read why; 11: nothing yet; 12: "
        "withdrawn. After 11 go on waiting for the request that standard error names:",
        line("verdict", "REQUEST", "--wait", WAIT),
        "When you are asked to stop, answer the request that the message names:",
        line("approve", "REQUEST"),
        line("reject", "REQUEST", "--reason", "WHY"),
        "When your task is done, tell the lead what came of it:",
        line("send", "--to", lead, "--summary", "Done: WHAT WAS YOUR TASK", "--content", "RESULT"),
    ]
