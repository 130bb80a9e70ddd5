"""Putting together what columns cut apart: an item whose quotes or brackets go on in a line that looks like an item."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.backends.yaml.codec.cutting.frame import line_ends
from team_console.store.backends.yaml.codec.cutting.whole import MOST_DAMAGED
from team_console.store.backends.yaml.codec.entry import QueueEntry, skim
from team_console.store.backends.yaml.codec.errors import CodecError, Kind
from team_console.store.backends.yaml.codec.parsing.aliases import tie
from team_console.store.backends.yaml.codec.parsing.anchors import SIGN
from team_console.store.backends.yaml.codec.parsing.values import first_item_end
from team_console.store.backends.yaml.codec.parts import Parts
from team_console.store.model.chunked import Chunked
from team_console.store.model.message import Message

_TRIES = 100
_NARROWEST, _WIDEST = 1 << 10, 1 << 16
_TIES = attrgetter("ties")


class _Seen(Struct):
    """What a look at all entries showed.

    Attributes:
        open: Where an entry ends inside a quoted scalar or a bracket, in order.
        alias: An entry uses an alias whose value must stand before it.
    """

    open: list[int] = field(default_factory=list)
    alias: bool = False


def join_all(parts: Parts, progress: Callable[[int, int], bool] | None = None) -> Parts:
    """Understand every entry and join those that an open quote or bracket ties together.

    Raises:
        InterruptedError: `progress(done, total)` returned False; what was understood so far is kept.
    """
    entries, seen = _look_at_all(parts.entries, progress)
    has_open = False
    if seen.open:
        entries, has_open = join_open(tuple(entries), seen.open)
    if seen.alias or any(map(_TIES, entries)) or SIGN.search(parts.tail):
        entries = tie(entries, parts.head)
    return replace(parts, entries=Chunked.of(entries), joined=True, has_open=has_open)


def _look_at_all(
    entries: Sequence[QueueEntry], progress: Callable[[int, int], bool] | None
) -> tuple[Sequence[QueueEntry], _Seen]:
    """The entries, each understood or, behind too many damaged ones, skimmed; and what some of them need."""
    damaged, is_changed, seen = 0, False, _Seen()
    alias, opened = Kind.ALIAS, Kind.OPEN
    all_looked_at = list(entries)
    for number, entry in enumerate(all_looked_at):
        if progress is not None and number % 256 == 0 and not progress(number, len(entries)):
            raise InterruptedError("reading was stopped")
        if entry.known.__class__ is Message:
            continue
        looked = _look(entry, damaged)
        if looked is not entry:
            all_looked_at[number], is_changed = looked, True
        outcome = looked.known or looked.outcome
        if not isinstance(outcome, CodecError):
            continue
        kind = outcome.kind
        if kind is alias:
            seen.alias = True
        else:
            damaged += 1
        if kind is opened:
            seen.open.append(number)
    return (tuple(all_looked_at) if is_changed else entries), seen


def _look(entry: QueueEntry, damaged: int) -> QueueEntry:
    if damaged >= MOST_DAMAGED:
        return skim(entry) if entry.known is None else entry
    return QueueEntry(entry.span) if is_skipped(entry) else entry


def join_open(entries: tuple[QueueEntry, ...], places: Iterable[int]) -> tuple[tuple[QueueEntry, ...], bool]:
    """The same bytes as entries, with each item that its own text leaves open joined to those that close it.

    An item that nothing closes stays damaged. The work is bounded, whatever the text.

    Args:
        places: Of the open items, in order.

    Returns:
        The entries, and whether one of them is open.
    """
    joined: list[QueueEntry] = []
    index, tries, has_open = 0, _TRIES, False
    for place in places:
        if place < index:  # an item before it needed it
            continue
        joined.extend(entries[index:place])
        entry, used = _close(entries, place) if tries > 0 else (entries[place], 1)
        joined.append(entry)
        tries -= used == 1
        has_open = has_open or used == 1
        index = place + used
    joined.extend(entries[index:])
    return tuple(joined), has_open


def is_skipped(entry: QueueEntry) -> bool:
    """Whether nobody looked at the entry, because too many before it are damaged."""
    return isinstance(entry.known, CodecError) and entry.known.kind is Kind.SKIPPED


def _close(entries: Sequence[QueueEntry], index: int) -> tuple[QueueEntry, int]:
    """The joined entry and how many entries it uses; the entry itself when nothing near closes it."""
    raws: list[bytes] = []
    used, width = None, _NARROWEST
    while used is None and width <= _WIDEST:
        before, raws = len(raws), _window(entries, index, width)
        if len(raws) > before:
            used = _closing(raws, line_ends(raws))
        width *= 8
    if used is None or used < 2:
        return entries[index], 1
    candidate = QueueEntry.of(b"".join(raws[:used]))
    if candidate.error is not None and candidate.error.kind not in (Kind.MEANING, Kind.ALIAS):
        return entries[index], 1
    return candidate, used


def _closing(raws: Sequence[bytes], ends: Sequence[int]) -> int | None:
    """How many of `raws` the first item takes: 0 when nothing can close it, None when what follows `raws` may.

    `ends` are the lines up to each. What is broken before the last of them is as broken with more behind it.
    """
    try:
        return bisect_left(ends, first_item_end(b"".join(raws))) + 1
    except CodecError as error:
        sound = bisect_right(ends, error.line - 1)
        if error.kind is Kind.OPEN or sound >= len(raws):
            return None
        if sound < 2:
            return 0
    try:  # libyaml reads ahead, so the error may lie behind the item
        return bisect_left(ends, first_item_end(b"".join(raws[:sound]))) + 1
    except CodecError:
        return 0


def _window(entries: Sequence[QueueEntry], index: int, width: int) -> list[bytes]:
    """The bytes of the entry at `index` and of those behind it, up to about `width` bytes in all."""
    raws: list[bytes] = []
    size = 0
    for place in range(index, len(entries)):
        size += entries[place].size
        if raws and size > width:
            break
        raws.append(entries[place].raw)
    return raws
