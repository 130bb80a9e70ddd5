"""`member`: members are added, changed and removed in the settings of a folder or a database, by the lead alone."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.disk import Disk
from team_console.store.model.errors import TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.members import add_members, set_member
from team_console.store.settings.team_config import Agent, TeamConfig

from tests.equipment.command_line import CommandLine
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.slow


def test_each_change_is_on_the_audit_trail(elsewhere: CommandLine, crew: tuple[str, ...]) -> None:
    elsewhere.ok(*crew, "member", "add", "a2:slave")
    elsewhere.ok(*crew, "member", "set", "a2:temp")
    elsewhere.ok(*crew, "member", "remove", "a2")
    team = open_team(str(elsewhere.folder / crew[1]))
    lines = team.audit()
    team.close()
    assert [line.action for line in lines] == ["member_remove", "member_set", "member_add"]
    assert {line.actor for line in lines} == {"ceo"}
    assert lines[1].facts["before"] == {"name": "a2", "role": "slave"}
    assert lines[1].facts["member"] == {"name": "a2", "role": "temp"}


def test_settings_that_are_not_yaml_are_left_to_an_editor(team: CommandLine) -> None:
    path = team.folder / "messenger-config.yaml"
    path.write_text(text := path.read_text() + "limits: [\n")
    refused = team("member", "add", "newcomer", "--json")
    assert (refused.status, refused.json["error"]) == (1, "NOT_PERMITTED")
    assert path.read_text() == text


def test_a_failed_commit_puts_the_settings_back(team: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "the disk is full")

    monkeypatch.setattr(Disk, "open_append", fails)
    path = team.folder / "messenger-config.yaml"
    before = path.read_bytes()
    with pytest.raises(TeamError, match="the disk is full"):
        add_members(Caller(open_team(str(team.folder)), "ceo"), [Agent("newcomer")])
    assert path.read_bytes() == before
    assert not list(team.folder.glob("*.tmp.*"))


def test_settings_reached_by_a_link_stay_a_link(team: CommandLine, tmp_path: Path) -> None:
    path = team.folder / "messenger-config.yaml"
    path.rename(tmp_path / "kept.yaml")
    path.symlink_to(tmp_path / "kept.yaml")
    team.ok("member", "add", "newcomer")
    assert path.is_symlink()
    assert "newcomer" in (tmp_path / "kept.yaml").read_text()


def test_a_team_in_memory_has_members_too() -> None:
    caller = Caller(MemoryTeam(config=TeamConfig(lead="ceo")), "ceo")
    add_members(caller, [Agent("a1")])
    set_member(caller, "a1", {"role": "slave"})
    assert caller.team.config().agents["a1"].role == "slave"
