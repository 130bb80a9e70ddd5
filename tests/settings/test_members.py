"""A change of members that cannot be recorded leaves the settings as they were."""

from __future__ import annotations

import errno

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.disk import Disk
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members
from team_console.store.settings.team_config import Agent

from tests.equipment.asking import refusal
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow


def test_a_failed_commit_puts_the_settings_back(team: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "the disk is full")

    monkeypatch.setattr(Disk, "open_append", fails)
    path = team.folder / "messenger-config.yaml"
    before = path.read_bytes()
    refused = refusal(add_members, Caller(open_team(str(team.folder)), "ceo"), [Agent("newcomer")])
    assert "the disk is full" in refused.message
    assert path.read_bytes() == before
    assert not list(team.folder.glob("*.tmp.*"))
