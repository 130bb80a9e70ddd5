"""Changing values inside an entry's text: only the lines of what changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from team_console.store.backends.yaml.codec.cutting.frame import Style
from team_console.store.backends.yaml.codec.editing.emitter import emit_record, pair_lines, scalar
from team_console.store.backends.yaml.codec.editing.places import Place, find_places
from team_console.store.backends.yaml.codec.entry import check_shapes, parse_record
from team_console.store.backends.yaml.codec.errors import CodecError
from team_console.store.backends.yaml.codec.parsing.anchors import NO_ANCHORS, Anchors
from team_console.store.backends.yaml.codec.parsing.ordinary import LARGEST_ORDINARY, ordinary_pair
from team_console.store.backends.yaml.codec.parsing.scalars import same

Written = Callable[[str, Any], bytes | None]
"""How a key and its value are written; None for what cannot be written so."""
_ABSENT = object()


class _NotByLines(Exception):
    """The change cannot be made in place."""


def patch(
    raw: bytes, old: Mapping[str, Any], new: Mapping[str, Any], style: Style, known: Anchors = NO_ANCHORS
) -> bytes:
    """The text `raw` of the record `old`, changed so that it holds `new`; what is equal in both stays byte for byte.

    Both are records of messages. Where lines alone cannot make the change, the entry is written anew and the comments
    behind it stay. `known` are the anchors that stand before it.

    Raises:
        CodecError: `new` cannot be written.
    """
    quick = _by_whole_lines(raw, old, new, style, _line, _lines)
    if quick is not None and _reads_as(quick, new, known):
        return quick
    text, place = raw.decode(), find_places(raw)
    try:
        changed = _Patch(text, style).apply(place, old, new).encode()
        if _reads_as(changed, new, known):
            return changed
    except (_NotByLines, CodecError):
        pass
    rest = text[_line_end(text, place.end) :].encode()
    return in_style(emit_record(new), style) + rest


def _reads_as(raw: bytes, record: Mapping[str, Any], known: Anchors) -> bool:
    try:
        if not same(parse_record(raw, known), record):
            return False
        check_shapes(record, raw)
    except CodecError:
        return False
    return True


def patch_ordinary(raw: bytes, old: Mapping[str, Any], new: Mapping[str, Any], style: Style) -> bytes | None:
    """As `patch` for the text of an ordinary entry, by lines that are proven one by one; None where lines do not do.

    Work on many messages writes the same few lines into all of them. Reading each entry back would take longer than
    all the rest of the change.
    """
    changed = _by_whole_lines(raw, old, new, style, _proven_line, _proven_line)
    return changed if changed is not None and len(changed) <= LARGEST_ORDINARY else None


def _by_whole_lines(
    raw: bytes,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    style: Style,
    in_place: Written,
    behind: Written,
) -> bytes | None:
    """The change made where each value of the envelope has a line as we write it; None where that is not so.

    Asking a parser for the places costs more than all the rest of a change, and most changes are of this kind.
    What comes is written `in_place` of a line, or `behind` another.
    """
    if style.indent or style.eol != b"\n":
        return None
    lines: list[tuple[bytes, bytes]] = []
    for key, before in old.items():
        after = new.get(key, _ABSENT)
        if after is before or (after is not _ABSENT and same(before, after)):
            continue
        line, changed = _line(key, before), b"" if after is _ABSENT else in_place(key, after)
        if line is None or changed is None:
            return None
        lines.append((line, changed))
    added = {key: value for key, value in new.items() if key not in old}
    if added:
        anchor = _line("status", old.get("status")) if "status" in new else None
        if anchor is None:
            return None
        more = [behind(key, value) for key, value in added.items()]
        if None in more:
            return None
        replacement = next((changed for line, changed in lines if line == anchor), anchor)
        lines = [pair for pair in lines if pair[0] != anchor] + [(anchor, replacement + b"".join(filter(None, more)))]
    for line, changed in lines:
        if raw.count(b"\n" + line) != 1:
            return None
        raw = raw.replace(b"\n" + line, b"\n" + changed)
    return raw


def _lines(key: str, value: Any) -> bytes:
    """The lines of a value of the envelope in our own writing."""
    return ("\n".join(pair_lines(key, value, 2)) + "\n").encode()


def _line(key: str, value: Any) -> bytes | None:
    """The line of a scalar of the envelope in our own writing; None for what takes several."""
    if value is None or isinstance(value, (str, int)):
        return _known_line(key, value)
    if isinstance(value, (Mapping, list, tuple)) and value:
        return None
    return _lines(key, value)


def _proven_line(key: str, value: Any) -> bytes | None:
    """The same for text and numbers, None for a line that could not stand in an ordinary entry or reads otherwise."""
    return _known_proven_line(key, value) if isinstance(value, (str, int)) else None


@lru_cache(maxsize=512, typed=True)
def _known_line(key: str, value: str | int | None) -> bytes | None:
    line = _lines(key, value)
    return line if line.count(b"\n") == 1 else None


@lru_cache(maxsize=512, typed=True)
def _known_proven_line(key: str, value: str | int) -> bytes | None:
    line = _known_line(key, value)
    pair = ordinary_pair(line) if line is not None else None
    return line if pair is not None and pair[0] == key and same(pair[1], value) else None


def in_style(raw: bytes, style: Style) -> bytes:
    """Text at column 0 with LF, moved to the column and line end of the file."""
    if style.indent:
        raw = re.sub(rb"(?m)^(?=[^\n])", b" " * style.indent, raw)
    return raw.replace(b"\n", style.eol) if style.eol != b"\n" else raw


class _Patch:
    """Replacements collected for one text."""

    def __init__(self, text: str, style: Style) -> None:
        self._text = text
        self._eol = style.eol.decode()
        self._changes: list[tuple[int, int, str]] = []

    def apply(self, place: Place, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
        """The text with every difference between `old` and `new` written into it."""
        self._mapping(place, old, new)
        pieces, position = [], 0
        for start, end, text in sorted(self._changes, key=lambda change: change[:2]):
            if start < position:
                raise _NotByLines
            pieces += [self._text[position:start], text]
            position = end
        return "".join(pieces) + self._text[position:]

    def _mapping(self, place: Place, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        for key, before in old.items():
            after = new.get(key, _ABSENT)
            if after is _ABSENT:
                self._remove(place, key)
            elif not same(before, after):
                self._change(place, key, before, after)
        added = {key: value for key, value in new.items() if key not in old}
        if added:
            self._add(place, old, new, added)

    def _change(self, place: Place, key: str, before: Any, after: Any) -> None:
        start, value = self._pair(place, key)
        if value.mapping and isinstance(after, Mapping) and after and before:
            self._mapping(value, before, after)
            return
        written = self._one_line(after, flow=place.mapping == "flow")
        if value.scalar and written is not None:
            gap = " " if self._text[value.start - 1 : value.start] == ":" else ""
            self._changes.append((value.start, value.end, gap + written))
        elif place.mapping == "block":
            self._changes.append((start, self._last(value), self._lines(key, after, place.column)))
        else:
            raise _NotByLines

    @staticmethod
    def _pair(place: Place, key: str) -> tuple[int, Place]:
        """Where the key and its value stand; a key that an alias or a merge brought in stands nowhere."""
        if key not in place.pairs:
            raise _NotByLines
        return place.pairs[key]

    def _remove(self, place: Place, key: str) -> None:
        start, value = self._pair(place, key)
        line = self._text.rfind("\n", 0, start) + 1
        if place.mapping != "block":
            raise _NotByLines
        if self._text[line:start].strip(" "):
            following = min((at for at, _ in place.pairs.values() if at > start), default=start)
            if self._text[self._last(value) : following].strip():
                raise _NotByLines
            self._changes.append((start, following, ""))
        else:
            self._changes.append((line, _line_end(self._text, self._last(value)), ""))

    def _add(self, place: Place, old: Mapping[str, Any], new: Mapping[str, Any], added: Mapping[str, Any]) -> None:
        """Put new keys behind the last single-line key that stays, in the envelope behind `status`."""
        if place.mapping != "block":
            raise _NotByLines
        stay = [
            key
            for key, (start, value) in place.pairs.items()
            if key in new
            and value.scalar
            and "\n" not in self._text[start : value.end]
            and (same(old[key], new[key]) or self._one_line(new[key], flow=False) is not None)
        ]
        if not stay:
            raise _NotByLines
        anchor = "status" if "status" in stay else stay[-1]
        at = _line_end(self._text, place.pairs[anchor][1].end)
        pad = " " * place.column
        lines = "".join(pad + self._lines(key, value, place.column) + self._eol for key, value in added.items())
        self._changes.append((at, at, lines if self._text[:at].endswith("\n") else self._eol + lines))

    def _lines(self, key: str, value: Any, column: int) -> str:
        """The lines of a pair without the spaces before the first and the line end after the last."""
        return "\n".join(pair_lines(key, value, column))[column:].replace("\n", self._eol)

    def _last(self, value: Place) -> int:
        """The end of a value without the blank lines that a block scalar counts as its own."""
        return value.start + len(self._text[value.start : value.end].rstrip(" \r\n"))

    @staticmethod
    def _one_line(value: Any, *, flow: bool) -> str | None:
        if isinstance(value, (Mapping, list, tuple)) and value:
            return None
        written = scalar(value, "", flow=flow)
        return None if "\n" in written else written


def _line_end(text: str, position: int) -> int:
    """Where the line after the one that holds the character before `position` begins."""
    if position and text[position - 1] == "\n":
        return position
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
