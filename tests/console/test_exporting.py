"""An export is a new file with what the list shows, and nothing is ever written over."""

from __future__ import annotations

import csv
import errno
import json
from pathlib import Path

import pytest
from team_console.console.tui.commands.looking import _FORMATS, write_export
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.widgets.fields import Field

from tests.console.conftest import letter, opened
from tests.memory_team import MemoryTeam

pytestmark = pytest.mark.slow


@pytest.fixture
def messages(team: MemoryTeam) -> tuple[Message, ...]:
    for number in range(3):
        letter(team, f"Note {number} for the record", "=1+1", to="file-manager")
    return tuple(team.snapshot().messages)


def test_the_name_says_the_format(messages: tuple[Message, ...], tmp_path: Path) -> None:
    table = write_export(messages, str(tmp_path / "a.csv"))
    with table.open(newline="") as file:
        assert [row["summary"] for row in csv.DictReader(file)] == [message.summary for message in messages]
    records = json.loads(write_export(messages, str(tmp_path / "a.json")).read_text())["messages"]
    assert [record["message_id"] for record in records] == [message.message_id for message in messages]
    lines = write_export(messages, str(tmp_path / "a.log")).read_text().splitlines()
    assert [line.partition(": ")[2] for line in lines] == [f'"{message.summary}"' for message in messages]


@pytest.mark.parametrize("name", ["a.xlsx", "noformat", "a\0a.csv", "a\0a.xlsx", "~a\0a.csv"])
def test_a_name_that_is_none_is_refused(messages: tuple[Message, ...], tmp_path: Path, name: str) -> None:
    with pytest.raises(TeamError) as caught:
        write_export(messages, str(tmp_path / name))
    assert caught.value.code is Code.INVALID_FIELD
    assert list(tmp_path.glob("*a*")) == []


def test_a_file_that_exists_stays_as_it_is(messages: tuple[Message, ...], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(TeamError, match="exists"):
        write_export(messages, str(tmp_path / "a.csv"))
    assert (tmp_path / "a.csv").read_text() == "mine"


def test_half_of_an_export_does_not_stay(
    messages: tuple[Message, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(messages: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setitem(_FORMATS, ".csv", fails)
        with pytest.raises(TeamError, match="No space left"):
            write_export(messages, str(tmp_path / "a.csv"))
    assert write_export(messages, str(tmp_path / "a.csv")).exists()


@pytest.mark.anyio
async def test_a_read_only_console_writes_no_file_and_says_so(
    team: MemoryTeam, messages: tuple[Message, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(team, read_only=True) as desk:
        await desk.press("3")
        await desk.lists(3)
        await desk.press("w")
        await desk.until(lambda: desk.toasts == ["export: the console is read-only and writes no file"], "why not")
        assert desk.app.screen is desk.app.main
        await desk.press("enter")
    assert not (tmp_path / "history.csv").exists()


@pytest.mark.anyio
async def test_the_history_on_the_screen_is_written(
    team: MemoryTeam, messages: tuple[Message, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(team) as desk:
        await desk.press("3")
        await desk.lists(3)
        form = await desk.asks("w")
        form.query_one("#words", Field).value = "out.json"
        await desk.press("enter")
        await desk.tells("3 messages in")
    assert json.loads((tmp_path / "out.json").read_text())["count"] == 3
