"""From the bytes of a file to its pieces: all of it the first time, afterwards only the stretch that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.codec.cutting.checks import check_bytes
from team_console.store.backends.yaml.codec.cutting.frame import (
    EMPTY,
    Frame,
    Style,
    has_other_breaks,
    has_stray,
    is_plain_tail,
    item_starts,
    last_item,
    split,
)
from team_console.store.backends.yaml.codec.cutting.join import join_all
from team_console.store.backends.yaml.codec.cutting.unusual import read_unusual
from team_console.store.backends.yaml.codec.entry import QueueEntry, Span
from team_console.store.backends.yaml.codec.errors import CodecError
from team_console.store.backends.yaml.codec.parts import Parts
from team_console.store.backends.yaml.codec.stretches import Stretches
from team_console.store.backends.yaml.text_change import Change
from team_console.store.model.chunked import Chunked, LazyChunked, rank


class Cut(Struct, frozen=True):
    """A file cut with the help of what it was before.

    Attributes:
        starts: Where entries begin, if that is known at no cost.
        kept: How many entries at the beginning and at the end are the same objects as before; None when that is not
            known, or when more than entries changed.
    """

    parts: Parts
    starts: Chunked[int] | None = None
    kept: tuple[int, int] | None = None


_NO_ENTRIES: Mapping[bytes, QueueEntry] = {}


def read(data: bytes, known: Mapping[bytes, QueueEntry] = _NO_ENTRIES) -> Parts:
    """Cut a whole file; entries whose bytes are in `known` are reused.

    Raises:
        CodecError: The file as a whole cannot be understood.
    """
    check_bytes(data)
    frame = split(data)
    if frame is None and EMPTY.fullmatch(data):
        return Parts(data, Chunked.of(()), b"", Style(), joined=True, blank=True)
    if frame is None:
        return read_unusual(data, known)
    parts = Parts(frame.head, _entries(data, frame, known), data[frame.end :], frame.style)
    if frame.doubtful:
        return _ask_yaml(data, parts, known)
    return parts if is_plain_tail(parts.tail) else _join_before_tail(data, parts, known)


def reread(text: Stretches, change: Change, old: Parts, starts: Chunked[int]) -> Cut:
    """Cut a file that was read before; entries outside the changed stretch are reused as they are.

    `starts` tells where entries began in the text before.

    Raises:
        CodecError: As `read`.
    """
    found = _reread_middle(text, change, old, starts)
    return found or Cut(read(text.join(), {entry.raw: entry for entry in old.entries}))


def _reread_middle(text: Stretches, change: Change, old: Parts, starts: Chunked[int]) -> Cut | None:
    """None when more than entries changed, so that the whole file has to be cut anew."""
    if old.whole or not starts:
        return None
    old_size = starts[-1] + old.entries[-1].size + len(old.tail)
    first = rank(starts, change.head - old.style.indent - 1) - 1
    if first < 0:
        return None
    resume = rank(starts, old_size - change.tail + 1)
    begin, shift = starts[first], text.size - old_size
    if resume < len(starts):
        end = starts[resume] + shift
    elif old.tail and change.tail > len(old.tail):
        end = text.size - len(old.tail)
    elif not old.tail:
        end = text.size
    else:
        return None
    middle = text.cut(begin, end)
    if not _is_calm(middle, old):
        return None
    known = {entry.raw: entry for entry in old.entries[first:resume]}
    cuts = item_starts(middle, 0, len(middle), old.style)
    entries = old.entries.exchanged(first, resume, _pieces(middle, cuts, known))
    parts = replace(old, entries=entries, joined=False, has_open=False)
    if not is_plain_tail(parts.tail):
        return Cut(_join_before_tail(text.join(), parts, known))
    rest = [start + shift for start in starts[resume:]] if shift else ()
    places = starts.exchanged(first, len(starts) if rest else resume, (*(begin + cut for cut in cuts), *rest))
    return Cut(parts, places, (first, len(old.entries) - resume))


def _is_calm(middle: bytes, old: Parts) -> bool:
    """Whether a stretch holds nothing but items and what is indented below them."""
    try:
        check_bytes(middle)
    except CodecError:
        return False
    return not has_other_breaks(middle) and not has_stray(middle, old.style)


def _entries(data: bytes, frame: Frame, known: Mapping[bytes, QueueEntry]) -> Chunked[QueueEntry]:
    """Entries of a text read for the first time share its bytes and are cut out when somebody asks for more than the
    last; later ones have their own bytes, or each would keep alive the text it came with.
    """
    first, end, style = frame.first, frame.end, frame.style
    if first is None:
        return Chunked.of(())
    if known:
        return Chunked.of(_pieces(data[:end], item_starts(data, first, end, style), known))
    last = QueueEntry(Span(data, last_item(data, first, end, style), end))

    def cut() -> Chunked[QueueEntry]:
        before = pairwise(item_starts(data, first, end, style))
        return Chunked.of([*[QueueEntry(Span(data, start, stop)) for start, stop in before], last])

    return LazyChunked(cut, last)


def _pieces(data: bytes, starts: Sequence[int], known: Mapping[bytes, QueueEntry]) -> tuple[QueueEntry, ...]:
    """Entries that begin at `starts`, the last of which ends where `data` ends; those in `known` are reused."""
    pieces = [data[start:stop] for start, stop in pairwise([*starts, len(data)])]
    return tuple([known.get(piece) or QueueEntry.of(piece) for piece in pieces])


def _join_before_tail(data: bytes, parts: Parts, known: Mapping[bytes, QueueEntry]) -> Parts:
    """Make sure that what looks like the end of the list is not the inside of an open quote."""
    joined = join_all(parts)
    return _ask_yaml(data, joined, known) if joined.has_open else joined


def _ask_yaml(data: bytes, parts: Parts, known: Mapping[bytes, QueueEntry]) -> Parts:
    """The entries as a whole-file parse sees them, or `parts` when that fails or sees the same."""
    try:
        whole = read_unusual(data, known)
    except CodecError:
        return parts
    return parts if _shape(whole) == _shape(parts) else whole


def _shape(parts: Parts) -> tuple[list[bytes], bytes]:
    return [entry.raw for entry in parts.entries], parts.tail
