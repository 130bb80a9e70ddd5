"""Split a text into its entries: lists at any indentation, documents, JSON, and what stands between them.

One reader for queue, archives, dropped files, and the inboxes of other programs. A bad piece takes no neighbour along,
and what stands in a text stays text: a line that looks like an entry is none inside of a quote, a block or a bracket,
whether or not the entry around it can be read. Time is linear in the text.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from typing import NamedTuple

from msgspec import Struct
from team_console.store.model.message import MAX_DEPTH


class PieceForm(Enum):
    """What a piece of a text is."""

    ITEM = "item"
    """An item of a list, from its dash on."""
    RECORD = "record"
    """The keys of a document that is one record."""
    OBJECT = "object"
    """An object in braces, with the comma behind it."""
    FRAME = "frame"
    """What holds entries together: keys, brackets, marks of documents."""
    OTHER = "other"
    """Neither: prose, a fence."""


class Piece(Struct, frozen=True, gc=False):
    """A piece of a text, as offsets of bytes; `column` is that of its dash or brace, `raw` its bytes."""

    start: int
    end: int
    form: PieceForm
    column: int = 0
    raw: bytes = b""


class _Enclosed(NamedTuple):
    """What quotes or brackets enclose, or the lines of a block (`|`): where it begins and ends."""

    begin: int
    end: int
    is_block: bool = False


class _Bracket(NamedTuple):
    """What a bracket opens: the place behind the one that closes it, -1 where none does.

    Attributes:
        stop: Where the search for that one ended.
        text_end: The end of the last text over several lines that was found on the way; 0 for none.
    """

    end: int
    stop: int
    text_end: int = 0


class _Line(NamedTuple):
    """A line of an entry: where it begins, the column of its first word, and whether that is a dash."""

    begin: int
    column: int
    is_dash: bool


Trouble = Callable[[bytes, PieceForm], int | None]
"""Given the bytes of one entry: None where they can be told apart as one, else the line (from 0) that does not fit."""

_BLANKS = re.compile(rb"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*(?:[ \t]*+(?:#[^\n]*+)?\Z)?")
"""Empty lines and comments."""
_BOM = re.compile(BOM_UTF8)
"""The mark that some programs of Windows put before a text."""
_DASH = re.compile(rb"(?:%s)?(?P<pad> *)-(?=[ \t\r\n]|\Z)" % BOM_UTF8)
"""The dash of an item, from the line begin on; `pad` says in which column it stands."""
_NEXT = re.compile(rb"^(?:%s)?(?:(?P<pad> *)-(?=[ \t\r\n]|\Z)|(?P<left>[^ \t\r\n#]))" % BOM_UTF8, re.MULTILINE)
"""A line that may end an entry: a dash at any column, or a line that begins at column 0."""
_LEFT = re.compile(rb"^[^ \t\r\n#-]|^-(?![ \t\r\n]|\Z)", re.MULTILINE)
"""A line at column 0 that is no item of a list."""
_MARK = re.compile(rb"(?:---|\.\.\.)(?=[ \t\r\n]|\Z)[ \t]*|%[^\n]*(?:\n|\Z)")
"""The mark of a document, or a directive."""
_FENCE = b"```"
"""Around code in Markdown: programs and models put it around a list, too."""
_OBJECT_BEGINS = re.compile(rb"\{[ \t]*(?:\"|\r?\n)")
"""A brace before a quoted key, or with nothing behind it on its line."""
_PAD_ONLY = re.compile(rb"(?:%s)? *" % BOM_UTF8)
"""What stands before the first word of a line, without a dash."""
_NOTHING = re.compile(rb"(?:\[[ \t]*\]|\{[ \t]*\}|[Nn]ull|NULL|~)[ \t]*(?:(?<=[ \t])#[^\n]*)?(?:\r?\n|\Z)")
"""What programs write for no messages at all, before others append to it."""
_KEYS_AT = re.compile(rb"-(?: +(?=[^ \r\n#])|[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?P<below> *))")
"""A dash up to the keys of its entry: behind it, or `below` it."""
_NAME = rb"(?=[^ \t\r\n#])(?:\"(?:[^\"\\\n]|\\.)*\"[ \t]*|'[^'\n]*'[ \t]*|[^\n:]*+(?::(?![ \t\r\n]|\Z)[^\n:]*+)*)"
"""A key: a colon ends it only before a blank."""
_DEEPER_KEY = re.compile(rb"^(?P<pad> +)(?:" + _NAME + rb"):(?=[ \t\r\n]|\Z)", re.MULTILINE)
"""A key in a line that is indented; `pad` says how far."""
_KEY = re.compile(rb"(?P<name>" + _NAME + rb"):(?=[ \t\r\n]|\Z)|\?(?=[ \t\r\n]|\Z)")
"""A key at this place, or the `?` of a key over several lines."""
_VALUELESS = re.compile(rb"(?:[ \t]+[&!][^ \t\r\n]*)*[ \t]*(?:(?<=[ \t])#[^\n]*)?(?:\r?\n|\Z)")
"""What stands behind a key whose value begins below it."""
_OPEN_LIST = re.compile(
    rb"(?:[ \t]+[&!][^ \t\r\n]*)*(?:[ \t]+(?:\[[ \t]*\]|\{[ \t]*\}|[Nn]ull|NULL|~))?"  # []: a script appended below
    rb"[ \t]*(?:(?<=[ \t])#[^\n]*)?(?:\r?\n|\Z)"
)
"""What stands behind a key whose list begins below it, be the value an empty list that somebody appended to."""
_MAPPING_ITEM = re.compile(rb"(?:\xef\xbb\xbf)? *- +(?:\{|" + _NAME + rb":(?=[ \t\r\n]|\Z))")
"""An item of a list that is a mapping: `- a: 1`, `- {`."""
_OPENING_BRACKETS = re.compile(rb"\[[\s\[]*")
"""Brackets around a list of entries, perhaps several."""
_CLOSING_BRACKETS = re.compile(rb"[\s\]},]+")
"""Brackets and commas behind an entry."""
_BEFORE_BRACKET = re.compile(rb"(?:[ \t]+[&!][^ \t\r\n]*)*[ \t]*(?=\[)")
"""What may stand between a key and the bracket of its list: an anchor or a tag (`&a`, `!!seq`), blanks."""
_BOM_AND_BLANKS = re.compile(rb"(?:%s)?[ \t]*" % BOM_UTF8)
"""What stands before the first word of a document."""
_COMMA_BEHIND = re.compile(rb"[ \t]*,?[ \t]*\r?\n?")
"""The rest of the line behind an object, with its comma."""
_BEHIND_OBJECT = re.compile(rb"[ \t\r]*(?:[,\]}\n{#]|\Z)")
"""What may stand behind a whole object; anything else says that its end was not its end."""
_VALUE_END = re.compile(rb"[,\n]|(?=[\[\]{}])")
"""Where a value in brackets ends: at a comma, at a line end, or before a bracket."""
_FLOW_BEGIN = re.compile(rb"(?:%s)?(?P<pad>[ \t]*)[\[{\]},]" % BOM_UTF8)
"""A line that begins with a bracket, a brace or a comma."""
_MEMBER = rb"\"?\w+\"?\s*:\s*(?:[\w.+-]+|\"[^\"\\\n]*\")\s*,\s*"
"""A member of an object before others: `"count": 2, `."""
_CONTAINER = re.compile(rb"\{\s*(?:" + _MEMBER + rb")*\"?(?P<list>\w+)\"?\s*:\s*\[")
"""An object that holds a list of others: `{"count": 2, "messages": [`."""
_MEMBERS_BEHIND = re.compile(rb"(?:\"\w+\"\s*:\s*(?:[\w.+-]+|\"[^\"\\\n]*\"|(?=\[))[\s\[\]},]*)+")
"""Members that stand behind the list in such an object, with the brackets that close it."""
_ID_MEMBER = re.compile(rb"[\"']?\b(?:message_)?id[\"']?\s*:")
"""The key of an id, as in a message written in braces."""
_ID_NAMES = frozenset({b"message_id", b"id"})
_RECORD_NAMES = frozenset({b"type", b"message_type", b"from", b"sender", b"to", b"recipient", b"to_agents", b"payload"})
_SLIPPED_NAMES = _RECORD_NAMES | {b"status", b"priority", b"created", b"summary", b"content"}
"""Keys that belong to the entry before them, though they stand too far left."""
_LIST_NAME = b"messages"
"""The key below which the list of messages stands."""

# Texts that go on over several lines. Only single characters are repeated possessively (CPython issue 100061).
_DOUBLE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*"', re.DOTALL)
"""A text in double quotes, in which a backslash takes the next character along."""
_SINGLE = re.compile(rb"'[^']*+(?:''[^']*+)*'")
"""A text in single quotes, in which two of them stand for one."""
_CLEAN = re.compile(rb"[ \t]*(?:(?<=[ \t])#[^\n]*)?\r?(?:\n|\Z)")
"""Behind a text that ends where its writer ended it stands nothing more; behind one that runs into the quote of the
next entry stand that entry's words."""
_CLEAN_IN_BRACKETS = re.compile(rb"[ \t\r]*(?:[,:\]}\n]|#|\Z)")
"""The same within brackets, where a comma, a colon or a bracket may follow."""
_OPENING = re.compile(
    rb"(?P<comment>(?:^|(?<=[ \t]))#)"
    rb"|(?P<block>(?<=[:-])[ \t]+(?:[&!][^ \t\r\n]+[ \t]+)?[|>][-+0-9]{0,2}[ \t]*(?:(?<=[ \t])#[^\n]*)?\r?(?:\n|\Z))"
    rb"|(?:^[ \t]*(?:- +)*|(?<=[:-])[ \t]+(?:[&!][^ \t\r\n]+[ \t]+)?)(?P<opening>[\"'\[{])",
    re.MULTILINE,
)
"""What begins in a line and may go on behind it: a block of text (`|`, `>`), a quote, a bracket; or a comment."""
_PAD = re.compile(rb"(?:%s)? *(?:- +)*(?:-(?=[ \t][|>]))?" % BOM_UTF8)
"""What stands before the key of a block: blanks and the dashes of items within items."""
_IN_BRACKETS = re.compile(rb"[\[\]{}]|(?<=[\s,:\[{])[\"']|\n *-(?=[ \t\r\n]|\Z)|(?<=\s)#[^\n]*")
"""What counts within brackets: brackets, quotes that begin a text, a dash that begins an entry, comments."""
_EMPTY_BLOCK = re.compile(rb"[:-][ \t]+[|>][-+0-9]{0,2}[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*\r?\n)*\Z")
"""The sign of a block of text at the end of a stretch, without any line of that text."""
_OPEN_VALUE = re.compile(rb"[^\n]*:[ \t]*(?:[|>][-+0-9]{0,2}[ \t]*)?(?:#[^\n]*)?\r?(?:\n|\Z)")
"""A key whose value may be the list below it."""
_CLOSINGS = {b"]": b"[", b"}": b"{"}
"""Closing bracket -> the one that it closes."""
_TRIES, _LEAST = 8, 1 << 20
"""A text is searched in vain for the ends of brackets over so many times its length, and so many bytes more."""
_ANY_COLUMN = 1 << 30
"""A column right of every key: the next dash counts, wherever it stands."""
_MOST_INNER_ENTRIES = 64
"""Entries that are looked for inside of one that does not fit; behind the last the rest is one."""


@cache
def _block_lines(column: int) -> re.Pattern[bytes]:
    """Return the lines of a block below a key in this column."""
    return re.compile(rb"(?:[ \t]*\r?\n| {%d}[^\n]*(?:\n|\Z))*" % (column + 1))


@cache
def _entry_ends(column: int) -> re.Pattern[bytes]:
    """Return lines that may end an entry whose dash is in this column and whose keys stand behind one blank, each with
    the line end before it: that is found many times as fast as the place behind it.
    """
    return re.compile(rb"\n(?:%s)?(?: {0,%d}-(?=[ \t\r\n]|\Z)|[^ \t\r\n#])" % (BOM_UTF8, column + 1))


@cache
def _after_object(column: int) -> re.Pattern[bytes]:
    """Return where something new begins behind an object that has no end and whose brace is in this column."""
    return re.compile(
        rb"^(?:(?P<pad> {0,%d})(?:[\[{\]]|-(?=[ \t\r\n]|\Z))|(?:---|\.\.\.)(?=[ \t\r\n]|\Z))" % column, re.MULTILINE
    )


class EntrySplitter:
    """Splits one text into pieces; `trouble` says of an entry whether it can be told apart.

    Args:
        every_list: Whether lists under any key are meant, as in an archive, or only that under `messages`.
    """

    def __init__(self, data: bytes, trouble: Trouble, *, every_list: bool = False) -> None:
        self.data = data
        self.has_list = False
        """Whether there is a list, were it an empty one."""
        self.is_odd = False
        """Whether brackets stand around entries, or a document is an entry, so that nothing can be put behind it."""
        self.lists: list[tuple[int, int]] = []
        """The document and the place of each list under `messages`; two in one document are a mistake of the file."""
        self._trouble = trouble
        self._every_list = every_list
        self._place = 0
        """Where the next piece begins."""
        self._open_brackets = 0
        """How many brackets around entries were opened and not closed."""
        self._unclosed_until = 0
        """Where the last search for a closing bracket ended in vain: one that opens before it has no end either."""
        self._document = 0
        """Where the document begins that is split now."""
        self._no_record_until = 0
        """The end of keys that are no record: what begins before it is none either."""
        self._search_budget = _TRIES * len(data) + _LEAST
        """Bytes that may yet be searched in vain for closing brackets."""
        self._inner_entries = 0
        """Entries found in a row inside of one that does not fit."""

    def pieces(self) -> Iterator[Piece]:
        """Yield all pieces in order; together they are the text."""
        self._place = self._behind(_BLANKS, 0)
        if self._place:
            yield Piece(0, self._place, PieceForm.FRAME)
        while self._place < len(self.data):
            yield from self._plain_items()
            for piece in self._pieces_at(self._place) if self._place < len(self.data) else ():
                self._place = end = self._behind(_BLANKS, piece.end)
                yield Piece(piece.start, end, piece.form, piece.column, self.data[piece.start : end])

    def _plain_items(self) -> Iterator[Piece]:
        """Yield entries one below the other that can be told apart, as nearly all can, with a look at each only."""
        data, trouble = self.data, self._trouble
        dash = _DASH.match(data, self._place)
        if dash is None:
            return
        self.has_list = True
        column = len(dash["pad"])
        sibling, keys = b" " * column + b"- ", column + 2
        for found in _entry_ends(column).finditer(data, self._line_end(self._place) - 1):
            start, end = self._place, found.start() + 1
            if not data.startswith(sibling, start) or data[start + keys] in b" \t\r\n#":
                return
            raw = data[start:end]
            is_last = not data.startswith(sibling, end)
            if trouble(raw, PieceForm.ITEM) is not None:
                return
            if is_last and (self._is_slip(end, column) or self._lost_its_text(start, end)):
                return
            self._place = end
            yield Piece(start, end, PieceForm.ITEM, column, raw)
            if is_last:
                return

    def _behind(self, pattern: re.Pattern[bytes], at: int) -> int:
        """Return the end of what the pattern finds at `at`; `at` itself where it finds nothing."""
        found = pattern.match(self.data, at)
        return found.end() if found is not None else at

    def _pieces_at(self, at: int) -> Iterator[Piece]:
        """Yield the piece that begins at `at`, which is not blank, and those that are told apart with it."""
        data = self.data
        dash = _DASH.match(data, at)
        if dash is not None:
            self.has_list = True
            yield self._item(at, len(dash["pad"]))
            return
        place = self._behind(_BOM, at)
        mark = _MARK.match(data, place)
        nothing = _NOTHING.match(data, place)
        if nothing is not None:
            self.has_list, self.is_odd = True, True
            yield Piece(at, nothing.end(), PieceForm.FRAME)
            return
        if mark is not None:
            self._document, self._open_brackets = mark.end(), 0
            yield Piece(at, self._behind(_CLEAN, mark.end()), PieceForm.FRAME)
            return
        if _FLOW_BEGIN.match(data, at) is not None or self._open_brackets:
            yield self._in_brackets(at)
            return
        key = _KEY.match(data, place)
        if key is not None:
            yield from self._keys(at, key)
            return
        yield Piece(at, self._boundary(self._line_end(at), _ANY_COLUMN), PieceForm.OTHER)

    def _line_end(self, at: int) -> int:
        """Return where the line behind `at` begins."""
        found = self.data.find(b"\n", at)
        return found + 1 if found >= 0 else len(self.data)

    def _boundary(self, at: int, keys_column: int) -> int:
        """Return the next line that is left of column `keys_column`: a dash, or any line at column 0."""
        for found in _NEXT.finditer(self.data, at):
            if found["left"] is not None or len(found["pad"]) < max(1, keys_column):
                return found.start()
        return len(self.data)

    # Items of a list.

    def _item(self, at: int, column: int) -> Piece:
        """Return the entry whose dash is in the line at `at`, up to the next line that is left of its keys.

        Lines that slipped to the left belong to it, texts in it may go on behind that line, and what does not fit into
        it may be another entry.
        """
        keys_column = self._keys_column(at, column)
        end = self._boundary(self._line_end(at), keys_column)
        while self._is_slip(end, column):
            end = self._boundary(self._line_end(end), keys_column)
        wrong = self._trouble(self.data[at:end], PieceForm.ITEM)
        if wrong is None and not self._lost_its_text(at, end):
            return Piece(at, end, PieceForm.ITEM, column)
        # guard: texts-stay-texts
        longer = self._with_open_texts(at, end, keys_column)
        if longer > end:
            end = longer
            wrong = self._trouble(self.data[at:end], PieceForm.ITEM)
        inner = None
        if wrong is not None and self._line_end(at) < end and self._inner_entries < _MOST_INNER_ENTRIES:
            inner = self._inner_entry(at, end, column, keys_column, wrong)
        self._inner_entries = self._inner_entries + 1 if inner is not None else 0
        return Piece(at, end if inner is None else inner, PieceForm.ITEM, column)

    def _keys_column(self, at: int, column: int) -> int:
        """Return the column of the keys of an entry whose dash is in `column`."""
        dash = self.data.index(b"-", at)
        found = _KEYS_AT.match(self.data, dash)
        if found is None:
            return column + 1
        return column + len(found[0]) if found["below"] is None else max(column + 1, len(found["below"]))

    # guard: slipped-line-stays-in-its-entry
    def _is_slip(self, at: int, column: int) -> bool:
        """Return whether the line at `at`, too far left, belongs to the entry before: who reads that without it reads
        half of a message.

            - message_id: a
            content: x             <- a slip, by its name; so is any key with deeper keys of the entry below it
              to: b
        """
        if at >= len(self.data) or _DASH.match(self.data, at):
            return False
        place = self._behind(_PAD_ONLY, at)
        if _MARK.match(self.data, place):
            return False
        if self.data[place : place + 1] in (b"]", b"}", b","):
            return True
        line_end = self._line_end(at)
        if _OBJECT_BEGINS.match(self.data, place):
            return False
        below = _DEEPER_KEY.finditer(self.data, line_end, self._boundary(line_end, _ANY_COLUMN))
        is_below = any(len(found["pad"]) > column for found in below)
        key = _KEY.match(self.data, place)
        if key is None:
            return is_below
        if _unquoted(key["name"] or b"") in _SLIPPED_NAMES:
            return True
        return is_below and _VALUELESS.match(self.data, key.end()) is None

    def _lost_its_text(self, start: int, end: int) -> bool:
        """Return whether an entry ends with the sign of a text (`content: |`), and the text follows at column 0."""
        if end >= len(self.data) or _DASH.match(self.data, end):
            return False
        return _EMPTY_BLOCK.search(self.data[max(start, end - 200) : end]) is not None

    def _with_open_texts(self, start: int, end: int, keys_column: int) -> int:
        """Return the end of an entry with the texts and brackets in it that go on behind what looked like its end."""
        if self._lost_its_text(start, end):
            while end < len(self.data) and not _DASH.match(self.data, end):
                end = self._boundary(self._line_end(end), 0)
            return end
        place = start
        while True:
            close = self._open_end(place, end)
            if close < 0:
                return end
            place, end = close, self._boundary(self._line_end(close - 1), keys_column)

    def _open_end(self, at: int, end: int) -> int:
        """Return the end of the first text or bracket in a stretch that goes on behind it; -1 for none."""
        return next((span.end for span in self._spans(at, end) if span.end > end and not span.is_block), -1)

    def _spans(self, at: int, end: int) -> Iterator[_Enclosed]:
        """Yield each text, bracket and block that begins in a stretch and has an end, those on one line, too."""
        while at < end:
            line_end = self._line_end(at)
            found = _OPENING.search(self.data, at, line_end)
            if found is None or found["comment"] is not None:
                at = line_end
            elif found["block"] is not None:
                line = self.data.rfind(b"\n", 0, at) + 1
                at = self._behind(_block_lines(self._behind(_PAD, line) - line), line_end)
                if at > line_end:
                    yield _Enclosed(line_end - 1, at, is_block=True)
            else:
                begin = found.start("opening")
                is_bracket = self.data[begin] in b"[{"
                close = self._bracket_at(begin).end if is_bracket else self._quote_end(begin, _CLEAN)
                at = line_end
                if close >= 0 and (not is_bracket or _CLEAN.match(self.data, close)):
                    yield _Enclosed(begin, close)
                    at = close

    def _quote_end(self, at: int, clean: re.Pattern[bytes]) -> int:
        """Return the end of a quoted text; -1 where it has none, or runs into the quote of something else."""
        pattern = _DOUBLE if self.data.startswith(b'"', at) else _SINGLE
        found = pattern.match(self.data, at)
        if found is None:
            return -1
        is_one_line = self.data.find(b"\n", at, found.end()) < 0
        if is_one_line and clean is _CLEAN:
            return found.end()
        return found.end() if clean.match(self.data, found.end()) else -1

    def _bracket_at(self, at: int) -> _Bracket:
        """Return what the bracket at `at` opens; one that has no end before the next dash has none."""
        data, open_brackets, place, text_end = self.data, list[bytes](), at, 0
        if at < self._unclosed_until or self._search_budget < 0:
            return _Bracket(-1, at)
        while (found := _IN_BRACKETS.search(data, place)) is not None:
            token, place = found[0][:1], found.end()
            if token in b"[{":
                before = data[max(at, found.start() - 64) : found.start()].rstrip()[-1:]
                if open_brackets and open_brackets[-1] == b"{" and token == b"{" and before in (b",", b"{"):
                    break  # where a key has to stand: the object before lacks its end
                if len(open_brackets) > MAX_DEPTH:
                    break  # refused however it ends, and a text of nothing but brackets takes seconds
                open_brackets.append(token)
            elif token in b"]}":
                if not open_brackets or open_brackets.pop() != _CLOSINGS[token]:
                    break
                if not open_brackets:
                    return _Bracket(place, place, text_end)
            elif token in b"\"'":
                place = self._quote_end(found.start(), _CLEAN_IN_BRACKETS)
                if place < 0:
                    break
                if data.find(b"\n", found.start(), place) >= 0:
                    text_end = place
            elif token == b"\n":
                break
        self._unclosed_until = found.start() if found is not None else len(data)
        self._search_budget -= self._unclosed_until - at
        return _Bracket(-1, self._unclosed_until, text_end)

    def _inner_entry(self, start: int, end: int, column: int, keys_column: int, wrong: int) -> int | None:
        """Return where within an entry another one begins; None where that cannot be told.

            - message_id: a
              to: b
                - message_id: c    <- the line that is `wrong`, and where the other one begins
                  to: d

        Args:
            wrong: The line, counted from 0, that does not fit the entry.
        """
        lines = self._lines_inside(start, end)
        at_fault = start
        for _ in range(wrong):
            at_fault = self._line_end(at_fault)
        candidates = [
            line
            for line in lines
            if line.begin <= at_fault
            and (line.column <= column or (line.is_dash and _MAPPING_ITEM.match(self.data, line.begin)))
        ]
        # guard: deeper-dash-begins-an-entry
        if candidates and self._begins_another(start, candidates[-1], lines, column):
            return candidates[-1].begin
        return self._dash_among_keys(lines, keys_column, at_fault)

    def _begins_another(self, start: int, line: _Line, lines: list[_Line], column: int) -> bool:
        """Return whether a line within the entry at `start`, whose dash is in `column`, begins another entry."""
        place, pad, is_dash = line
        line_end = self._line_end(place)
        text = self.data[place:line_end].strip()
        if not (is_dash or text.startswith(_FENCE) or _is_object(text)):
            return False  # a line of this entry, too far left
        # `   - to: b` with `  from: c` below it: keys of the entry itself follow, so that its dash is a slip.
        goes_on = is_dash and any(
            other.begin > place
            and not other.is_dash
            and column < other.column <= pad
            and _KEY.match(self.data, other.begin + other.column)
            for other in lines
        )
        # `content: |` before it: the line is that text, too far left.
        if goes_on or _EMPTY_BLOCK.search(self.data[max(start, place - 200) : place]):
            return False
        # This very line is the fault: the entry fits without it.
        return (
            self._trouble(self.data[start:place], PieceForm.ITEM) is None
            and self._trouble(self.data[start:line_end], PieceForm.ITEM) is not None
        )

    def _lines_inside(self, start: int, end: int) -> list[_Line]:
        """Return each line below the first that is in no text and no bracket, and is more than a comment."""
        spans, behind_all = self._spans(start, end), _Enclosed(end, end)
        span = next(spans, behind_all)
        found, at = list[_Line](), self._line_end(start)
        while at < end:
            while span.end <= at:
                span = next(spans, behind_all)
            if span.begin < at:
                at = self._line_end(span.end - 1)
                continue
            line_end = self._line_end(at)
            line = self.data[at:line_end].removeprefix(BOM_UTF8)
            words = line.lstrip(b" ")
            if words.strip() and not words.startswith(b"#"):
                found.append(_Line(at, len(line) - len(words), _DASH.match(words) is not None))
            at = line_end
        return found

    def _dash_among_keys(self, lines: list[_Line], keys_column: int, at_fault: int) -> int | None:
        """Return the first dash in the column of the keys, behind the fault, that no key can have as its list.

        - message_id: a
          to: : b              <- the fault
          from: c
          - message_id: d      <- the dash: `from` has a value, so this is no list of its own
        """
        is_open = False
        for line in lines:
            if line.column != keys_column:
                continue
            if not line.is_dash:
                is_open = _OPEN_VALUE.match(self.data, line.begin) is not None
            elif not is_open and line.begin > at_fault and _MAPPING_ITEM.match(self.data, line.begin):
                return line.begin
        return None

    # Keys at column 0.

    def _keys(self, at: int, key: re.Match[bytes]) -> Iterator[Piece]:
        """Yield the list that a key opens, or the record that begins with it, or the key with its value."""
        name = _unquoted(key["name"] or b"")
        if name == _LIST_NAME:
            opening = _OPEN_LIST.match(self.data, key.end())
            if opening is not None:
                self.has_list = True
                self.lists.append((self._document, at))
                yield Piece(at, opening.end(), PieceForm.FRAME)
                return
            bracket = _BEFORE_BRACKET.match(self.data, key.end())
            if bracket is not None:
                self.lists.append((self._document, at))
                yield Piece(at, bracket.end(), PieceForm.FRAME)
                yield self._in_brackets(bracket.end())
                return
        elif (end := self._record_end(at)) is not None:
            self.has_list, self.is_odd = True, True
            yield Piece(at, end, PieceForm.RECORD)
            return
        yield Piece(at, self._value_end(key.end()), PieceForm.FRAME)

    def _value_end(self, at: int) -> int:
        """Return the end of the value of a key at column 0, which ends at `at`."""
        empty = _VALUELESS.match(self.data, at)
        if empty is not None:
            if self._every_list and _MAPPING_ITEM.match(self.data, self._behind(_BLANKS, empty.end())):
                return empty.end()
            end = self._next_line_at_left(empty.end())
            while (close := self._open_end(empty.end(), end)) >= 0:
                end = self._next_line_at_left(self._line_end(close - 1))
            return end
        line = self.data.rfind(b"\n", 0, at) + 1
        place = self._line_end(at)
        for span in self._spans(line, place):
            place = self._line_end(span.end - 1) if span.end > place else place
        return self._boundary(place, _ANY_COLUMN) if place < len(self.data) else place

    def _next_line_at_left(self, at: int) -> int:
        """Return the next line at column 0 that is no item of a list; the end of the text without one."""
        found = _LEFT.search(self.data, at)
        return found.start() if found is not None else len(self.data)

    def _record_end(self, at: int) -> int | None:
        """Return the end of the record that begins at `at` without a dash; None where these keys are no record."""
        if at < self._no_record_until:
            return None
        seen, place = set[bytes](), at
        while place < len(self.data):
            place = self._behind(_BLANKS, place)
            begin = self._behind(_BOM, place)
            key = None if _MARK.match(self.data, begin) else _KEY.match(self.data, begin)
            if key is None or _DASH.match(self.data, place) or _FLOW_BEGIN.match(self.data, begin):
                break
            name = _unquoted(key["name"] or b"")
            if name == _LIST_NAME or (name in seen and name in _ID_NAMES):
                break
            seen.add(name)
            place = self._value_end(key.end())
        if seen & _ID_NAMES or len(seen & _RECORD_NAMES) > 1:
            return place
        self._no_record_until = place
        return None

    # JSON.

    def _in_brackets(self, at: int) -> Piece:
        """Return what begins with a bracket: brackets around objects, one object, or a piece of neither."""
        data = self.data
        place = self._behind(_BOM_AND_BLANKS, at)
        token = data[place : place + 1]
        if token == b"{":
            container = container_at(data, place)
            if container is not None and (container["list"] == _LIST_NAME or self._every_list):
                self._open_brackets += 2
                self.has_list, self.is_odd = True, True
                return Piece(at, container.end(), PieceForm.FRAME)
            return self._object_piece(at, place)
        self.is_odd = True
        if token == b"[":
            end = self._behind(_OPENING_BRACKETS, place)
            self._open_brackets += data.count(b"[", place, end)
            self.has_list = True
            return Piece(at, end, PieceForm.FRAME)
        brackets = _CLOSING_BRACKETS.match(data, place)
        if brackets is not None:
            self._open_brackets = max(0, self._open_brackets - sum(map(brackets[0].count, (b"]", b"}"))))
            return Piece(at, brackets.end(), PieceForm.FRAME)
        members = _MEMBERS_BEHIND.match(data, place)
        if members is not None and not _ID_MEMBER.search(members[0]):
            self._open_brackets += members[0].count(b"[") - members[0].count(b"]") - members[0].count(b"}")
            return Piece(at, members.end(), PieceForm.FRAME)
        # Neither an object nor a bracket: a value among them, as a quote or a word.
        end = self._quote_end(place, _CLEAN_IN_BRACKETS) if token in (b'"', b"'") else -1
        found = _VALUE_END.search(data, end if end >= 0 else place + 1)
        return Piece(at, found.end() if found is not None else len(data), PieceForm.OTHER)

    def _object_piece(self, at: int, place: int) -> Piece:
        """Return the piece that begins at `at` with the object whose brace is at `place`, whole or not.

        {"message_id": "a", "payload": {"x": 1},     <- lacks its end: the piece ends where the next one begins
        {"message_id": "b"}
        """
        data = self.data
        line = data.rfind(b"\n", 0, place) + 1
        column = place - line if not data[line:place].strip(b" ") else 0
        line_end = self._line_end(place)
        if _is_object(data[place:line_end]):
            bracket = _Bracket(line_end, line_end)
        else:
            self._unclosed_until = 0  # an object may be whole within brackets that are not
            bracket = self._bracket_at(place)
        end = bracket.end
        if end >= 0 and data[end - 1] != 10 and not _BEHIND_OBJECT.match(data, end):
            return Piece(at, self._boundary(line_end, _ANY_COLUMN), PieceForm.OTHER)
        if end >= 0:
            end = self._behind(_COMMA_BEHIND, end) if data[end - 1] != 10 else end
            return Piece(at, end, PieceForm.OBJECT, column)
        # Where a key had to stand, an object begins: the next one.
        if data[place : bracket.stop].rstrip().endswith(b",") and data.startswith(b"{", bracket.stop):
            return Piece(at, bracket.stop, PieceForm.OBJECT, column)
        found = _after_object(column).search(data, max(line_end, bracket.text_end))
        end = found.start() if found is not None else len(data)
        return Piece(at, end, PieceForm.OBJECT, column)


def container_at(data: bytes, place: int) -> re.Match[bytes] | None:
    """Return the beginning of an object that holds a list of entries and is none itself; None for any other."""
    found = _CONTAINER.match(data, place)
    return found if found is not None and not _ID_MEMBER.search(found[0]) else None


def _unquoted(name: bytes) -> bytes:
    """Return a key without blanks and quotes around it."""
    name = name.strip()
    return name[1:-1] if name[:1] in (b'"', b"'") and name[-1:] == name[:1] and len(name) > 1 else name


def _is_object(line: bytes) -> bool:
    """Return whether a line is one object of JSON."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
