"""Torn pieces of the queue: what is left of a message when a program that writes in place was cut off.

A piece may only go when it holds nothing but a beginning of a message that is known: then nothing is lost with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
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
    small = [piece for piece in pieces if len(piece) <= _LARGEST]
    readings = [(number, *reading) for number, piece in enumerate(small) for reading in _readings(piece)]
    alone = {number: letters for number, part, letters in readings if not part}
    parts = [reading for reading in readings if reading[1]]
    found: set[int] = set()
    for message in messages if readings else ():
        known = _Known(message.record)
        # There may be thousands of both, broken for good: one look at each pair has to be quick.
        found.update([number for number, letters in alone.items() if letters in known.letters])
        found.update([number for number, part, letters in parts if known.begins_with(part, letters)])
    return [piece for number, piece in enumerate(small) if number in found]


def is_cut(here: object, wanted: object) -> bool:
    """Whether `here` is what is left of `wanted` when the file ends too early: nothing differs, something lacks."""
    return here != wanted and _begins(here, wanted)


class _Known:
    """A message that is known."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._record = record

    @cached_property
    def letters(self) -> str:
        """Its letters however it is written, a line for each way."""
        return "\n".join(_NO_LETTER.sub("", text) for text in _written(self._record))

    def begins_with(self, part: Mapping[str, Any], letters: str) -> bool:
        """Whether `part` is what is left of it, and the `letters` behind it stand in it, however it is written."""
        return _begins(part, self._record) and (not letters or letters in self.letters)


def _readings(piece: bytes) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each way to read the piece as a record that ends too early, with the letters of its end that was left out."""
    text = _whole_letters(piece.rstrip(b"\0 \t\r\n"))
    lines = text.split(b"\n")
    for left_out in range(3):
        head, rest = lines[: len(lines) - left_out], lines[len(lines) - left_out :]
        for mended in _mended(b"\n".join(head)) if head else ():
            try:
                yield parse_record(mended), _NO_LETTER.sub("", b" ".join(rest).decode())
            except CodecError:
                continue
    if len(lines) == 1:
        yield {}, _NO_LETTER.sub("", text.decode())


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


def _written(record: Mapping[str, Any]) -> Iterator[str]:
    for is_ascii in (False, True):
        yield json.dumps(record, ensure_ascii=is_ascii, default=str)
        yield json.dumps(record, ensure_ascii=is_ascii, default=str, sort_keys=True)
