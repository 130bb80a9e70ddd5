"""A verdict that has to be signed: the form says what it waits for, and can give it up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from team_console.store.protocol import ssh_keygen
from team_console.store.settings.team_config import Human

from tests.console.conftest import hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.signing_keys import key_file, public_line

pytestmark = pytest.mark.anyio


@pytest.fixture
def signed(team: MemoryTeam) -> MemoryTeam:
    """The team, with a key of its human."""
    human = Human("ceo", (public_line(),), str(key_file()))
    team._config = replace(team.config(), humans={team.config().lead: human}, verdicts="signed", team_id="x1")
    return team


async def test_a_verdict_is_signed_by_the_key_of_the_human(signed: MemoryTeam) -> None:
    hand_in_plan(signed)
    async with opened(signed) as desk:
        await desk.approves(signed)
        (verdict,) = verdicts(signed)
        assert str(verdict.payload["signature"]).startswith("-----BEGIN SSH SIGNATURE-----")
        await desk.until(lambda: desk.rows == [], "the list without the plan")


async def test_a_key_that_is_waited_for_can_be_given_up(
    signed: MemoryTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ssh-keygen"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    hand_in_plan(signed)
    async with opened(signed) as desk:
        form = await desk.asks("a")
        await desk.press("enter")
        await desk.shows("waiting for your key")
        await desk.until(lambda: bool(ssh_keygen._waiting), "the program that waits")
        await desk.press("escape")
        await desk.shows("you gave it up")
        assert desk.front is form
        assert not verdicts(signed)
