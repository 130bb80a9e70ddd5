"""Reads a content handed in on standard input: whole, as UTF-8, and not without end."""

from __future__ import annotations

import sys

from store.errors import Code, TeamError

_MAX_BYTES = 64 * 1024 * 1024


def content(value: str | None) -> str | None:
    """`value`, or what standard input holds when it is `-`.

    Raises:
        TeamError: `INVALID_FIELD` for bytes that are not UTF-8, `CONTENT_TOO_LARGE` above 64 MiB.
    """
    return read("content") if value == "-" else value


def read(what: str) -> str:
    """All of standard input as text; `what` names it in an error.

    Raises:
        TeamError: As `content`.
    """
    stream = sys.stdin
    data = stream.buffer.read(_MAX_BYTES + 1) if stream is not None else b""
    if len(data) > _MAX_BYTES:
        raise TeamError(Code.CONTENT_TOO_LARGE, f"{what}: more than {_MAX_BYTES >> 20} MiB on standard input")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TeamError(
            Code.INVALID_FIELD,
            f"{what}: byte {error.start} of standard input is not UTF-8",
            "Convert it first, for example with iconv -t UTF-8.",
        ) from None
