"""Where the result of a command line goes: safe text for people, lossless JSON for programs, errors for both."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_json, safe_line, safe_text

_PIECE = 1 << 18
"""Characters encoded at a time: a long answer is not kept twice."""
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


class OutputLost(Exception):
    """Standard output took no more (a full disk, a closed terminal)."""


class Output:
    """The two streams of one command line.

    Attributes:
        as_json: Whether results and errors are JSON objects on standard output.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def say(self, *lines: object, style: str = "", rest: object = "") -> None:
        """Print lines for people, an empty one without any; each is made safe and stays one line.

        Args:
            style: What a terminal shows them in, as `bold`, `red`.
            rest: What the line goes on with in no style.
        """
        for line in lines or ("",):
            self._write(sys.stdout, f"{_with_style(safe_line(line), style)}{safe_line(rest)}\n")

    def write(self, text: str) -> None:
        """Print text of several lines, made safe."""
        self._write(sys.stdout, safe_text(text) + "\n")

    def json(self, value: Any, *, one_line: bool = False) -> None:
        """Print one JSON value: indented on a terminal unless it is one of several lines, one line into a pipe."""
        indent = 2 if is_terminal(sys.stdout) and not one_line else None
        self._write(sys.stdout, to_json(value, indent=indent) + "\n")

    def note(self, *lines: object) -> None:
        """Say something beside the result, such as progress. On standard error, each made safe and on one line."""
        for line in lines:
            self._write(sys.stderr, safe_line(line) + "\n")

    def warn(self, warnings: Sequence[str]) -> None:
        """Print warnings of a write action, one line each."""
        for warning in warnings:
            self.note(f"warning: {warning}")

    def failure(self, error: TeamError) -> None:
        """Print the one error object: JSON on standard output, or two lines of text on standard error."""
        if self.as_json:
            self.json(error.as_json())
            return
        self.note(f"team-console: {error.message} ({error.code})")
        if error.hint:
            self.note(f"  {error.hint}")

    def report_defect(self, refusal: Mapping[str, Any]) -> None:
        """Report a defect of ours, by its error object, in one line and without a traceback."""
        if self.as_json:
            self.json(refusal)
        else:
            self.note(f"team-console: unexpected {refusal['message']}", f"  {refusal['hint']}")
        self.flush()

    def flush(self) -> None:
        """Make sure the result is out.

        Raises:
            BrokenPipeError: The reader went away.
            OutputLost: The output could not be written.
        """
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputLost(f"standard output: {error.strerror}") from error

    def abandon(self) -> None:
        """Give up standard output, so that leaving does not try to flush it once more and complain."""
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.close(null)
        except OSError:
            return

    def _write(self, stream: TextIO | None, text: str) -> None:
        if stream is None:
            return
        try:
            _write_all(stream, text)
        except BrokenPipeError:
            raise
        except OSError as error:
            if stream is sys.stdout:  # of standard error there is nowhere to tell
                raise OutputLost(f"standard output: {error.strerror}") from error


def _with_style(text: str, style: str) -> str:
    """Return `text` in a style when standard output is a terminal that wants colour, else as it is."""
    wanted = is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and text and wanted else text


def _write_all(stream: TextIO, text: str) -> None:
    """Write all of a text: under PYTHONUNBUFFERED a stream drops what the system did not take at the first try."""
    for start in range(0, len(text), _PIECE):
        rest = memoryview(text[start : start + _PIECE].encode(stream.encoding, "backslashreplace"))
        while rest:
            rest = rest[stream.buffer.write(rest) :]
    if stream is not sys.stdout or stream.isatty():
        stream.flush()


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON that cannot steer a terminal: controls, bidi and invisible characters are escaped.

    Parsing it gives back exactly `value`; dates that a YAML reader made become text.
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    text = json.dumps(value, ensure_ascii=encoding != "utf8", indent=indent, default=str)
    return safe_json(text)


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a person is looking at this stream."""
    return stream is not None and stream.isatty()


def columns() -> int:
    """Return the cells of a line, as `COLUMNS` or the terminal of standard output says, else 80.

    So does `shutil`, whose import takes longer than a verb takes to parse its options.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80
