"""The console on a team in which every field is hostile: nothing of it reaches the terminal as anything but text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from team_console.store.model.safe import safe_line

from tests.pty import Terminal, console
from tests.trust import corpus, strict
from tests.trust.keys import ENTER, ESCAPE, TAB, arrives, close_form, leave, reach

pytestmark = pytest.mark.slow

LISTS = {
    "1": "Needs you",
    "2": "Agents",
    "1l": "All requests",
    "3": "History",
    "4": "Health",
    "5": "Sprint",
    "6": "Deliveries",
}
_QUIET = 0.03


_RULE_OF_TITLES = "▊"
"""Where the rule between list and detail goes through the row of their titles."""


@dataclass
class Tour:
    """One session of the console and all pictures that were seen in it, by mode."""

    terminal: Terminal
    seen: dict[str, list[str]] = field(default_factory=dict)
    mode: str = "1"
    edges: set[str] = field(default_factory=set)

    def go(self, mode: str) -> None:
        """Go to a mode and see its list."""
        self.mode = mode
        reach(self.terminal, mode, f"{LISTS[mode]}")
        self.look()

    def walk(self, steps: int) -> None:
        """Go down the list; the right edge of every panel is remembered."""
        for _ in range(steps):
            self.press("jjjj")
            screen = self.terminal.screen
            # A banner may stand above the list; it begins below the row of titles, which the rule goes through as well.
            rules = [
                (y, x)
                for y in range(screen.lines)
                for x in range(screen.columns)
                if screen.buffer[y][x].data == _RULE_OF_TITLES
            ]
            if rules:
                titles, rule = rules[0]
                below = range(titles + 1, screen.lines - 1)
                texts = {line: "".join(screen.buffer[line][x].data for x in range(screen.columns)) for line in below}
                # What is said stands over the rule at the bottom; the terminal of the tests knows no joined emoji.
                said = {line for line in below if line > screen.lines - 8 and texts[line].startswith("▌ ")}
                plain = [line for line in below if line not in said and max(texts[line]) < "\U0001f000"]
                self.edges |= {screen.buffer[line][rule].data for line in plain}

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
        tour.walk(4)
        tour.press("v", "G", "kkk", ENTER, "G")
        tour.escape()
        tour.press("v", "g")


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


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tour]:
    """A session through everything, ended with q."""
    folder = tmp_path_factory.mktemp("hostile") / "team\x1b]0;PWNED\x07\u202e"
    state = tmp_path_factory.mktemp("state")
    corpus.build(folder)
    with console(folder, env={"XDG_STATE_HOME": str(state)}) as terminal:
        made = Tour(terminal)
        terminal.wait_for("hostile · ceo", "Needs you · ")
        parts: tuple[Callable[[Tour], None], ...] = (_frame, _lists, _inbox_rows, _letters, _remedies, _verdicts)
        for part in parts:
            part(made)
        leave(terminal)
        yield made


def test_not_one_control_byte_of_the_store_reaches_the_terminal(tour: Tour) -> None:
    assert strict.of_screen(bytes(tour.terminal.output)).faults == []


@pytest.mark.parametrize("mode", list(LISTS))
def test_hostile_text_is_shown_as_what_it_is_in_every_mode(tour: Tour, mode: str) -> None:
    pictures = "\n".join(tour.seen[mode])
    assert "␛" in pictures
    assert any(item in pictures for item in corpus.PLAINLY_SHOWN)


def test_markup_and_escapes_stand_on_the_screen_letter_by_letter(tour: Tour) -> None:
    pictures = "\n".join(picture for pictures in tour.seen.values() for picture in pictures)
    assert [item for item in corpus.PLAINLY_SHOWN if item not in pictures] == []


def test_no_text_moves_the_frame(tour: Tour) -> None:
    assert all(picture.startswith(" ◆ hostile · ceo") for pictures in tour.seen.values() for picture in pictures)
    assert tour.edges == {"▏"}


def test_the_clipboard_gets_only_what_was_asked_for_and_encoded(tour: Tour) -> None:
    copied = strict.of_screen(bytes(tour.terminal.output)).copied
    stored = {record["message_id"] for record in corpus.records()} | {
        record["payload"].get("request_id") for record in corpus.records()
    }
    assert "PWNED" not in copied
    assert {safe_line(one) for one in stored} & set(copied)
    assert not [text for text in copied if any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in text)]


def test_the_terminal_gets_its_title_back(tour: Tour) -> None:
    output = bytes(tour.terminal.output)
    assert b"\x1b]0;" not in output
    assert set(re.findall(rb"\x1b\]2;(.*?)\x1b\\", output)) <= {b"(%d) hostile" % number for number in range(100)}
    assert output.rindex(b"\x1b[23;2t") > output.rindex(b"\x1b]2;") > output.index(b"\x1b[22;2t")
