"""Torn pieces of the queue: what is left of a message when a program that writes in place was cut off.

A piece may only go when it holds nothing but a beginning of a message that is known: then nothing is lost with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from team_console.store.backends.yaml.codec import CodecError
from team_console.store.backends.yaml.codec.entry import parse_record
from team_console.store.model.message import Message

_LARGEST = 1 << 20
"""Bytes of a piece that is looked at; it is parsed a few dozen times."""
_CLOSINGS = (b"", b"}", b"]", b"}}", b"]}", b"}}}", b"]}}")
_HALF_ESCAPE = re.compile(rb"\\(?:[xuU][0-9A-Fa-f]*)?\Z")
_NO_LETTER = re.compile(r"[\W_]+")


def remnants(pieces: Iterable[bytes], messages: Iterable[Message]) -> list[bytes]:
    """Those of the pieces that are the beginning of one of the messages, and nothing else."""
    found = [(piece, list(_readings(piece))) for piece in pieces if len(piece) <= _LARGEST]
    known = list(messages) if found else []
    return [piece for piece, readings in found if any(_is_of(readings, message) for message in known)]


def is_cut(here: object, wanted: object) -> bool:
    """Whether `here` is what is left of `wanted` when the file ends too early: nothing differs, something lacks."""
    return here != wanted and _begins(here, wanted)


def _is_of(readings: list[tuple[Mapping[str, Any], str]], message: Message) -> bool:
    record = message.record
    return any(_begins(part, record) and _is_among(rest, record) for part, rest in readings)


def _readings(piece: bytes) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each way to read the piece as a record that ends too early, with the text of its end that was left out."""
    text = _whole_letters(piece.rstrip(b"\0 \t\r\n"))
    lines = text.split(b"\n")
    for left_out in range(3):
        head, rest = lines[: len(lines) - left_out], lines[len(lines) - left_out :]
        for mended in _mended(b"\n".join(head)) if head else ():
            try:
                yield parse_record(mended), b" ".join(rest).decode()
            except CodecError:
                continue
    if len(lines) == 1:
        yield {}, text.decode()


def _mended(text: bytes) -> Iterator[bytes]:
    """The text, and with the quotes and brackets closed that it may have left open."""
    has_brackets = b"{" in text or b"[" in text
    for quote in (b"", b'"', b"'"):
        for closing in _CLOSINGS if has_brackets else _CLOSINGS[:1]:
            yield (_HALF_ESCAPE.sub(b"", text) if quote else text) + quote + closing + b"\n"


def _whole_letters(text: bytes) -> bytes:
    """Without the part of a letter at the end whose other bytes were cut off."""
    return text.decode("utf-8", "ignore").encode()


def _begins(here: object, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        return _begins_mapping(here, wanted)
    if isinstance(here, list) and isinstance(wanted, list):
        return len(here) <= len(wanted) and all(map(_begins, here, wanted))
    if isinstance(here, str) and isinstance(wanted, str):
        return wanted.startswith(here.rstrip("\n"))
    if isinstance(wanted, (bool, int, float)) and isinstance(here, (str, int, float)):
        return str(wanted).lower().startswith(str(here).lower())
    return here == wanted or here is None


def _begins_mapping(here: object, wanted: Mapping[str, object]) -> bool:
    """The last key may be cut itself: `su`, or `su: null`, of `summary`."""
    if not isinstance(here, Mapping):
        return here is None or (isinstance(here, str) and any(key.startswith(here) for key in wanted))
    for key, value in here.items():
        is_cut_key = value is None and any(other.startswith(str(key)) for other in wanted)
        if not (key in wanted and _begins(value, wanted[key])) and not is_cut_key:
            return False
    return True


def _is_among(rest: str, record: Mapping[str, Any]) -> bool:
    """Whether the letters of `rest` stand in the record, however it is written."""
    letters = _NO_LETTER.sub("", rest)
    if not letters:
        return True
    return any(letters in _NO_LETTER.sub("", text) for text in _written(record))


def _written(record: Mapping[str, Any]) -> Iterator[str]:
    for is_ascii in (False, True):
        yield json.dumps(record, ensure_ascii=is_ascii, default=str)
        yield json.dumps(record, ensure_ascii=is_ascii, default=str, sort_keys=True)
