"""The bytes of a queue before anybody reads them as YAML: encoding, NUL bytes, conflict markers of git."""

from __future__ import annotations

import re

from team_console.store.backends.yaml.codec.errors import CodecError, Kind

BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 20
_CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)
"""A marker that git leaves: `<<<<<<< HEAD`, `>>>>>>>`. A line of `=======` may be a title in a text."""


def check_bytes(data: bytes) -> None:
    """Refuse bytes that are not UTF-8 text without NULs and conflict markers.

    Raises:
        CodecError: Naming the line.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CodecError("the file is UTF-16, not UTF-8", 1, hint="Save it as UTF-8.", kind=Kind.SYNTAX)
    nul = data.find(b"\0")
    if nul >= 0:
        raise CodecError(
            "NUL bytes, as a crash or a wrong encoding leaves them,",
            _line(data, nul),
            hint="Restore the file from a copy, or save it as UTF-8.",
            kind=Kind.SYNTAX,
        )
    _check_utf8(data)
    if any(sign in data and (b"\n" + 7 * sign in data or data.startswith(7 * sign)) for sign in (b"<", b">")):
        _check_conflict(data)


def _check_utf8(data: bytes) -> None:
    if data.isascii():
        return
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _CHUNK) + 1 or len(data)
        try:
            data[start:end].decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(data, start + error.start) from None
        start = end


def _not_utf8(data: bytes, position: int) -> CodecError:
    start = data.rfind(b"\n", 0, position) + 1
    return CodecError(
        f"byte 0x{data[position]:02x} is not UTF-8 (perhaps Latin-1)",
        _line(data, position),
        column=len(data[start:position].decode()) + 1,
        hint="Save the file as UTF-8.",
        kind=Kind.SYNTAX,
    )


def _check_conflict(data: bytes) -> None:
    match = _CONFLICT.search(data)
    if match:
        raise CodecError(
            "a conflict marker of git",
            _line(data, match.start()),
            hint="Resolve the merge and remove the marker lines.",
            kind=Kind.SYNTAX,
        )


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
