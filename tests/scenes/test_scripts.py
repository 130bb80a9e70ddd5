"""Promises of the command line, each told by a script in `scripts/`: what is done, and what comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.scripts import Script

pytestmark = pytest.mark.slow

SCRIPTS = {path.stem: path for path in sorted((Path(__file__).parent / "scripts").glob("*.txt"))}


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_script_says_holds(name: str, elsewhere: CommandLine) -> None:
    Script(elsewhere).play(SCRIPTS[name].read_text(encoding="utf-8"))


@cases
def test_a_script_that_says_something_else_fails(wrong: str, team: CommandLine) -> None:
    with pytest.raises(AssertionError):
        Script(team).play(wrong)
