"""The console on a team in which every field is hostile: nothing of it reaches the terminal as anything but text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from team_console.store.model.safe import safe_line

from tests.equipment import corpus, strict
from tests.equipment.cases import constant
from tests.equipment.pressed_keys import ENTER, ESCAPE, TAB, arrives, close_form, leave, reach
from tests.equipment.terminal import Terminal, console

pytestmark = pytest.mark.slow

LISTS = constant(__file__, "LISTS", dict[str, str])
_QUIET = 0.03


@dataclass
class Tour:
    """One session of the console and all pictures that were seen in it, by mode."""

    terminal: Terminal
    seen: dict[str, list[str]] = field(default_factory=dict)
    mode: str = "1"

    def go(self, mode: str) -> None:
        """Go to a mode and see its list."""
        self.mode = mode
        reach(self.terminal, mode, f"{LISTS[mode]}")
        self.look()

    def press(self, *keys: str) -> str:
        """Press keys one after the other, the screen at rest after each; the last picture."""
        for key in keys:
            self.terminal.send(key)
            self.look()
        return self.terminal.text

    def look(self) -> None:
        """Wait for a screen at rest and remember it."""
        self.terminal.settle(_QUIET)
        self.seen.setdefault(self.mode, []).append(self.terminal.text)

    def escape(self, times: int = 2) -> None:
        """Back out of whatever is open."""
        for _ in range(times):
            self.terminal.send(ESCAPE)
            self.terminal.settle(_QUIET)


def _lists(tour: Tour) -> None:
    for mode in LISTS:
        tour.go(mode)
        tour.press(*["jjjj"] * 2)
        tour.press(":as written" + ENTER, "G", "kkk", ENTER, "G")
        tour.escape()
        tour.press(":as written" + ENTER, "g")


def _inbox_rows(tour: Tour) -> None:
    tour.go("2")
    tour.press("g", TAB, *["jjj"] * 4, "G", TAB, "G", "g")


def _verdicts(tour: Tour) -> None:
    tour.go("1l")
    for number in range(2):
        tour.press("a" if number % 2 else "r")
        if arrives(tour.terminal, "· esc ", 3.0):
            tour.look()
            tour.press("because", ENTER)
        close_form(tour.terminal)
        tour.press("j")


def _letters(tour: Tour) -> None:
    tour.go("1")
    for _ in range(2):
        tour.press("m", TAB, TAB, "x")
        tour.escape()
        tour.press("jjj")
    tour.press("d", "z", "s")
    tour.escape()
    tour.press("b", "words", TAB, "more words")
    tour.escape()
    tour.press("S")
    tour.escape()


def _remedies(tour: Tour) -> None:
    tour.go("6")
    for key in "txeu":
        tour.press(" ", " ", key)
        tour.escape()
        tour.press("jjj")


def _frame(tour: Tour) -> None:
    for mode in "13":
        tour.go(mode)
        tour.press("?", "G")
        tour.escape()
        tour.press("/", "PWNED", ENTER, "j", "y", "Y")
        tour.escape()
        if mode == "1":
            reach(tour.terminal, "y", "Copied the id")
    tour.press(":", "appr")
    tour.escape()


@pytest.fixture
def tour(tmp_path: Path) -> Tour:
    """A session through everything, ended with q."""
    folder = tmp_path / "hostile" / "team\x1b]0;PWNED\x07\u202e"
    corpus.build(folder)
    with console(folder, env={"XDG_STATE_HOME": str(tmp_path / "state")}) as terminal:
        made = Tour(terminal)
        terminal.wait_for("hostile · ceo", "Needs you")
        for part in (_frame, _lists, _inbox_rows, _letters, _remedies, _verdicts):
            part(made)
        leave(terminal)
    return made


def test_nothing_of_the_store_reaches_the_terminal_as_anything_but_text(tour: Tour) -> None:
    output = bytes(tour.terminal.output)
    judged = strict.of_screen(output)
    assert judged.faults == []
    # Markup and escapes stand on the screen letter by letter, in every mode.
    pictures = {mode: "\n".join(seen) for mode, seen in tour.seen.items()}
    for mode in LISTS:
        assert "␛" in pictures[mode], mode
        assert any(item in pictures[mode] for item in corpus.PLAINLY_SHOWN), mode
    assert [item for item in corpus.PLAINLY_SHOWN if not any(item in seen for seen in pictures.values())] == []
    # No text moves the frame.
    heads = [picture.splitlines()[0] for seen in tour.seen.values() for picture in seen]
    assert all(head.startswith(" 1 Needs you") and "hostile · ceo" in head for head in heads)
    # The clipboard gets only what was asked for.
    stored = {record["message_id"] for record in corpus.records()} | {
        record["payload"].get("request_id") for record in corpus.records()
    }
    assert "PWNED" not in judged.copied
    assert {safe_line(one) for one in stored} & set(judged.copied)
    assert not [
        text
        for text in judged.copied
        if any(sign != "\n" and (ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0) for sign in text)
    ]
    # The terminal gets its title back.
    assert b"\x1b]0;" not in output
    assert set(re.findall(rb"\x1b\]2;(.*?)\x1b\\", output)) <= {b"(%d) hostile" % number for number in range(100)}
    assert output.rindex(b"\x1b[23;2t") > output.rindex(b"\x1b]2;") > output.index(b"\x1b[22;2t")
