"""Whoever leaves gets each settings file back byte for byte, however it was laid out, by every way in and out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.equipment.cases import cases, constant
from tests.equipment.command_line import CommandLine
from tests.hook.test_joining import Desk, put

pytestmark = pytest.mark.slow

LAYOUTS = constant(__file__, "LAYOUTS", dict[str, str])
"""How people and programs lay out a file of settings."""
FILES = constant(__file__, "FILES", tuple[tuple[str, str, tuple[str, ...]], ...])


@pytest.fixture
def desk(office: CommandLine, tmp_path: Path) -> Desk:
    return Desk(office, tmp_path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_leaving_gives_back_the_same_bytes(layout: str, desk: Desk) -> None:
    for client, scope, names in FILES:
        folder = desk.home if scope in ("--user", "") else desk.project
        for name in names:
            put(folder / name, "").write_bytes(LAYOUTS[layout].encode())
        before = desk.files()
        words = ("--all",) if client == "--all" else ("alice", "--for", client, scope)
        desk.ok("join", *words)
        joined = desk.files()
        assert {str(folder / name) for name in names} <= {path for path in joined if joined[path] != before.get(path)}
        assert all(json.loads(text.removeprefix("\ufeff")) for path, text in joined.items() if path in before)
        assert {file["change"] for file in desk.ok("join", *words)["files"]} == {"unchanged"}
        desk.ok("leave", words[0])
        assert desk.files() == before
        for name in names:
            (folder / name).unlink()


# Rules that earlier versions wrote, which turn into a no where nobody is at a console.


def old_join(desk: Desk, mine: list[str], old: list[str]) -> Path:
    """Write settings and receipt as version 0.5 left them: `mine` were there before, `old` came with the join."""
    desk.ok("join", "alice", "--for", "claude")
    path = desk.project / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    settings["permissions"]["ask"] = mine + old
    before = settings["hooks"]["PreToolUse"][0]["hooks"][0]
    before["command"] += " --has-rules"
    path.write_text(json.dumps(settings, indent=2))
    for receipt in (desk.home.parent / "state" / "team-console" / "joined").iterdir():
        known = json.loads(receipt.read_text())
        if known.get("file") == str(path):
            made = [["permissions", "ask"]] if not mine else []
            known["notes"] += [*made, *(["permissions", "ask", rule] for rule in old)]
            receipt.write_text(json.dumps(known))
    return path


OLD_LISTS = [
    [f"Bash({command}:*)" for command in ("git push", "hg push", "jj git push")],
    [
        *(f"Bash({command}:*)" for command in ("rm", "rmdir", "unlink", "shred")),
        *("Bash(git clean:*)", "Bash(git reset --hard:*)", "Bash(git branch -D:*)", "Bash(find * -delete*)"),
    ],
]
"""What version 0.5 wrote for `push` and for `delete`."""


@pytest.mark.parametrize("way", ["join", "leave"])
@cases
def test_without_a_receipt_only_whole_lists_of_version_0_5_are_taken_out(
    way: str, mine: list[str], others: list[str], desk: Desk
) -> None:
    ours = [rule for rules in OLD_LISTS for rule in rules] if not others else []
    path = old_join(desk, mine, [*ours, *others])
    for receipt in (desk.home.parent / "state" / "team-console" / "joined").iterdir():
        receipt.unlink()
    desk.ok(*(("join", "alice", "--for", "claude") if way == "join" else ("leave", "alice")))
    settings = json.loads(path.read_text()) if path.exists() else {}
    assert settings.get("permissions", {}).get("ask", []) == mine + others


def test_rules_of_version_0_5_are_named_until_the_next_join(desk: Desk) -> None:
    old_join(desk, ["Bash(make deploy:*)"], OLD_LISTS[0])
    assert "OLD_HOOKS" in desk("check", "--json").out
    desk.ok("join", "alice", "--for", "claude")
    assert "OLD_HOOKS" not in desk("check", "--json").out
