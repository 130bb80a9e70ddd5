"""Records the demo: `python -m tests.recording [FOLDER]` writes demo.cast (asciinema) and demo.svg, which moves.

The demo runs on a pseudo terminal and is driven by keys, each once what it is about stands on the screen.
"""

from __future__ import annotations

import codecs
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.equipment.cases import constant
from tests.equipment.command_line import COMMAND
from tests.equipment.terminal import Terminal
from tests.equipment.terminal_picture import BACK, CELL, LINE, SVG, drawn_line

COLUMNS, LINES = 110, 32
_PACE = 0.11
"""Seconds between two letters that are typed."""
_STEP = 0.25
"""Seconds between two looks at the screen."""
_PATIENCE = 90.0
"""Seconds after which words that were expected count as missing."""
_FRAME = 0.35
"""Seconds that a picture of the moving ones stands at least."""

Frame = tuple[str, ...]
"""Lines of the screen, drawn."""


@dataclass
class Recording:
    """What came from the terminal and when, and what stood on the screen at each look."""

    terminal: Terminal
    begin: float = field(default_factory=time.monotonic)
    output: list[tuple[float, bytes]] = field(default_factory=list)
    frames: list[tuple[float, Frame]] = field(default_factory=list)
    _seen: int = 0

    def watch(self, seconds: float) -> None:
        """Look on for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.terminal.pump(min(left, _STEP))
            self._look()

    def until(self, *words: str) -> None:
        """Look on until all of `words` stand on the screen."""
        end = time.monotonic() + _PATIENCE
        while not all(word in self.terminal.text for word in words):
            if time.monotonic() > end:
                raise TimeoutError(f"{words} never came:\n{self.terminal.text}")
            self.watch(_STEP)

    def press(self, keys: str, *, then: float) -> None:
        """Type, letter by letter, and look on."""
        for key in keys:
            self.terminal.send(key)
            self.watch(_PACE)
        self.watch(then)

    def go_to(self, *words: str) -> None:
        """Step through the list, again and again, until all of `words` stand in what the cursor is on."""
        end = time.monotonic() + _PATIENCE
        while True:
            before = ""
            self.press("\x1b", then=_RESTING)  # out of what may have been opened
            self.press(_TOP, then=_RESTING)
            while (now := self.terminal.text) != before:
                if all(word in _below_cursor(now) for word in words):
                    self.watch(0.8)
                    return
                before = now
                self.press(_DOWN, then=_RESTING)
            if time.monotonic() > end:
                raise TimeoutError(f"{words} never came:\n{self.terminal.text}")

    def name_no_place(self, scratch: str) -> None:
        """Put a name that says nothing of this machine in the place of the demo's folder, as wide as that."""
        place = re.compile(re.escape(scratch) + r"/team-console-demo-\w+/team")

        def hidden(found: re.Match[str]) -> str:
            return "~/demo/team".rjust(len(found.group()))

        self.output = [(at, place.sub(hidden, data.decode("latin-1")).encode("latin-1")) for at, data in self.output]
        self.frames = [(at, tuple(place.sub(hidden, line) for line in frame)) for at, frame in self.frames]

    def _look(self) -> None:
        now, data = time.monotonic() - self.begin, bytes(self.terminal.output[self._seen :])
        if not data:
            return
        self._seen += len(data)
        self.output.append((now, data))
        frame = tuple(drawn_line(self.terminal.screen, y) for y in range(LINES))
        if self.frames and now - self.frames[-1][0] < _FRAME:
            self.frames[-1] = (self.frames[-1][0], frame)
        elif not self.frames or self.frames[-1][1] != frame:
            self.frames.append((now, frame))


_DOWN, _TOP = "j", "g"
_RESTING = 0.3
"""Seconds after a step in the list in which what is under the cursor is drawn."""


STORY = constant(__file__, "STORY", list[str])
"""The first minute: a plan goes back and comes back changed, a tool is allowed, a stop refused."""


def play(recording: Recording) -> None:
    """Do what the lines say: `until WORDS`, `go to WORDS`, `watch SECONDS`, `type KEYS, then SECONDS`."""
    for line in STORY:
        verb, _, rest = line.partition(" ")
        if verb == "watch":
            recording.watch(float(rest))
        elif verb == "type":
            keys, _, then = rest.rpartition(", then ")
            recording.press(keys.replace("enter", "\r"), then=float(then))
        elif verb == "until":
            recording.until(*rest.split(", "))
        else:
            recording.go_to(*rest.removeprefix("to ").split(", "))


def _below_cursor(screen: str) -> str:
    """What stands right of the list, where the thing under the cursor is shown."""
    lines = screen.splitlines()
    head = next((line for line in lines if "┌" in line or "╔" in line), "")
    edge = max(head.find("┌"), head.find("╔"), 0)
    return "\n".join(line[edge:] for line in lines[lines.index(head) :] if edge) if head else ""


def cast_of(recording: Recording) -> Iterator[str]:
    """The lines of an asciinema file, version 2."""
    head = {"version": 2, "width": COLUMNS, "height": LINES, "title": "team-console demo"}
    yield json.dumps({**head, "env": {"TERM": "xterm-256color"}})
    characters = codecs.getincrementaldecoder("utf-8")("replace")
    for moment, data in recording.output:
        yield json.dumps([round(moment, 3), "o", characters.decode(data)], ensure_ascii=False)


def svg_of(frames: list[tuple[float, Frame]], end: float) -> Iterator[str]:
    """A picture that moves: lines that many frames share are drawn once, and each is seen while it stands there."""
    yield SVG.format(width=COLUMNS * CELL + 20, height=LINES * LINE + 20) + ".s{opacity:0}"
    shows: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for (start, frame), after in zip(frames, [*[moment for moment, _ in frames[1:]], end], strict=True):
        for y, line in enumerate(frame):
            spans = shows.setdefault((y, line), [])
            if spans and abs(spans[-1][1] - start) < 1e-6:
                spans[-1] = (spans[-1][0], after)
            else:
                spans.append((start, after))
    body = []
    for number, ((y, line), spans) in enumerate(shows.items()):
        yield f"@keyframes k{number}{{{_steps(spans, end)}}}"
        yield f"#l{number}{{animation:k{number} {end:.1f}s step-end infinite}}"
        body.append(f'<g class="s" id="l{number}" transform="translate(10 {10 + y * LINE})">{line}</g>')
    yield f'</style><rect width="100%" height="100%" rx="8" fill="{BACK}"/>'
    yield from body
    yield "</svg>"


def _steps(spans: list[tuple[float, float]], end: float) -> str:
    marks = {0.0: 0}
    for start, stop in spans:
        marks[start / end * 100] = 1
        marks.setdefault(stop / end * 100, 0)
        marks[min(100.0, stop / end * 100)] = 0
    return "".join(f"{mark:.2f}%{{opacity:{seen}}}" for mark, seen in sorted(marks.items()))


def record(folder: Path) -> tuple[Path, Path]:
    """Play the demo and write both files into `folder`."""
    with tempfile.TemporaryDirectory() as scratch:
        env = {"TMPDIR": scratch, "XDG_STATE_HOME": scratch, "XDG_CONFIG_HOME": scratch, "TEAM_CONSOLE_THEME": "dark"}
        with Terminal(
            [*COMMAND, "demo"], cwd=Path(scratch), columns=COLUMNS, lines=LINES, env=env, styled=True
        ) as terminal:
            recording = Recording(terminal)
            play(recording)
            end = time.monotonic() - recording.begin
            terminal.send("\x11")
            terminal.wait_exit()
    recording.name_no_place(scratch)
    begin = recording.frames[0][0]
    folder.mkdir(parents=True, exist_ok=True)
    cast, svg = folder / "demo.cast", folder / "demo.svg"
    cast.write_text("\n".join(cast_of(recording)) + "\n", encoding="utf-8")
    frames = [(moment - begin, frame) for moment, frame in recording.frames]
    svg.write_text("".join(svg_of(frames, end - begin)) + "\n", encoding="utf-8")
    return cast, svg


if __name__ == "__main__":
    for path in record(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")):
        print(path, f"{path.stat().st_size:,} bytes")
