"""Joining writes exactly what is shown, beside what others put there; leaving takes out exactly that."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from team_console.console.clients.client_file import (
    JoinReceipt,
    forget_receipt,
    keep_receipt,
    member_key,
    receipt_of,
    receipts,
)

from tests.equipment.command_line import CommandLine, Result

pytestmark = pytest.mark.slow

OTHERS = """{
    "permissions": {"allow": ["Bash(ls)", "Read"], "deny": []},
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}
        ]
    },
    "model": "opus"
}
"""


class Desk:
    """The command line of a user with a home and a project."""

    def __init__(self, team: CommandLine, place: Path) -> None:
        self.team, self.home, self.project = team, place / "home", place / "project"
        for folder in (self.home, self.project):
            folder.mkdir()
        self.environment = {"HOME": str(self.home), "XDG_STATE_HOME": str(place / "state")}

    def __call__(self, *words: str) -> Result:
        command = CommandLine(self.project)
        return command("-t", str(self.team.folder), *words, env=self.environment)

    def ok(self, *words: str) -> Any:
        result = self(*words, "--json")
        assert result.status == 0, result
        return result.json

    def files(self) -> dict[str, str]:
        """Every file of the project and the home."""
        folders = (self.project, self.home)
        found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        return {str(path): path.read_bytes().decode() for path in found}


@pytest.fixture
def desk(office: CommandLine, tmp_path: Path) -> Desk:
    return Desk(office, tmp_path)


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", "[" * 9999, '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"permissions": {"allow": "x"}}'),
        *('{"permissions": 1}', '{"a": 1, "a": 2}', '{"a": NaN}', '{\n  // mine\n  "model": "opus"\n}'),
    ],
)
def test_settings_that_cannot_be_edited_are_left_alone(text: str, desk: Desk) -> None:
    put(desk.project / ".claude" / "settings.json", text)
    refused = desk("join", "carol", "--for", "claude", "--json")
    assert (refused.status, refused.json["error"]) == (1, "NOT_PERMITTED")
    assert "settings.json" in refused.json["message"]
    assert desk.files() == {str(desk.project / ".claude" / "settings.json"): text}
    assert "carol" not in (desk.team.folder / "messenger-config.yaml").read_text()


@pytest.mark.parametrize("way", ["renamed over", "hard link"])
def test_owner_mode_and_other_names_of_a_file_stay(way: str, desk: Desk) -> None:
    path = put(desk.project / ".claude" / "settings.json", OTHERS)
    path.chmod(0o640)
    with contextlib.suppress(OSError):
        os.setxattr(path, "user.note", b"mine")
    if os.geteuid() == 0:
        os.chown(path, 12345, 23456)
    if way == "hard link":
        os.link(path, desk.project / "backup.json")
    known = facts_of(path)
    for words in (("join", "alice", "--for", "claude"), ("leave", "alice")):
        desk.ok(*words)
        assert facts_of(path) == known
        assert way != "hard link" or path.samefile(desk.project / "backup.json")
    assert path.read_text() == OTHERS
    assert sorted(os.listdir(path.parent)) == ["settings.json"]


def facts_of(path: Path) -> tuple[object, ...]:
    found = path.stat()
    names = os.listxattr(path)
    return (
        found.st_uid,
        found.st_gid,
        found.st_mode,
        found.st_nlink,
        [(name, os.getxattr(path, name)) for name in names],
    )


def test_what_an_earlier_join_kept_under_a_link_is_found_and_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "project").mkdir()
    link, real = tmp_path / "link", tmp_path / "project"
    link.symlink_to(real)
    file, member = str(real / "settings.json"), member_key(str(real), "alice")
    keep_receipt(JoinReceipt("alice", str(link)))
    keep_receipt(JoinReceipt("alice", str(link), str(link / "settings.json")))
    for key in (file, member):
        assert receipt_of(key) is not None
        forget_receipt(key)
        assert receipt_of(key) is None
    assert list(receipts()) == []


def test_who_sorts_the_keys_of_a_file_changes_no_hook(desk: Desk) -> None:
    desk.ok("join", "alice", "--for", "claude")
    path = desk.project / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    settings["hooks"]["PostToolUse"].insert(0, {"hooks": [{"type": "command", "command": "date"}]})
    path.write_text(json.dumps(settings, sort_keys=True))
    assert "OLD_HOOKS" not in desk("check", "--json").out


def test_hooks_of_a_project_that_was_moved_are_named(tmp_path: Path) -> None:
    """They name a team that is gone, and say nothing."""
    project, environment = tmp_path / "shop", {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    project.mkdir()
    assert CommandLine(project)("join", "helper", "--for", "claude", env=environment).status == 0
    project = project.rename(tmp_path / "moved")
    found = CommandLine(project)("check", "--json", env=environment).json["findings"]
    assert [each["code"] for each in found] == ["OLD_HOOKS"]
    assert CommandLine(project)("join", "helper", "--for", "claude", env=environment).status == 0
    assert CommandLine(project)("check", "--json", env=environment).json["findings"] == []


def test_a_project_that_is_named_by_a_link_is_left_by_its_own_name(desk: Desk, tmp_path: Path) -> None:
    path = put(desk.project / ".claude" / "settings.json", "{}\n")
    (tmp_path / "link").symlink_to(desk.project)
    desk.ok("join", "alice", "--for", "claude", "--in", str(tmp_path / "link"))
    desk.ok("leave", "alice")
    assert desk.files() == {str(path): "{}\n"}
