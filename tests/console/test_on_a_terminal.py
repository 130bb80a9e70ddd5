"""What a human does on a real terminal: mouse, editor, notices, another team, the views that stand over the modes."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team

from tests import showcase
from tests.equipment.cases import cases
from tests.equipment.command_line import COMMAND, CommandLine
from tests.equipment.terminal import Terminal

pytestmark = pytest.mark.slow

LEAD = showcase.LEAD
ESCAPE = "\x1b[27u"


def on_team(folder: Path, home: Path, *flags: str, **env: str) -> Terminal:
    """The console on the showcase, with files of its own."""
    folder.mkdir()
    showcase.build(folder)
    homes = {"XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
    return Terminal([*COMMAND, "-t", str(folder), "--as", LEAD, *flags], cwd=home, env={**homes, **env})


def editor(folder: Path, body: str) -> str:
    """An editor that does what `body` says with the file `$1`."""
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_an_editor_takes_the_terminal_and_what_it_leaves_stands_in_the_form(tmp_path: Path) -> None:
    with on_team(tmp_path / "team", tmp_path, EDITOR=str(tmp_path / "editor")) as terminal:
        terminal.wait_for("●", "Escalation")
        terminal.send("jjr")
        terminal.wait_for("the asker reads it")
        terminal.settle()
        terminal.send("Say")
        terminal.wait_for("Say")
        terminal.send("\x05")
        terminal.wait_for("cannot be run: No such file or directory", "Set EDITOR")
        editor(tmp_path, 'IFS= read answer < /dev/tty; [ "$answer" = fail ] && exit 3; printf "%s" "$answer" >> "$1"')
        for typed, shown in (("fail", "ended with status 3"), ("", "Say"), (" how", "Say how")):
            edit(terminal, typed)
            terminal.wait_for("Reject the plan", shown)
        terminal.wait_gone("ended with status 3")
        # A form that was just given back refuses Enter for a moment, and says so; it is pressed again as people would.
        until(terminal, "\r", lambda: "Reject the plan" not in terminal.text)
        terminal.wait_until(lambda: _words(tmp_path / "team")[-1:] == ["Say how"], "the verdict")


def until(terminal: Terminal, key: str, is_done: Callable[[], bool]) -> None:
    """Press a key until a form takes it: what comes early is refused, which the form says; people press it again."""
    for _ in range(30):
        terminal.send(key)
        terminal.settle(0.5)
        if is_done():
            return
    raise AssertionError(terminal.text)


def edit(terminal: Terminal, typed: str) -> None:
    """Type a line in the editor, once it has the terminal; the console has it again afterwards."""
    given, taken = (terminal.output.count(b"\x1b[?1049" + sign) for sign in (b"l", b"h"))
    until(terminal, "\x05", lambda: terminal.output.count(b"\x1b[?1049l") > given)
    terminal.wait_until(lambda: not terminal.is_raw, "keys that are the editor's")
    terminal.send(f"{typed}\r")
    terminal.wait_until(lambda: terminal.output.count(b"\x1b[?1049h") > taken, "the console's turn")
    terminal.wait_until(lambda: terminal.is_raw, "keys that are its own")  # before that Enter is the end of a line


def _words(folder: Path) -> list[str]:
    """The words of verdicts on plans that nobody read yet."""
    messages = open_team(str(folder), read_only=True).snapshot().messages
    return [message.content for message in messages if message.type == "plan_approval_response"]


@cases
def test_who_sits_at_the_console_stays_so_in_another_team_unless_it_is_the_lead_of_each(
    bound: str, seat: str, make_team: Callable[..., CommandLine], tmp_path: Path
) -> None:
    """An agent's process is bound to its name: it must not become the lead of a team in which nobody is called so."""
    team = make_team("worker")
    other = team.folder.parent / "other"
    team.ok("init", str(other), "--name", "other", "--lead", "boss", "--agent", "clerk")
    env = {"TEAM_CONSOLE_AS": bound} if bound else {}
    with Terminal([*COMMAND, "-t", str(team.folder)], cwd=tmp_path, env=env) as terminal:
        terminal.wait_for(f"· {bound or 'ceo'} ", "●")
        terminal.send(":all teams\r")
        terminal.wait_for("◆ other")
        until(terminal, "j", lambda: any("◆ other" in line and "▌" in line for line in terminal.text.splitlines()))
        terminal.send("\r")
        terminal.wait_for("●", f"other · {seat} ")


@pytest.mark.parametrize("opens", [("-t", "."), ("demo",)])
def test_a_terminal_that_cannot_place_its_cursor_is_told_so_and_nothing_is_painted(
    tmp_path: Path, opens: tuple[str, ...]
) -> None:
    with Terminal([*COMMAND, *opens], cwd=tmp_path, columns=200, env={"TERM": "dumb"}) as terminal:
        assert terminal.wait_exit() == 2
        assert "this one says it cannot (TERM=dumb)" in terminal.text
        assert b"\x1b" not in terminal.output


def test_a_terminal_of_another_encoding_shows_everything_in_its_column_also_after_it_was_small(tmp_path: Path) -> None:
    with on_team(tmp_path / "team", tmp_path, PYTHONUTF8="0", PYTHONIOENCODING="ascii", LC_ALL="C") as terminal:
        terminal.wait_for("ceo  *", "Escalation", ": palette  ? help")
        assert "\\" not in terminal.text
        assert terminal.text.splitlines()[0].endswith("*")
        terminal.settle()
        before = terminal.text.splitlines()
        terminal.resize(80, 24)
        terminal.resize(120, 40)
        terminal.wait_for("ceo  *", "Escalation", "palette")
        terminal.wait_until(lambda: terminal.text.splitlines()[0] == before[0], "tabs as they were")
        terminal.send("?")
        terminal.wait_for("Decide", "esc")
        assert "\\" not in terminal.text


def test_keys_behind_the_one_that_closes_a_view_or_decides_go_to_what_stands_behind_it(tmp_path: Path) -> None:
    with on_team(tmp_path / "team", tmp_path) as terminal:
        terminal.wait_for("●", "Escalation")
        terminal.send(":agent debugger\rjjj")
        terminal.wait_for("Agents ·", "│ file-manager")  # three below
        terminal.send(":agent architect\r3")
        terminal.wait_for("History ·", "Tuesday 2026-02-24")
        terminal.send(":no such thing at all\r" + ESCAPE + "1l")
        terminal.wait_for("All requests ·")
        terminal.send("?" + ESCAPE + "4")
        terminal.wait_for("Health ·")
        terminal.send("1gc" + ESCAPE + "6")
        terminal.wait_for("Deliveries ·")
        terminal.send(":watch the shutdown\r" + ESCAPE + "3")
        terminal.wait_for("History ·")
        terminal.send("/escalation\r1l")
        terminal.wait_for("All requests ·")
        terminal.send("3")
        terminal.wait_for("History ·", "/ escalation")
        terminal.send(ESCAPE + "e" + ESCAPE + "5")
        terminal.wait_for("Sprint ·")
        terminal.send(":theme\r" + ESCAPE + "1")
        terminal.wait_for("Needs you")
        terminal.send("gjjr")
        terminal.wait_for("enter reject")
        terminal.send("first no" + "\r" + "1l/plan\r3q")
        assert terminal.wait_exit() == 0
    assert _words(tmp_path / "team")[-1:] == ["first no"]
