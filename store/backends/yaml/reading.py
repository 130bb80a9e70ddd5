"""Read the entries of a queue, an archive or a dropped file: each by itself, or all of them as one document of YAML."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from team_console.store.backends.entry_splitter import EntrySplitter, Piece, PieceForm, container_at
from team_console.store.backends.yaml.entry import Entry, EntryText, Style, ValueBuilder, to_message
from team_console.store.backends.yaml.entry_format import Reach, TextError
from team_console.store.backends.yaml.nodes import Node, check_text, compose, has_alias
from team_console.store.contract.team import Progress
from team_console.store.model.message import MAX_DEPTH, Message

_LIST = "messages"
_EXPECTED = "expected a list under messages:"
_HINT = "A queue is a file with the line 'messages:' and a list below it."
_TWICE = "Merge the two lists into one."
_RECORD_KEYS = ("message_id", "id")
_SIGN = re.compile(rb"(?:^|[\s,\[{:?-])[&*][0-9A-Za-z_-]")
"""What may be an anchor or an alias: `to: &id001`, `[*id001`; but not `a & b`, `AT&T`, `* item`."""
_CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)
"""A marker that git leaves: `<<<<<<< HEAD`, `>>>>>>>`. A line of `=======` may be a title in a text."""
_LINE_END = re.compile(rb"\r?\n")
_BEGINS = re.compile(rb"^ *-[ \t\r\n]|^\{", re.MULTILINE)
"""Where entries begin, roughly: how many there will be is told to whoever waits for them."""
# What may not stand around entries: line breaks of YAML 1.1 besides "\n" and "\r\n", and what no YAML may hold.
_ODD = re.compile(
    rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x84\x86-\x9f]|\xef\xbf[\xbe\xbf]"
).search

_BESIDE = 2
"""Entries on each side of a change that are read with it: where one ends shows at the one behind it."""


class _EntryReader:
    """Reads each entry alone, so that a bad one harms no other; entries with the same bytes as before are the same."""

    def __init__(self, data: bytes, known: Mapping[bytes, Entry], progress: Progress | None) -> None:
        self._known = known
        self._read: dict[bytes, Entry] = {}
        self._progress = progress
        self._total = len(_BEGINS.findall(data)) if progress is not None else 0
        self._done = 0

    def trouble(self, raw: bytes, _: PieceForm) -> int | None:
        """See `entry_splitter.Trouble`."""
        known = self._known.get(raw)
        if known is not None and known.is_alone:  # as nearly all at a reload
            self._read[raw] = known
            return None
        error = self.entry(raw).error
        return error.line - 1 if error is not None and error.reach is Reach.SYNTAX else None

    def entry(self, raw: bytes) -> Entry:
        """Return the entry with these bytes, the same as before where they were read before."""
        found = self._read.get(raw)
        if found is None:
            found = self._known.get(raw)
            if found is None or found.has_aliases or found.is_frame:
                found = Entry(raw)
            self._read[raw] = found
        return found

    def piece(self, data: bytes, piece: Piece) -> Entry:
        """Return the entry in one piece.

        Raises:
            InterruptedError: `progress` said so.
        """
        raw = piece.raw or data[piece.start : piece.end]
        if self._progress is not None:
            if self._done % 256 == 0 and not self._progress(self._done, max(self._total, self._done)):
                raise InterruptedError("reading was stopped")
            self._done += 1
        found = self._read.get(raw)
        if found is not None and piece.form is PieceForm.ITEM:
            return found
        if piece.form in (PieceForm.FRAME, PieceForm.OTHER):
            return Entry.not_an_entry(raw, is_prose=piece.form is PieceForm.OTHER)
        return self.entry(raw)


def read_entries(
    data: bytes, known: Mapping[bytes, Entry], progress: Progress | None = None, *, every_list: bool = False
) -> EntryText:
    """Read a whole text in one of two ways.

    Each entry is read alone, so that a damaged one harms no other. Where an entry is not understood alone (an alias, a
    line break that only YAML knows), or stands in brackets, the text is read as one document, if it is one.

    Args:
        known: Entries by their bytes, of which those with the same bytes are the same objects.
        progress: Told entries done and in all; returns False to stop.
        every_list: Whether lists under any key are meant, and a record without a list, as in an archive.

    Raises:
        TextError: The text as a whole cannot be understood.
        InterruptedError: `progress` said so.
    """
    check_bytes(data)
    reader = _EntryReader(data, known, progress)
    splitter = EntrySplitter(data, reader.trouble, every_list=every_list)
    read = [(piece, reader.piece(data, piece)) for piece in splitter.pieces()]
    apart = _put_together(data, read, splitter)
    wrong = [entry for _, entry in read if entry.is_damaged]
    # Errors that the rest of the text may take away: an alias, a quote that goes on in the next entry.
    reaching = {entry.error.reach for entry in wrong if entry.error is not None} - {Reach.MEANING}
    has_entries = any(piece.form in (PieceForm.ITEM, PieceForm.RECORD, PieceForm.OBJECT) for piece, _ in read)
    # Nothing was found by columns, though something is there: it is a list as one document, or no list at all.
    is_refused = not has_entries and (bool(wrong) or apart.needs_rewrite or not splitter.has_list)
    has_odd_frame = bool(_ODD(apart.head) or _ODD(apart.tail))
    is_doubtful = (
        apart.needs_rewrite
        or has_odd_frame
        or any(entry.is_object for entry in wrong)
        or _SIGN.search(apart.tail) is not None  # an alias behind the list
    )
    documents = [document for document, _ in splitter.lists]
    has_two_lists = len(set(documents)) < len(documents)  # in one document
    if not (reaching or is_refused or is_doubtful or has_two_lists):
        _check_around(data, apart)
        return apart
    try:
        whole = read_whole(data, known, every_list=every_list)
    except TextError as error:
        if is_refused or has_odd_frame:
            raise
        if has_two_lists:
            lines = [data.count(b"\n", 0, place) + 1 for _, place in splitter.lists[:2]]
            raise TextError(f"{_LIST}: twice", *lines, hint=_TWICE) from error
        _check_around(data, apart)
        return apart
    is_other = Reach.SYNTAX in reaching or len(whole.entries) != len(apart.entries)
    if is_other or is_refused or is_doubtful:
        return whole
    # The same entries either way: they keep their text, and those with an alias get the value that it stands for.
    entries = [
        Entry(entry.raw, _same_object(known.get(entry.raw), other.outcome), has_aliases=True)
        if _SIGN.search(entry.raw) and has_alias(entry.raw)
        else entry
        for entry, other in zip(apart.entries, whole.entries, strict=True)
    ]
    return EntryText(apart.head, entries, apart.tail, apart.style)


def read_changes(previous: EntryText, data: bytes, known: Mapping[bytes, Entry]) -> EntryText | None:
    """Read what changed between entries that stand as they did before; None where all has to be read.

    Only messages that need no other text are left out, so that what is read has the same neighbours, and only where
    all of it comes out as messages: the text of a damaged entry may go on anywhere.
    """
    before, head, tail = previous.entries, previous.head, previous.tail
    # The entries from `first` on, before `last`, stand from byte `start` on, before `stop`, as something else now.
    if previous.needs_rewrite or not data.startswith(head) or not data.endswith(tail):
        return None
    first, start = 0, len(head)
    while first < len(before) and before[first].is_alone and data.startswith(before[first].raw, start):
        start += len(before[first].raw)
        first += 1
    last, stop = len(before), len(data) - len(tail)
    while last > first and before[last - 1].is_alone and data.endswith(before[last - 1].raw, start, stop):
        last -= 1
        stop -= len(before[last].raw)
    if start > stop:
        return None
    above, below = before[max(0, first - _BESIDE) : first], before[last : last + _BESIDE]
    begin, end = start - sum(len(entry.raw) for entry in above), stop + sum(len(entry.raw) for entry in below)
    try:
        read = read_entries(head + data[begin:end] + tail, known)
    except TextError:
        return None
    has_same_frame = (read.head, read.tail, read.needs_rewrite, read.style) == (head, tail, False, previous.style)
    found = [entry.raw for entry in read.entries]
    beside = [*found[: len(above)], *found[len(found) - len(below) :]]
    if not has_same_frame or beside != [entry.raw for entry in (*above, *below)]:
        return None
    if not all(entry.is_alone for entry in read.entries):
        return None
    entries = [*before[: first - len(above)], *read.entries, *before[last + len(below) :]]
    return EntryText(head, entries, tail, read.style)


def _check_around(data: bytes, text: EntryText) -> None:
    """Refuse bytes around the entries that are not UTF-8; those in an entry harm only that one."""
    check_text(text.head)
    try:
        check_text(text.tail)
    except TextError as error:
        raise error.below(data.count(b"\n", 0, len(data) - len(text.tail))) from None


def _put_together(data: bytes, read: Sequence[tuple[Piece, Entry]], splitter: EntrySplitter) -> EntryText:
    """Make a text of its pieces: what stands before the entries, the entries, and what stands behind them."""
    is_frame = [piece.form is PieceForm.FRAME for piece, _ in read]
    if all(is_frame):
        place = splitter.lists[0][1] if splitter.lists else 0
        begin = next((piece.end for piece, _ in read if piece.end > place), 0) if splitter.has_list else 0
        return EntryText(data[:begin], (), data[begin:], Style(0, _line_end(data)), needs_rewrite=splitter.is_odd)
    first = is_frame.index(False)
    last = len(read) - is_frame[::-1].index(False)
    begin, end = read[first][0].start, read[last - 1][0].end
    items = [piece for piece, _ in read if piece.form is PieceForm.ITEM]
    style = Style(items[-1].column if items else 0, _line_end(data), is_json=not items and not splitter.lists)
    return EntryText(
        data[:begin], [entry for _, entry in read[first:last]], data[end:], style, needs_rewrite=splitter.is_odd
    )


def _line_end(data: bytes) -> bytes:
    found = _LINE_END.search(data)
    return found[0] if found is not None else b"\n"


def check_bytes(data: bytes) -> None:
    """Refuse a text of UTF-16, with NULs, or with conflict markers.

    Raises:
        TextError: Naming the line.
    """
    trouble: tuple[str, int, str] | None = None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        trouble = "the file is UTF-16, not UTF-8", 0, "Save it as UTF-8."
    elif (nul := data.find(b"\0")) >= 0:
        hint = "Restore the file from a copy, or save it as UTF-8."
        trouble = "NUL bytes, as a crash or a wrong encoding leaves them,", nul, hint
    elif (b"<" * 7 in data or b">" * 7 in data) and (match := _CONFLICT.search(data)):
        trouble = "a conflict marker of git", match.start(), "Resolve the merge and remove the marker lines."
    if trouble is not None:
        text, place, hint = trouble
        raise TextError(text, data.count(b"\n", 0, place) + 1, hint=hint, reach=Reach.SYNTAX)


# The whole text as one document.


class _Document(Struct):
    """A text parsed as one document: the nodes of its items, and the other top-level keys with their values."""

    text: str
    items: list[Node]
    others: list[tuple[Node, Node]]
    start: int = 0


def find_list(data: bytes, *, every_list: bool = False) -> _Document:
    """Read the text as one YAML document and locate every item of `messages:`, or of a list without a key.

    Raises:
        TextError: The text is empty, not YAML, or not one document with one list.
    """
    check_bytes(data)
    check_text(data)
    root, text = compose(data, limit=MAX_DEPTH + 3)
    if root is None:
        raise TextError("empty file", 1, hint=_HINT)
    if root.kind == "sequence":
        return _Document(text, root.value, [], root.start)
    if root.kind != "mapping":
        raise TextError(f"{_EXPECTED} the file holds a single value", root.line, hint=_HINT)
    if every_list:
        names = {key.value for key, _ in root.value if key.kind == "scalar"}
        if not names.isdisjoint(_RECORD_KEYS):
            return _Document(text, [root], [], root.start)
        listed = [node for _, node in root.value if node.kind == "sequence"]
        if listed:
            return _Document(text, [item for node in listed for item in node.value], [], listed[0].start)
    lists = [pair for pair in root.value if pair[0].kind == "scalar" and pair[0].value == _LIST]
    if len(lists) != 1:
        if not lists:
            raise TextError(f"{_EXPECTED} there is none", 1, hint=_HINT)
        raise TextError(f"{_LIST}: twice", *(key.line for key, _ in lists), hint=_TWICE)
    node: Node = lists[0][1]
    is_null = node.kind == "scalar" and node.plain and node.value in ("", "~", "null", "Null", "NULL")
    if node.kind != "sequence" and not is_null and (node.kind != "mapping" or node.value):
        what = "a mapping" if node.kind == "mapping" else "a single value"
        raise TextError(f"{_EXPECTED} found {what}", node.line, hint=_HINT)
    items = node.value if node.kind == "sequence" else []
    return _Document(text, items, [pair for pair in root.value if pair is not lists[0]], node.start)


def read_whole(data: bytes, known: Mapping[bytes, Entry], *, every_list: bool = False) -> EntryText:
    """Read all of a text as one YAML document; messages of entries whose bytes are in `known` are reused.

    Raises:
        TextError: It has no list of entries, or is not YAML.
    """
    found = find_list(data, every_list=every_list)
    values = ValueBuilder()
    # Where the text of each item begins; the last ends with its value. A dash counts to the item before.
    cuts = [*(item.start for item in found.items), *(item.end for item in found.items[-1:])] or [len(found.text)]
    entries = [
        _whole_entry(item, found.text[start:stop].encode(), values, known)
        for item, (start, stop) in zip(found.items, pairwise(cuts), strict=True)
    ]
    head = data[: len(data) - len(data.removeprefix(BOM_UTF8))] + found.text[: cuts[0]].encode()
    return EntryText(head, entries, found.text[cuts[-1] :].encode(), Style(), needs_rewrite=True)


def _whole_entry(item: Node, raw: bytes, values: ValueBuilder, known: Mapping[bytes, Entry]) -> Entry:
    """Return the entry of an item; with the message known from before, if it means the same where it stands now."""
    try:
        return Entry(raw, _same_object(known.get(raw), to_message(values.record(item), raw)))
    except TextError as error:
        return Entry(raw, error.below(1 - item.line if error.line >= item.line else 0))


def _same_object(old: Entry | None, outcome: Message | TextError) -> Message | TextError:
    """Return the message known from before, if it means the same where it stands now."""
    message = old.message if old is not None else None
    return message if message is not None and isinstance(outcome, Message) and message == outcome else outcome


# How records begin in an archive.
_FLUSH = re.compile(rb"^- (?:\{|[\"']?\w+[\"']?:)", re.MULTILINE)
"""A record in a list at column 0: `- message_id: a`, `- {id: a}`, but not `- dev` of a list of names."""
_DEEPER = re.compile(rb"^(?P<begin> +- (?:\{|[\"']?\w+[\"']?:))", re.MULTILINE)
"""The same in a list that is indented."""
_OTHER_FORM = re.compile(rb"^(?:[\[{]|[\"']?(?:message_)?id[\"']?:)", re.MULTILINE)
"""Where a record may begin that is in no list."""
_OBJECT = re.compile(rb"^(?P<begin>[ \t]*(?P<brace>\{)\s*\"\w+\"\s*:)", re.MULTILINE)
"""An object with a quoted key, as in lines of JSON; `brace` is where it begins."""
_DOCUMENT = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
"""The mark of a document alone on its line."""


def begin_of_records(beginning: bytes) -> re.Pattern[bytes] | None:
    """Return how each record begins in a file that begins so, so that it can be cut before each; None where it cannot
    be: all on one line, one record after the other without a mark.
    """
    forms = (form.search(beginning) for form in (_FLUSH, _DEEPER, _OTHER_FORM))
    first = min(filter(None, forms), key=re.Match.start, default=None)
    if first is not None and first.re is _FLUSH:
        return _FLUSH
    if first is None or first.re is _OTHER_FORM:
        objects = _OBJECT.finditer(beginning)
        first = next((found for found in objects if container_at(beginning, found.start("brace")) is None), None)
    if first is not None:
        return _beginning_with(first["begin"])
    return _DOCUMENT if _DOCUMENT.search(beginning) else None


def _beginning_with(begin: bytes) -> re.Pattern[bytes]:
    """Return lines that begin so, up to the first key: lists and objects within records may stand as deep."""
    return re.compile(b"^" + re.escape(begin), re.MULTILINE)
