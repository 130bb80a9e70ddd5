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


HELLO = ("send", "--summary", "Hello from all of us here", "--content", "x", "--to")


def names(command: CommandLine, crew: tuple[str, ...]) -> dict[str, str]:
    listed = command.ok(*crew, "member", "list", "--json").json["members"]
    return {member["name"]: member["role"] for member in listed}


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


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("member", "add", "a1"), "NOT_PERMITTED", "is a member already"),
        (("member", "add", "../x"), "INVALID_NAME", "not an agent name"),
        (("member", "add", "x:bos"), "USAGE", "no role"),
        (("member", "add"), "USAGE", "nobody is named"),
        (("member", "set", "a11", "--role", "slave"), "AGENT_NOT_FOUND", "not a member"),
        (("member", "remove", "ceo"), "NOT_PERMITTED", "leads the team"),
        (("member", "remove", "a1", "--role", "slave"), "USAGE", "takes no --role"),
        (("--as", "a1", "member", "add", "a2"), "NOT_PERMITTED", "does not lead"),
        (("--read-only", "member", "add", "a2"), "READ_ONLY", "read-only"),
        (("member", "set", "a1", "--deliver-timeout", "-1"), "USAGE", "number of seconds"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(
    elsewhere: CommandLine, crew: tuple[str, ...], arguments: tuple[str, ...], code: str, words: str
) -> None:
    before = elsewhere.ok(*crew, "member", "list", "--json").json
    refused = elsewhere(*crew, *arguments, "--json")
    assert (refused.json["error"], words in refused.json["message"]) == (code, True), refused
    assert elsewhere.ok(*crew, "member", "list", "--json").json == before


def test_settings_that_are_not_yaml_are_left_to_an_editor(team: CommandLine) -> None:
    path = team.folder / "messenger-config.yaml"
    path.write_text(text := path.read_text() + "limits: [\n")
    refused = team("member", "add", "newcomer", "--json")
    assert (refused.status, refused.json["error"]) == (1, "NOT_PERMITTED")
    assert path.read_text() == text


def test_a_master_that_would_take_the_lead_is_refused(elsewhere: CommandLine) -> None:
    (elsewhere.folder / "messenger-config.yaml").write_text("agents:\n- name: a1\n")
    refused = elsewhere("member", "add", "boss:master", "--json")
    assert "the lead would change from user to boss" in refused.json["message"]


def test_the_first_listed_member_closes_the_team_and_says_so(elsewhere: CommandLine) -> None:
    (elsewhere.folder / "messenger-config.yaml").write_text("lead: ceo\n")
    elsewhere.ok("--as", "a7", *HELLO, "a8")
    done = elsewhere.ok("member", "add", "a1", "--json").json
    assert done["warnings"] == ["the team lists its members from now on; not on the list: a7, a8"]


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
