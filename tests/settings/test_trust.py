"""Whose settings and keys: with the wrong owner or mode no command is run and no key is used, and `check` says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from team_console.store.settings.settings_file import parse_settings, settings_bytes

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
SEND = ("send", "--to", "file-manager", "--summary", "Export the report of this week", "--content", "x")
KEY = b"0123456789abcdef0123456789abcdef"


@pytest.fixture
def commanded(make_team: object, team: CommandLine) -> CommandLine:
    """A team in which a command leaves a file behind when it takes a message for `file-manager`."""
    team.ok("member set file-manager --deliver 'touch RAN'")
    team.ok(*SEND)
    return team


def settings_of(team: CommandLine) -> Path:
    return team.folder / "messenger-config.yaml"


def key_of(team: CommandLine) -> bytes:
    path = settings_of(team)
    return parse_settings(settings_bytes(path) or b"", path).key


def codes(team: CommandLine) -> set[tuple[str, str]]:
    return {(item["code"], item["severity"]) for item in team("check --json").json["findings"]}


def test_ones_own_settings_run_their_commands(commanded: CommandLine) -> None:
    commanded.ok("deliver")
    assert (commanded.folder / "RAN").exists()
    assert codes(commanded) == set()


@cases
def test_settings_that_everybody_can_write_run_no_command(commanded: CommandLine, which: str, mode: int) -> None:
    place = settings_of(commanded) if which == "file" else commanded.folder
    place.chmod(mode)
    assert commanded("deliver --json").json["messages_failed"] == 1
    assert not (commanded.folder / "RAN").exists()
    assert ("CONFIG_UNTRUSTED", "error") in codes(commanded)
    (failure,) = commanded.ok("failures --json").json["failures"]
    assert "can be written by other users" in failure["error_message"]
    place.chmod(0o755 if which == "folder" else 0o644)
    assert codes(commanded) == set()


@ROOT_ONLY
@pytest.mark.parametrize("which", ["file", "folder"])
def test_settings_of_another_user_run_no_command(commanded: CommandLine, which: str) -> None:
    os.chown(settings_of(commanded) if which == "file" else commanded.folder, 65534, 65534)
    commanded("deliver")
    assert not (commanded.folder / "RAN").exists()
    assert ("CONFIG_UNTRUSTED", "warning") in codes(commanded)


@ROOT_ONLY
def test_settings_of_another_user_without_commands_are_nothing_to_report(team: CommandLine) -> None:
    os.chown(settings_of(team), 65534, 65534)
    assert codes(team) == set()


def test_new_settings_are_for_their_owner_to_write_whatever_the_umask(elsewhere: CommandLine) -> None:
    before = os.umask(0)
    try:
        elsewhere.ok("init crew")
    finally:
        os.umask(before)
    assert (elsewhere.folder / "crew/messenger-config.yaml").stat().st_mode & 0o022 == 0


def with_key(team: CommandLine, mode: int) -> Path:
    key = team.folder / "team.key"
    key.write_bytes(KEY)
    key.chmod(mode)
    settings = settings_of(team)
    settings.write_text(settings.read_text() + "key_file: team.key\n")
    return key


def test_a_key_for_its_owner_alone_signs(team: CommandLine) -> None:
    with_key(team, 0o600)
    sent = team.ok(*SEND, "--json")
    assert sent.json["warnings"] == []
    (message,) = team.ok("inbox file-manager --json").json["messages"]
    assert message["signature"]
    assert codes(team) == set()


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o640, 0o660, 0o602])
def test_a_key_that_others_can_use_is_an_error_and_signs_nothing(team: CommandLine, mode: int) -> None:
    key = with_key(team, mode)
    assert key_of(team) == b""
    assert codes(team) == {("BAD_KEY", "error")}
    sent = team.ok(*SEND, "--json")
    assert any(warning.startswith("not signed") for warning in sent.json["warnings"])
    key.chmod(0o600)
    assert key_of(team) == KEY


def test_a_team_that_shares_its_folder_with_a_group_may_share_its_key(team: CommandLine) -> None:
    with_key(team, 0o640)
    team.folder.chmod(0o2770)
    assert key_of(team) == KEY


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_a_key_that_is_no_file_never_waits(team: CommandLine, make: object) -> None:
    with_key(team, 0o600).unlink()
    assert callable(make)
    make(team.folder / "team.key")
    assert team("status").status == 0
    assert codes(team) == {("BAD_KEY", "error")}


def test_a_device_as_key_never_ends_in_memory(team: CommandLine) -> None:
    settings_of(team).write_text(settings_of(team).read_text() + "key_file: /dev/zero\n")
    assert codes(team) == {("BAD_KEY", "error")}
