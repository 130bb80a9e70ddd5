"""What is handed to a verb on standard input or in a file: read whole, as UTF-8, and not without end."""

from __future__ import annotations

import sys
from typing import Any

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import parse_json, parse_json_sequence, without_comments

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
