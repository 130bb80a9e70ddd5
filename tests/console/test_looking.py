"""Looking around: lists, filters, help, details, places and names of any script; nothing of it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from team_console.console.actions import actions_in
from team_console.console.clients.client_file import JoinReceipt, keep_receipt
from team_console.console.selection import Mode
from team_console.console.tui.app import ConsoleApp
from team_console.console.tui.modes.agents import AgentsPane
from team_console.console.tui.reader import StoreReader
from team_console.store.backends.open import open_team
from team_console.store.contract.snapshot import Snapshot
from team_console.store.model.message import Message
from team_console.store.protocol.client_sessions import Doing
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.store.service.sessions import note_session
from team_console.widgets.help_panel import HelpPanel
from team_console.widgets.line_field import Field
from team_console.widgets.row_list import RowList

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened
from tests.equipment import strict
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.pressed_keys import reach
from tests.equipment.terminal import console
from tests.hook.test_joining import put
from tests.proofs.benchmarks.data import letters, write_team

CLAUDE = Path(__file__).parents[1] / "scenes/files/claude/teams/alpha"

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_help_is_made_from_the_registry_and_says_why_not(team: MemoryTeam) -> None:
    async with opened(team, size=(120, 140)) as desk:
        await desk.press("question_mark")
        await desk.until(lambda: isinstance(desk.front, HelpPanel), "help")
        for action in actions_in(Mode.NEEDS, read_only=False):
            assert action.help.split(",")[0][:40] in desk.text.replace("│", "")
        await desk.type("reject")
        await desk.shows("Not now: nothing is chosen")
        await desk.press("escape")
        assert desk.front is desk.app.main


async def test_no_message_is_written_out_as_text_to_describe_a_worker(
    team: MemoryTeam, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Textual describes a worker by its arguments unless it is told something else."""
    async with opened(team) as desk:
        desk.app.exit()
    clock.advance(60)
    hand_in_plan(team)
    described = list[str]()

    def describe(message: Message) -> str:
        described.append(message.message_id)
        return message.message_id

    monkeypatch.setattr(Message, "__repr__", describe)
    async with opened(team) as desk:
        await desk.shows("Since you left")  # what happened since the last visit, told by a worker
    assert described == []


async def test_a_row_that_was_gone_to_and_comes_late_takes_the_cursor_from_nobody(
    team: MemoryTeam, clock: Clock
) -> None:
    """It is put aside for a while here; who goes elsewhere meanwhile does not want to be there any more."""
    for text in ("A plan that is put aside for now", "A plan that is read meanwhile"):
        hand_in_plan(team, text, by=AUTHOR if "aside" in text else "file-manager")
    async with opened(team) as desk:
        aside, *_ = desk.rows
        await desk.press("z")
        await desk.lists(1)
        finish(team)
        await desk.lists(2)
        desk.app.main.lists.go_to_row(Mode.NEEDS, aside)
        await desk.press("j")
        here = desk.app.main.pane.rows.cursor_key
        clock.advance(3600)
        desk.app._tick()
        await desk.lists(3)
        assert desk.app.main.pane.rows.cursor_key == here != aside


async def test_the_keys_go_where_they_are_seen_to_go_also_in_a_low_terminal_and_in_the_reader(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team, size=(80, 24)) as desk:
        main = desk.app.main
        await desk.press("enter", "tab")
        await desk.until(lambda: desk.app.focused is main.pane.rows, "the list with the keys")
        await desk.pilot.resize_terminal(40, 12)
        await desk.until(lambda: desk.app.focused is main.pane.detail, "the text with the keys")
        await desk.press("1")
        for reads in ("enter", "f"):
            await desk.press(reads)
            await desk.until(lambda: desk.app.focused is main.pane.detail, "the text with the keys")
            await desk.press("1")
            await desk.until(lambda: bool(desk.app.focused is main.pane.rows and main.pane.rows.region), "the list")
        await desk.press("enter", "slash")
        await desk.until(lambda: bool(isinstance(desk.app.focused, Field) and desk.app.focused.region), "the line")
        await desk.pilot.resize_terminal(80, 24)
        await desk.press("escape", "2", "slash", "escape")
        await desk.until(lambda: bool(isinstance(desk.app.focused, RowList) and desk.app.focused.region), "the roster")


async def test_local_times_are_those_of_the_zone_that_the_human_is_in_by_now(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(team)
    async with opened(team) as desk:
        await desk.press("3")
        await desk.shows("10:30:00", "today · Tuesday 2026-02-24")
        try:
            with monkeypatch.context() as patch:
                patch.setenv("TZ", "JST-14")
                desk.app._tick()
                await desk.shows("00:30:00", "today · Wednesday 2026-02-25")
        finally:
            time.tzset()


def finish(team: MemoryTeam, number: int = 1) -> None:
    """Agents write that they are done."""
    for _ in range(number):
        sending.send(Caller(team, AUTHOR), to=LEAD, summary="Finished for today", content="done")


async def test_who_comes_back_is_told_what_happened_and_finds_the_line_between_list_and_text_where_it_was_put(
    team: MemoryTeam, clock: Clock
) -> None:
    hand_in_plan(team, "Split the loader")
    async with opened(team) as desk:
        assert "Since you left" not in desk.text
        before = desk.app.main.pane.rows.size.width
        await desk.performs(*("wider",) * 3)
        await desk.until(lambda: desk.app.main.pane.rows.size.width > before + 5, "a wider list")
        width = desk.app.main.pane.rows.size.width
        desk.app.exit()
    clock.advance(2_460)
    finish(team)
    async with opened(team) as desk:
        await desk.shows("Since you left at", "(41 min)", "1 message")
        await desk.until(lambda: desk.app.main.pane.rows.size.width == width, "the same line")


def page(desk: Desk) -> str:
    """The text beside the list, as one line."""
    return " ".join(desk.detail.split())


def over() -> int:
    """The number of a process that has ended."""
    return int(subprocess.run(["sh", "-c", "echo $$"], capture_output=True, check=True).stdout)


async def test_an_agents_page_says_who_says_so_since_when_and_what_its_calls_may_pass_by(
    team: MemoryTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for session, pid in (("s-1", os.getpid()), ("s-2", over())):
        put(tmp_path / "sessions" / f"{session}.json", json.dumps({"sessionId": session, "pid": pid}))
    put(tmp_path / "plugins" / "mods" / "hooks" / "hooks.json", json.dumps({"modules": ["all.js"]}))
    keep_receipt(JoinReceipt(AUTHOR, os.path.join(os.getcwd(), team.location), str(tmp_path / "settings.json")))
    for name, session in ((AUTHOR, "s-1"), ("file-manager", "s-2")):
        note_session(Caller(team, name), session=session, doing=Doing.WORKING, client="claude-code", mode="dontAsk")
    async with opened(team) as desk:
        await desk.press("2")
        pane = desk.app.main.pane
        assert isinstance(pane, AgentsPane)
        pane.seek_agent(AUTHOR)
        desk.app.look()
        words = f"its hook said so just now · asks nobody · process {os.getpid()} runs"
        await desk.until(lambda: words in page(desk), "its process")
        assert "this plugin has modules" in page(desk)
        assert "our part is gone" in page(desk)
        pane.seek_agent("file-manager")
        await desk.until(lambda: "its process is gone" in page(desk), "the other")
        assert "our part is gone" not in page(desk)


async def test_settings_that_are_wrong_are_no_fault_of_the_watch(tmp_path: Path) -> None:
    write_team(tmp_path, letters(3))
    (tmp_path / "messenger-config.yaml").write_text("name: [", encoding="utf-8")
    async with opened(open_team(str(tmp_path)), size=(120, 40)) as desk:
        await desk.press("4")
        await desk.until(lambda: "✓ settings" not in desk.text and "settings are not YAML" in desk.text, "the settings")
        await desk.shows("● watch")


def decide(team: MemoryTeam, words: str, *, approve: bool = True) -> None:
    request_id = hand_in_plan(team, f"A plan that is answered with {words}")
    if approve:
        requests.approve(Caller(team, "ceo"), request_id=request_id, note=words)
    else:
        requests.reject(Caller(team, "ceo"), request_id=request_id, reason=words)


async def test_a_ledger_that_could_not_be_read_is_read_again(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    decide(team, "go-on")
    async with opened(team) as desk:
        with monkeypatch.context() as patch:
            patch.setattr("team_console.console.tui.modes.decisions.ledger_of_team", fails)
            await desk.press("3", "right")
            await desk.shows("Not read: ")
        desk.app._tick()
        await desk.shows("Decisions · 1")
        assert "not read again" not in desk.text


def test_its_text_is_read_in_an_editor_and_piped_to_a_command(tmp_path: Path) -> None:
    (tmp_path / "messenger-config.yaml").write_text("name: s\nlead: ceo\nagents: [dev]\n", encoding="utf-8")
    team = open_team(str(tmp_path))
    requests.submit_plan(Caller(team, "dev"), content="1. one \x1b[31mred\n2. two", summary="What is to be done")
    team.close()
    script = tmp_path / "reader.py"
    script.write_text("import sys\nprint('READS', ascii(open(sys.argv[1]).read()))\ninput()\n", encoding="utf-8")
    env = {"VISUAL": f"{sys.executable} {script}", "XDG_STATE_HOME": str(tmp_path / "state")}
    with console(tmp_path, "--as", LEAD, env=env) as terminal:
        terminal.wait_for("●", "1. one")
        terminal.send("f")
        terminal.wait_for("esc back")
        terminal.send("E")
        terminal.wait_for("READS '1. one", "2. two")
        assert "\\x1b" not in terminal.text
        terminal.send("\r")
        terminal.wait_for("esc back")
        terminal.send(":pipe\r")
        terminal.wait_for("Pipe the text")
        terminal.send("grep -c step; echo done | tr a-z A-Z\r")
        terminal.wait_for("DONE", "back to the console")
        terminal.send("\r")
        terminal.wait_for("esc back", "1. one")
        terminal.send("q")
        assert terminal.wait_exit() == 0


class LargeTeam(MemoryTeam):
    """A team that is read when `rest` is set."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.rest = Event()

    def snapshot(self, *, progress: Callable[[int, int], bool] | None = None) -> Snapshot:
        """Everything, after a while."""
        while not self.rest.wait(0.01):
            if progress is not None and not progress(1, 3):
                raise InterruptedError
        return super().snapshot()


async def test_how_far_a_long_reading_is_shows_and_leaving_stops_it(team: MemoryTeam) -> None:
    large = LargeTeam(config=team.config(), clock=team.clock)
    app = ConsoleApp(large, me=LEAD, reader=StoreReader(large, LEAD))
    async with app.run_test(size=(120, 40)) as pilot:
        desk = Desk(app, pilot)
        await desk.shows("1 of 3")
        assert "Nothing waits" not in desk.text
        app.exit()
    assert not large.rest.is_set()


HOSTILE = """messages:
- message_id: "MSG-1\\e[201~; touch /tmp/PWN\\r"
  type: message
  from: a2
  to: user
  created: '2026-11-21T10:00:00Z'
  status: pending
  payload: {summary: hello there, content: "one\\r\\ntwo \\e[201~ three\\n"}
"""


def test_what_is_copied_ends_no_paste_and_a_line_break_stands_only_between_lines_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "message-queue.yaml").write_text(HOSTILE)
    with console(tmp_path, env={"XDG_STATE_HOME": str(tmp_path / "state")}) as terminal:
        terminal.wait_for("hello there", "●")
        reach(terminal, "y", "Copied the id")
        reach(terminal, "Y", "Copied the text")
        copied = strict.of_screen(bytes(terminal.output)).copied
        terminal.send("q")
        terminal.wait_exit()
    assert len(copied) >= 2
    identifier, text = copied[0], copied[-1]
    assert not [letter for letter in identifier if ord(letter) < 32]
    assert not [letter for letter in text if (ord(letter) < 32 and letter != "\n") or 0x7F <= ord(letter) < 0xA0]
    assert text.startswith("one\ntwo")
    assert not text.endswith("\n")


async def test_a_team_of_another_program_has_no_record_of_ours() -> None:
    async with opened(open_team(str(CLAUDE), read_only=True), read_only=True) as desk:
        await desk.press("4")
        await desk.shows("another program keeps this team, and no record")
