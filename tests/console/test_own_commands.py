"""Commands of the human's own run on a key, and whatever is in a text stays one word of the shell."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.console.preferences import check

from tests.console.conftest import hand_in_plan, opened
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio
NASTY = "$(touch owned); `touch owned` '\"; touch owned\n| touch owned & > owned"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Gives the console one command of the human's own, on F."""
    monkeypatch.setenv("TEAM_CONSOLE_CONFIG", str(tmp_path / "config.toml"))

    def write(lines: str) -> None:
        (tmp_path / "config.toml").write_text(f'[[commands]]\nkey = "F"\n{lines}\n', encoding="utf-8")

    return write


async def test_what_an_agent_writes_is_never_more_than_words(
    team: MemoryTeam, config: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hand_in_plan(team, NASTY.partition("\n")[0], NASTY)
    config('run = "printf %s {text}; cat {file}"\noutput = "toast"')
    async with opened(team) as desk:
        await desk.press("F")
        await desk.tells("$(touch owned)")
    assert os.listdir(tmp_path) == ["config.toml"]


@cases
async def test_where_the_shell_sees_quotes_elsewhere_it_is_words_all_the_same(
    line: str, team: MemoryTeam, config: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hand_in_plan(team, NASTY.partition("\n")[0], NASTY)
    config(f'run = """{line}"""\noutput = "toast"'.replace("\\", "\\\\"))
    async with opened(team) as desk:
        await desk.press("F")
        await desk.until(lambda: bool(desk.app.main.last_said), "what came of it")
    assert os.listdir(tmp_path) == ["config.toml"]


WRONG = Path(__file__).with_name("wrong_commands.txt").read_text(encoding="utf-8").split("%%\n")
"""What is said of a mistake, and below it the command that has it."""


@pytest.mark.parametrize("block", WRONG)
def test_a_mistake_in_a_command_is_named_and_the_command_is_left_out(block: str) -> None:
    said, _, given = block.partition("\n")
    checked = check(f"[[commands]]\n{given}")
    assert checked.preferences.commands == ()
    assert any(said in mistake.message for mistake in checked.mistakes)


@cases
async def test_a_placeholder_is_one_word_wherever_it_may_stand(
    line: str, team: MemoryTeam, config: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither split into words nor taken for the names of files."""
    monkeypatch.chdir(tmp_path)
    hand_in_plan(team, "hello *", "hello * --output=OVERWRITTEN")
    config(f"run = '''{line}'''\noutput = \"toast\"")
    async with opened(team) as desk:
        await desk.press("F")
        await desk.tells("hello * --output=OVERWRITTEN\n|")
