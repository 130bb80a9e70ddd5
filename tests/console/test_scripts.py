"""Promises of the console, each told by a script in `scripts/`: what is pressed, and what stands on the screen then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console.conftest import Clock
from tests.equipment.cases import cases
from tests.equipment.console_scripts import ConsoleScript
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio

SCRIPTS = {path.stem: path.read_text("utf-8") for path in sorted((Path(__file__).parent / "scripts").glob("*.txt"))}
CASES = [
    pytest.param(text, id=name, marks=() if "# quick" in text else pytest.mark.slow) for name, text in SCRIPTS.items()
]


@pytest.mark.parametrize("text", CASES)
async def test_what_a_script_says_holds(
    text: str, team: MemoryTeam, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ConsoleScript(team, clock, monkeypatch).play(text)


@cases
async def test_a_script_that_says_something_else_fails(
    wrong: str, team: MemoryTeam, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.console.conftest.WAIT", 0.5)
    with pytest.raises(AssertionError):
        await ConsoleScript(team, clock, monkeypatch).play(wrong)
