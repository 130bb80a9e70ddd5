"""Cutting a queue into its head, its list items and its tail by columns alone, without reading any item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from msgspec import Struct
from team_console.store.backends.yaml.codec.cutting.checks import BOM
from team_console.store.backends.yaml.codec.cutting.whole import read_whole
from team_console.store.backends.yaml.codec.errors import CodecError

# A repeated group is repeated greedily, never possessively: up to Python 3.11.4 a possessive repeat of a group may
# match too much or not at all (CPython issues 100061 and 106052). What follows a group here never begins like a
# part of it, so giving some of it back finds nothing else and costs one look.
_BLANKS = rb"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*"
"""Any number of empty lines and comment lines."""
_LIST = re.compile(
    rb"(?:\A" + BOM + rb"|^)messages:"
    rb"(?:[ \t]++(?P<value>\[[ \t]*+\]|\{[ \t]*+\}|null|~))?"  # "messages: []": the list is empty
    rb"[ \t]*+(?:(?<=[ \t])#[^\n]*?)?\r?$",  # "messages: # the queue"
    re.MULTILINE,
)
_GAP = re.compile(_BLANKS)
_FIRST = re.compile(rb"(?P<indent> {0,40})-(?=[ \t\r\n]|\Z)")
"""The dash of the first entry: `  - message_id: a`, but not `--- ` or `-1`."""
# Before the list: nothing but comments, and a line "---"; behind it nothing but comments.
_PLAIN_HEAD = re.compile(rb"(?:" + BOM + rb")?" + _BLANKS + rb"(?:---[ \t]*\r?\n" + _BLANKS + rb")?").fullmatch
EMPTY = re.compile(
    rb"(?P<before>(?:" + BOM + rb")?" + _BLANKS + rb"(?:---[ \t]*\r?\n" + _BLANKS + rb")?)"
    rb"(?:\[\s*\]|\{\s*\}|[Nn]ull|NULL|~)[ \t]*"
    rb"(?P<after>(?:(?<=[ \t])#[^\n]*)?(?:\r?\n" + _BLANKS + rb")?)(?:\.\.\.[ \t\r\n]*)?"
)
"""What programs write for no messages at all: `[]`, `{}`, `null`."""
_PLAIN_TAIL = re.compile(_BLANKS + rb"[ \t]*(?:#[^\n]*)?").fullmatch
# Line breaks of YAML 1.1: "\r" alone (old Macs), U+0085, U+2028, U+2029; lines are cut at "\n" and "\r\n" only.
_OTHER_BREAK = re.compile(rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]")
_ANY_BREAK = re.compile(rb"\r\n?|\n|\xc2\x85|\xe2\x80[\xa8\xa9]")
# What no YAML may hold: control characters of ASCII and of Latin-1, U+FFFE, U+FFFF.
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x84\x86-\x9f]|\xef\xbf[\xbe\xbf]")
_DOCUMENT = re.compile(rb"(?:---|\.\.\.)(?:[ \t\r\n]|\Z)")
"""The line that begins a document or ends one: `--- # next`, `...`."""
_NAME = rb"[^\n:]*+(?::(?![ \t\r\n]|\Z)[^\n:]*+)*"
"""`version` or `a:b`: a colon ends a key only before a blank, which has to be asked for behind it as well."""
_KEY = re.compile(
    rb" *+(?:"
    rb"(?=[^ \t\r\n#])" + _NAME + rb":(?=[ \t\r\n]|\Z)"  # "version: 1"
    rb"|\?(?:[ \t\r\n]|\Z)"  # "? messages"
    rb")"
)
_BARE_KEY = re.compile(
    rb" *+" + _NAME + rb":(?=[ \t\r\n])[ \t]*+"
    rb"(?:[&!#][^\n]*+\n"  # "other: &name"
    rb"|\r?\n)"  # "other:"
     + _BLANKS + rb" *+-[ \t\r\n]"  # and a list below it
)


class Style(Struct, frozen=True):
    """How the file writes its list: the column of the dashes and the line end."""

    indent: int = 0
    eol: bytes = b"\n"


class Frame(Struct, frozen=True):
    """A queue cut into pieces that join to the same bytes.

    Attributes:
        head: Up to and including the line `messages:` and the comments before the first item.
        first: Where the first item begins; None where the list has none.
        end: Where the last item ends and what follows the list begins.
        doubtful: Whether columns may deceive here, so that a whole-file parse, if it succeeds, knows better.
    """

    head: bytes
    first: int | None
    end: int
    style: Style
    doubtful: bool = False


def split(data: bytes) -> Frame | None:
    """Cut a whole file; None when its frame is not the plain one (the caller then reads the whole file as YAML).

    Items below `messages: []` are what a script appended to a new queue: no YAML, and nothing else can be meant.
    """
    found = _LIST.search(data)
    if found is None:
        return None
    opened = min(found.end() + 1, len(data))
    eol = b"\r\n" if data[found.start() : opened].endswith(b"\r\n") else b"\n"
    below = _GAP.match(data, opened)
    begin = below.end() if below else opened
    first = _FIRST.match(data, begin)
    if first is None:
        begin = len(data) if is_plain_tail(data[begin:]) else begin
        frame = Frame(data[:begin], None, begin, Style(0, eol))
    else:
        style = Style(len(first["indent"]), eol)
        end, doubtful = find_end(data, first.start(), style)
        if end is None:
            return None
        frame = Frame(data[: first.start()], first.start(), end, style, doubtful or has_other_breaks(data))
    if _FORBIDDEN.search(frame.head):
        return None
    return frame if _is_sound(data[: found.start()], data[frame.end :]) else None


def item_starts(data: bytes, start: int, end: int, style: Style) -> list[int]:
    """Where items begin in `data[start:end]`, the first of them at `start`."""
    return [start] + [found.start() + 1 for found in _item(style.indent).finditer(data, start, end)]


def last_item(data: bytes, start: int, end: int, style: Style) -> int:
    """Where the last item of `data[start:end]` begins, whose first begins at `start`."""
    dash = b"\n" + b" " * style.indent + b"-"
    place = end
    while (place := data.rfind(dash, start, place)) >= 0:
        if data[place + len(dash) : min(end, place + len(dash) + 1)] in (b"", b" ", b"\t", b"\r", b"\n"):
            return place + 1
    return start


def find_end(data: bytes, start: int, style: Style) -> tuple[int | None, bool]:
    """Where the list that begins at `start` ends, None when columns do not tell; and whether that is doubtful.

    Lines left of the items that cannot begin anything new belong to the item before (which they may damage).
    """
    stray = _stray(style.indent).search(data, start)
    last, doubtful = last_item(data, start, len(data), style) if stray else 0, False
    while stray is not None:
        line = stray.start() + 1
        if _DOCUMENT.match(data, line):
            return None, True
        if _KEY.match(data, line):
            if line > last:
                return line, doubtful
            if _BARE_KEY.match(data, line):
                return None, True
            doubtful = True
        stray = _stray(style.indent).search(data, line)
    return len(data), doubtful


def has_stray(items: bytes, style: Style) -> bool:
    """Whether a line after the first stands left of the items without being one."""
    return _stray(style.indent).search(items) is not None


def is_blank(data: bytes) -> bool:
    """Whether a file holds nothing but blank lines, comments and a document's first line."""
    return _PLAIN_HEAD(data + b"\n") is not None and not has_other_breaks(data) and not _FORBIDDEN.search(data)


def is_plain_tail(tail: bytes) -> bool:
    """Whether nothing but blank lines and comments follows the list."""
    return _PLAIN_TAIL(tail) is not None


@lru_cache(maxsize=64)
def _item(indent: int) -> re.Pattern[bytes]:
    return re.compile(rb"\n" + b" " * indent + rb"-(?=[ \t\r\n]|\Z)")


@lru_cache(maxsize=64)
def _stray(indent: int) -> re.Pattern[bytes]:
    if not indent:
        return re.compile(rb"\n(?!-[ \t\r\n]|-\Z)(?=[^ \t\r\n#])")
    return re.compile(rb"\n(?! {%d}-(?:[ \t\r\n]|\Z)) {0,%d}(?=[^ \t\r\n#])" % (indent, indent))


def has_other_breaks(data: bytes) -> bool:
    """Whether the text holds line breaks that YAML knows and a search for newlines does not."""
    beyond = () if data.isascii() else (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")  # one byte is found 10x quicker
    if b"\r" not in data and not any(mark in data for mark in beyond):
        return False
    return _OTHER_BREAK.search(data) is not None


def line_ends(texts: Sequence[bytes]) -> list[int]:
    """How many lines, as YAML counts them, end up to the end of each of several texts that follow one another."""
    if has_other_breaks(b"".join(texts)):
        return list(accumulate([len(_ANY_BREAK.findall(text)) for text in texts]))
    return list(accumulate([text.count(b"\n") for text in texts]))


def _is_sound(before: bytes, tail: bytes) -> bool:
    """Whether what surrounds the list is a mapping of its own that leaves `messages` to us."""
    if _PLAIN_HEAD(before) and is_plain_tail(tail):
        return True

    place = len(before.removeprefix(BOM).decode()) + len("messages: ")
    try:
        return read_whole(before + b"messages: []\n" + tail).start == place
    except CodecError:
        return False
