"""A queue whose frame columns do not explain: entries from the marks of a whole-file parse."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from team_console.store.backends.yaml.codec.cutting.checks import BOM
from team_console.store.backends.yaml.codec.cutting.frame import Style
from team_console.store.backends.yaml.codec.cutting.whole import HINT, MOST_DAMAGED, Item, Whole, read_whole
from team_console.store.backends.yaml.codec.entry import QueueEntry, to_message
from team_console.store.backends.yaml.codec.errors import CodecError
from team_console.store.backends.yaml.codec.parsing.aliases import tie
from team_console.store.backends.yaml.codec.parsing.anchors import SIGN
from team_console.store.backends.yaml.codec.parsing.scalars import same
from team_console.store.backends.yaml.codec.parts import Parts
from team_console.store.model.chunked import Chunked
from team_console.store.model.message import Message

_NO_ENTRIES: Mapping[bytes, QueueEntry] = {}
_BREAKS = "\n\r\x85\u2028\u2029"


def read_unusual(data: bytes, known: Mapping[bytes, QueueEntry] = _NO_ENTRIES) -> Parts:
    """Cut a file by reading all of it as YAML; entries whose bytes are in `known` are reused.

    Raises:
        CodecError: It is not a queue, or not YAML.
    """
    whole = read_whole(data)
    eol = b"\r\n" if b"\r\n" in data else b"\n"
    text = data.removeprefix(BOM).decode()
    cuts = _block_cuts(text, whole) if whole.block else []
    style = Style(whole.column if cuts else 0, eol)
    flow = not cuts
    cuts = cuts or _flow_cuts(text, whole)
    places = _byte_offsets(text, cuts, len(data) - len(data.removeprefix(BOM)))
    entries = tuple([_reuse(entry, known) for entry in _entries(data, places, whole.items)])
    if not flow and SIGN.search(data):
        entries = _tied(entries, data[: places[0]])
    return Parts(data[: places[0]], Chunked.of(entries), data[places[-1] :], style, whole=True, flow=flow, joined=True)


def _block_cuts(text: str, whole: Whole) -> list[int]:
    """Where the line of each item's dash begins, and where the list ends; nothing when a dash shares its line."""
    dash = re.compile(rf"(?:^|(?<=[{_BREAKS}])) {{{whole.column}}}-(?=[ \t{_BREAKS}]|$)")
    lines = [found.start() for found in dash.finditer(text, max(0, whole.start - whole.column))]
    places = [bisect_left(lines, item.start) - 1 for item in whole.items]
    if not places or places[0] != 0 or any(item >= other for item, other in pairwise(places)):
        return []
    end = len(text) if whole.end >= len(text) else 1 + max(text.rfind(mark, 0, whole.end) for mark in _BREAKS)
    return [*(lines[place] for place in places), end]


def _flow_cuts(text: str, whole: Whole) -> list[int]:
    if not whole.items:
        return [len(text)]
    return [*(item.start for item in whole.items), whole.items[-1].end]


def _byte_offsets(text: str, cuts: Sequence[int], base: int) -> list[int]:
    places, before = [], 0
    for cut in cuts:
        base += len(text[before:cut].encode())
        places.append(base)
        before = cut
    return places


def _entries(data: bytes, places: Sequence[int], items: Sequence[Item]) -> Iterator[QueueEntry]:
    lines, before, damaged = 0, 0, 0
    for item, (start, stop) in zip(items, pairwise(places), strict=True):
        lines += data.count(b"\n", before, start)
        before, raw = start, data[start:stop]
        outcome = _outcome(item.outcome, raw, lines)
        damaged += isinstance(outcome, CodecError)
        if damaged > MOST_DAMAGED:
            raise CodecError(f"more than {MOST_DAMAGED} items that are not messages", lines + 1, hint=HINT)
        yield QueueEntry.of(raw, outcome)


def _tied(entries: tuple[QueueEntry, ...], head: bytes) -> tuple[QueueEntry, ...]:
    """The entries with their ties where each of them alone, with the anchors before it, reads as in the whole file."""
    return tuple(
        [
            now if isinstance(now.known, Message) or not isinstance(entry.known, Message) else entry
            for now, entry in zip(tie(entries, head), entries, strict=True)
        ]
    )


def _reuse(entry: QueueEntry, known: Mapping[bytes, QueueEntry]) -> QueueEntry:
    """The entry known from before, if it means the same where it stands now."""
    old = known.get(entry.raw)
    if old is None or not isinstance(old.known, Message) or not isinstance(entry.known, Message):
        return entry
    return old if same(old.known.record, entry.known.record) else entry


def _outcome(found: dict[str, Any] | CodecError, raw: bytes, lines: int) -> Message | CodecError:
    if isinstance(found, CodecError):
        return found.below(-lines)
    try:
        return to_message(found, raw)
    except CodecError as error:
        return error.below(0)
