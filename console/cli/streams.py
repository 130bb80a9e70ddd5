"""The streams of a command line: results go out as safe text or lossless JSON, and text and JSON come in, as UTF-8."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import parse_json, parse_json_sequence, without_comments
from team_console.store.model.safe import safe_json, safe_line, safe_text

# Out: standard output for the result, standard error for everything beside it.

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
        """Write a text to a stream, if it is open.

        Raises:
            BrokenPipeError: The reader went away.
            OutputLost: Standard output takes no more; of standard error there is nowhere to tell.
        """
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


# In: what a verb is handed on standard input or in a file is read whole, and not without end.

_MAX_BYTES = 64 * 1024 * 1024
"""Bytes of the largest input that is read."""


def text_or_input(value: str | None) -> str | None:
    """Return `value`, or what standard input holds when it is `-`.

    Raises:
        TeamError: `INVALID_FIELD` for bytes that are not UTF-8, `CONTENT_TOO_LARGE` above 64 MiB.
    """
    return standard_input("content") if value == "-" else value


def file_text(path: str, *, what: str) -> str:
    """Return the text of a file, or of standard input when it is `-`.

    Raises:
        TeamError: `INVALID_FIELD` for what cannot be read or is not UTF-8, `CONTENT_TOO_LARGE` above 64 MiB.
    """
    if path == "-":
        return standard_input(what)
    try:
        with open(path, "rb") as stream:
            return _decoded(stream.read(_MAX_BYTES + 1), what, path)
    except OSError as error:
        raise TeamError(
            Code.INVALID_FIELD, f"{what}: {path}: {error.strerror}", "Name a file that can be read, or - for stdin."
        ) from None


def json_documents(text: str, *, hint: str) -> list[Any]:
    """Parse JSON values that follow one another, over any number of lines and with `// comments` (seed 001).

    Where each line is one object, the list has a `TeamError` (`INVALID_FIELD` with the place) for a line that cannot be
    read, and the values of the others. In any other text nobody can tell where the next value begins: the list has the
    error alone.

    Raises:
        TeamError: `INVALID_FIELD` when standard input is empty.
    """

    text = without_comments(text)
    if not text.strip():
        raise TeamError(Code.INVALID_FIELD, "standard input is empty", hint)
    try:
        return parse_json_sequence(text, what="standard input", hint=hint)
    except TeamError as error:
        documents = _document_of_each_line(text, hint)
        return documents if documents is not None else [error]


def _document_of_each_line(text: str, hint: str) -> list[Any] | None:
    """Return the value of each line, or its error; None where not each of several lines looks like one object."""
    # Not splitlines: a JSON text may hold U+2028, U+0085 and others that it takes for line ends.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for _, line in lines):
        return None
    found: list[Any] = []
    for number, line in lines:
        try:
            found.append(parse_json(line, what=f"standard input, document in line {number}", hint=hint))
        except TeamError as error:
            found.append(error)
    return found


def standard_input(what: str) -> str:
    """Return all of standard input as text; `what` names it in an error.

    Raises:
        TeamError: As `text_or_input`.
    """
    stream = sys.stdin
    data = stream.buffer.read(_MAX_BYTES + 1) if stream is not None else b""
    return _decoded(data, what, "standard input")


def _decoded(data: bytes, what: str, place: str) -> str:
    """Return bytes of standard input or of a file as text; errors name `what` was asked for, and the place.

    Raises:
        TeamError: As for `text_or_input`.
    """
    if len(data) > _MAX_BYTES:
        where = "on standard input" if place == "standard input" else f"in {place}"
        raise TeamError(Code.CONTENT_TOO_LARGE, f"{what}: more than {_MAX_BYTES >> 20} MiB {where}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TeamError(
            Code.INVALID_FIELD,
            f"{what}: byte {error.start} of {place} is not UTF-8",
            "Convert it first, for example with iconv -t UTF-8.",
        ) from None
