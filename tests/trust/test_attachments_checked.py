"""`check` verifies attachments as the console does: what is missing or is not what was attached is an error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine
from tests.equipment.damage import repair

pytestmark = pytest.mark.slow

LARGE = "It goes on and on. " * 10_000
Harm = Callable[[Path], object]


def _sparse(path: Path) -> None:
    path.write_bytes(b"")
    os.truncate(path, 3 << 30)


def _instead(make: Callable[[Path], object]) -> Harm:
    def harm(path: Path) -> None:
        path.unlink()
        make(path)

    return harm


HARMS: dict[str, Harm] = {
    "gone": Path.unlink,
    "edited": lambda path: path.write_text(LARGE.replace("goes", "went", 1)),
    "cut": lambda path: path.write_text(LARGE[:-1]),
    "emptied": lambda path: path.write_bytes(b""),
    "huge": _sparse,
    "pipe": _instead(os.mkfifo),
    "folder": _instead(Path.mkdir),
    "link": _instead(lambda path: path.symlink_to("/dev/zero")),
}


def _found(team: CommandLine, *place: str) -> list[dict[str, str]]:
    checked = team(*place, "check", "--json")
    found = [item for item in checked.json["findings"] if item["code"] == "ATTACHMENT_LOST"]
    assert checked.status == bool(found)
    return found


@pytest.fixture
def attached(team: CommandLine) -> Path:
    team.ok(
        "send", "--to", "file-manager", "--id", "M1", "--summary", "All of the report", "--content", "-", stdin=LARGE
    )
    (path,) = (team.folder / "attachments").iterdir()
    return path


@pytest.mark.parametrize("where", ["in the queue", "in the archive"])
def test_what_is_not_what_was_attached_is_an_error(team: CommandLine, attached: Path, where: str) -> None:
    if where == "in the archive":
        team.ok("receive", "--agent", "file-manager")
        team.ok("clear", "--older-than-days", "0", "--yes")
    good = Path(shutil.copy2(attached, team.folder.parent / "good"))
    for harm in list(HARMS)[where == "in the archive" :: 2]:
        assert _found(team) == []
        HARMS[harm](attached)
        (finding,) = _found(team)
        assert (finding["severity"], finding["place"]) == ("error", "M1"), harm
        assert attached.name in finding["message"]
        repair(attached, good)
