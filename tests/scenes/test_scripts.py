"""Promises of the command line, each told by a script in `scripts/`: what is done, and what comes of it.

A script that begins with `on PLACE ...` is played with each of these for its TEAM; `server` is a new database there,
in which its ROLE, that it may make, would find it at THEIRS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.postgresql import empty_postgresql
from tests.equipment.scripts import Script

pytestmark = pytest.mark.slow


def _told() -> Iterator[Any]:
    """Each script with each place that it is played with."""
    for path in sorted((Path(__file__).parent / "scripts").glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        first, _, rest = text.partition("\n")
        if not first.startswith("on "):
            yield pytest.param(text, "", id=path.stem)
            continue
        for place in first.split()[1:]:
            yield pytest.param(rest, place, id=f"{path.stem}-{place}")


@pytest.mark.parametrize(("text", "place"), [*_told()])
def test_what_a_script_says_holds(text: str, place: str, elsewhere: CommandLine) -> None:
    if place == "server":
        place = empty_postgresql()
        role = place.rpartition("/")[2]
        text = text.replace("THEIRS", place.replace("//postgres@", f"//{role}@")).replace("ROLE", role)
    Script(elsewhere).play(re.sub(r"\bTEAM\b", place or "TEAM", text))


@cases
def test_a_script_that_says_something_else_fails(wrong: str, team: CommandLine) -> None:
    with pytest.raises(AssertionError):
        Script(team).play(wrong)
