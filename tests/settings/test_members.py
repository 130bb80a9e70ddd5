"""`member`: members are added, changed and removed, in force at once, and never count as lost."""

from __future__ import annotations

import errno
import stat
from contextlib import closing
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.disk import Disk
from team_console.store.model.errors import Code, TeamError
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
    refused = team("member add newcomer --json")
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
    team.ok("member add newcomer")
    assert path.is_symlink()
    assert "newcomer" in (tmp_path / "kept.yaml").read_text()


def test_a_team_in_memory_has_members_too() -> None:
    caller = Caller(MemoryTeam(config=TeamConfig(lead="ceo")), "ceo")
    add_members(caller, [Agent("a1")])
    set_member(caller, "a1", {"role": "slave"})
    assert caller.team.config().agents["a1"].role == "slave"


SUMMARY = ("--summary", "A summary of five words", "--content", "x")


def settings_file(elsewhere: CommandLine) -> Path:
    return elsewhere.folder / "crew" / "messenger-config.yaml"


@pytest.fixture
def folder(elsewhere: CommandLine) -> tuple[str, ...]:
    """How to reach a team in a folder whose settings are on record."""
    elsewhere.ok("init crew --agent a1")
    elsewhere.ok("-t crew send --to a1", *SUMMARY)
    return ("-t", "crew")


def condition(elsewhere: CommandLine, crew: tuple[str, ...]) -> str:
    return str(elsewhere(*crew, "status", "--json").json["condition"])


def test_removed_members_are_no_lost_settings(elsewhere: CommandLine, crew: tuple[str, ...]) -> None:
    elsewhere.ok(*crew, "send", "--to", "a1", *SUMMARY)
    elsewhere.ok(*crew, "member", "add", "a2")
    elsewhere.ok(*crew, "member", "remove", "a1", "a2")
    assert condition(elsewhere, crew) == "ok"
    elsewhere.ok(*crew, "member", "add", "a3")
    elsewhere.ok(*crew, "broadcast", "--yes", *SUMMARY)
    assert condition(elsewhere, crew) == "ok"


def test_what_was_changed_is_what_is_put_back(elsewhere: CommandLine, folder: tuple[str, ...]) -> None:
    elsewhere.ok(*folder, "member", "add", "a2:resident")
    changed = settings_file(elsewhere).read_text()
    settings_file(elsewhere).write_text("")
    assert condition(elsewhere, folder) == "settings"
    elsewhere.ok(*folder, "check", "--heal")
    assert settings_file(elsewhere).read_text() == changed


@pytest.mark.parametrize("how", ["", "team: crew\n", "lead: [\n", "lead: ceo\nagents:\n- name: a1\n  role: boss\n"])
def test_nobody_changes_members_while_the_settings_are_lost(
    elsewhere: CommandLine, folder: tuple[str, ...], how: str
) -> None:
    before = settings_file(elsewhere).read_text()
    settings_file(elsewhere).write_text(how)
    for words in (("add", "a9"), ("set", "a1", "--role", "slave"), ("remove", "a1")):
        for actor in ("ceo", "user", "a1"):
            refused = elsewhere(*folder, "--as", actor, "member", *words, "--json")
            assert refused.json["error"] == Code.NOT_PERMITTED, (words, actor, refused)
    assert settings_file(elsewhere).read_text() == how
    elsewhere.ok(*folder, "check", "--heal")
    assert settings_file(elsewhere).read_text() == before


def test_a_member_that_is_misspelt_does_not_open_the_team(elsewhere: CommandLine, folder: tuple[str, ...]) -> None:
    text = settings_file(elsewhere).read_text().replace("role: master", "role: mastr")
    settings_file(elsewhere).write_text(text)
    line = text[: text.index("mastr")].count("\n") + 1
    status = elsewhere(*folder, "status", "--json").json
    assert status["condition"] == "settings"
    assert "'mastr' is none of" in status["reasons"][0]["text"]
    (finding,) = elsewhere(*folder, "check", "--json").json["findings"]
    assert (finding["code"], finding["place"]) == ("SETTINGS_UNREADABLE", f"{settings_file(elsewhere)}:{line}")
    refused = elsewhere(*folder, "--as", "evil", "send", "--to", "a1", *SUMMARY, "--json")
    assert refused.json["error"] in (Code.AGENT_NOT_FOUND, Code.NOT_PERMITTED)
    refused = elsewhere(*folder, "--as", "ceo", "check", "--accept-settings", "--json")
    assert (refused.status, refused.json["error"]) == (4, Code.STORE_UNREADABLE)
    settings_file(elsewhere).write_text(text.replace("mastr", "master"))
    assert condition(elsewhere, folder) == "ok"


def test_a_wrong_value_of_something_else_is_a_finding_and_no_state(
    elsewhere: CommandLine, folder: tuple[str, ...]
) -> None:
    with settings_file(elsewhere).open("a") as file:
        file.write("limits: {content_max_bytes: many}\n")
    assert condition(elsewhere, folder) == "ok"
    elsewhere.ok(*folder, "broadcast", "--yes", *SUMMARY)


def test_commands_out_of_a_ledger_that_others_can_write_are_not_run(
    elsewhere: CommandLine, folder: tuple[str, ...]
) -> None:
    elsewhere.ok(*folder, "member", "set", "a1", "--deliver", "touch RAN")
    settings_file(elsewhere).unlink()
    ledger = settings_file(elsewhere).with_name("audit.jsonl")
    ledger.chmod(0o666)
    with closing(open_team(str(elsewhere.folder / "crew"))) as team:
        assert "can be written by other users" in team.config().distrust
        ledger.chmod(0o644)
    with closing(open_team(str(elsewhere.folder / "crew"))) as team:
        assert (team.config().distrust, team.config().agent("a1").deliver) == ("", ("touch", "RAN"))


@pytest.mark.parametrize("is_link", [False, True])
def test_restored_settings_are_for_their_owner_to_write(
    elsewhere: CommandLine, folder: tuple[str, ...], is_link: bool
) -> None:
    """The rights of a link itself are those of everybody to everything."""
    settings_file(elsewhere).unlink()
    settings_file(elsewhere).with_name("message-queue.yaml").chmod(0o666)
    if is_link:
        settings_file(elsewhere).symlink_to(elsewhere.folder / "gone")
    elsewhere.ok(*folder, "check", "--heal")
    assert stat.S_IMODE(settings_file(elsewhere).lstat().st_mode) == 0o644
