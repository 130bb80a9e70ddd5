"""Commands that an agent, or its client, can run as they stand: the program, the team and who acts are named."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence

PROGRAM = "team-console"


def program() -> tuple[str, ...]:
    """How to start this program from anywhere: the installed command by its whole path, else the module."""
    called = sys.argv[0]
    if os.path.basename(called) == PROGRAM and os.path.isfile(called):
        return (os.path.abspath(called),)
    beside = os.path.join(os.path.dirname(sys.executable), PROGRAM)
    if os.access(beside, os.X_OK):
        return (beside,)
    return (sys.executable, "-m", "team_console.console")


def command_of(location: str, name: str, *words: str) -> str:
    """A command line of `name` on a team, quoted for a shell."""
    return shlex.join([*_short_program(), "-t", location, "--as", name, *words])


def _short_program() -> Sequence[str]:
    """The bare name where a shell finds this very program by it; models copy short commands better."""
    whole = program()
    found = shutil.which(PROGRAM)
    return (PROGRAM,) if found is not None and os.path.realpath(found) == os.path.realpath(whole[0]) else whole
