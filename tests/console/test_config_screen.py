"""Settings changed inside hold at once and stand in the file, with all that was written there."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.console.tui.screens import with_setting
from team_console.store.model.errors import TeamError

from tests.console.conftest import hand_in_plan, opened
from tests.memory_team import MemoryTeam

pytestmark = pytest.mark.slow

OWN = """# mine
theme = "dark"    # at night

[keys]
approve = ["a", "f5"]

[notices]
bell = false
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The human's settings."""
    path = tmp_path / "config.toml"
    path.write_text(OWN, encoding="utf-8")
    monkeypatch.setenv("TEAM_CONSOLE_CONFIG", str(path))
    return path


def read(path: Path) -> str:
    """What stands in it."""
    return path.read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_a_setting_holds_at_once_and_the_rest_of_the_file_stays(team: MemoryTeam, config: Path) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.shows("PLAN · task-manager")
        await desk.press("comma")
        await desk.shows("Settings ·", "theme")
        await desk.press("j", "enter")
        await desk.until(lambda: 'density = "compact"' in read(config), "it is written")
        await desk.press("escape")
        await desk.until(lambda: "PLAN · task-manager" not in desk.text, "rows of one line")
    assert read(config) == f'density = "compact"\n{OWN}'


@pytest.mark.anyio
async def test_at_60_columns_no_setting_is_cut_and_the_theme_in_use_is_named(team: MemoryTeam, config: Path) -> None:
    config.unlink()  # noqa: ASYNC240
    async with opened(team, size=(60, 30)) as desk:
        await desk.press("comma")
        await desk.shows("dark (current)", "seconds to undo a decision; 0 writes at once")
        assert not [line for line in desk.text.splitlines() if "…" in line and "│" in line]


def wrong(folder: Path) -> Path:
    """A file of settings with a mistake."""
    path = folder / "wrong.toml"
    path.write_text('them = "dark"\n', encoding="utf-8")
    return path


@pytest.mark.anyio
async def test_a_file_with_a_mistake_is_left_alone_and_its_line_is_named(
    team: MemoryTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_CONSOLE_CONFIG", str(config := wrong(tmp_path)))
    async with opened(team) as desk:
        await desk.press("comma", "enter")
        await desk.tells("line 1: there is no them")
    assert read(config) == 'them = "dark"\n'


@pytest.mark.anyio
async def test_a_read_only_console_changes_no_settings(team: MemoryTeam, config: Path) -> None:
    async with opened(team, read_only=True) as desk:
        await desk.press("comma")
        await desk.tells("changes no file")
    assert read(config) == OWN


@pytest.mark.parametrize(
    ("before", "table", "name", "value", "after"),
    [
        ("", "", "theme", "light", 'theme = "light"\n'),
        ('theme = "dark" # why\n', "", "theme", "light", 'theme = "light" # why\n'),
        ("[notices]\nbell = true\n", "notices", "bell", False, "[notices]\nbell = false\n"),
        ("[notices]\n", "notices", "bell", True, "[notices]\nbell = true\n"),
        ("# x\n", "notices", "bell", True, "# x\n\n[notices]\nbell = true\n"),
        ("[keys]\n", "", "grace_seconds", 0, "grace_seconds = 0\n[keys]\n"),
    ],
)
def test_a_setting_takes_its_place(before: str, table: str, name: str, value: object, after: str) -> None:
    assert with_setting(before, table, name, value) == after


def test_what_stands_over_several_lines_is_not_taken_apart() -> None:
    with pytest.raises(TeamError, match="over several lines"):
        with_setting('theme = """\ndark"""\n', "", "theme", "light")
