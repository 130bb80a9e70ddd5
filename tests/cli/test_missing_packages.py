"""Without the driver of a database, what needs it says how to install it; the other kind of database works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def _without(folder: Path, *modules: str) -> dict[str, str]:
    """The environment of a Python that lacks modules."""
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({modules!r}))\n")
    return {"PYTHONPATH": f"{folder}:{ROOT}"}


def test_a_python_without_sqlite_says_so(team: CommandLine, tmp_path: Path) -> None:
    (team.folder / "copy.db").touch()
    result = team("-t copy.db status", env=_without(tmp_path, "sqlite3"))
    assert result.status == 1
    assert "teams in SQLite need sqlite3" in result.err
    assert "defect" not in result.err


def test_no_verb_needs_a_package_of_an_extra(team: CommandLine, tmp_path: Path) -> None:
    lacking = _without(tmp_path, "cryptography", "psycopg", "mcp", "textual_serve")
    said = ("--summary", "Write the report of this week", "--content", "Go on")
    for words in (
        ("send", "--to", "file-manager", *said),
        ("check",),
        ("help", "json", "send"),
        ("migrate", ".", "c.db"),
    ):
        result = team(*words, env=lacking)
        assert result.status == 0, result


def test_a_join_says_which_package_its_tools_need(team: CommandLine, tmp_path: Path) -> None:
    result = team("join", "helper", "--for", "claude", "--print", env=_without(tmp_path, "mcp"))
    assert "Its tools (MCP) need one more package: " in result.out
