"""Putting together what columns cut apart: an item whose quotes or brackets go on in a line that looks like an item."""

from __future__ import annotations

from collections.abc import Sequence

from store.backends.yamlteam.codec.entry import Entry
from store.backends.yamlteam.codec.errors import CodecError, Kind

_TRIES = 400
_WIDEST = 1 << 20


def join_open(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The same bytes as entries, with each item that its own text leaves open joined to those that close it.

    An item that nothing closes stays damaged. The work is bounded, whatever the text.
    """
    joined: list[Entry] = []
    index, tries = 0, _TRIES
    while index < len(entries):
        entry, used = entries[index], 1
        if is_open(entry) and tries > 0:
            entry, used, spent = _close(entries, index, tries)
            tries -= spent
        joined.append(entry)
        index += used
    return tuple(joined)


def is_open(entry: Entry) -> bool:
    """Whether the entry's text ends inside a quoted scalar or a bracket."""
    return isinstance(entry.outcome, CodecError) and entry.outcome.kind is Kind.OPEN


def _close(entries: Sequence[Entry], index: int, tries: int) -> tuple[Entry, int, int]:
    """The joined entry, how many entries it uses and how many tries that took."""
    raw, tried = entries[index].raw, 0
    for last in range(index + 1, min(index + 1 + tries, len(entries))):
        raw += entries[last].raw
        if len(raw) > _WIDEST:
            break
        candidate, tried = Entry(raw), tried + 1
        if is_open(candidate):
            continue
        if candidate.error is None or candidate.error.kind is Kind.MEANING:
            return candidate, last + 1 - index, tried
        break
    return entries[index], 1, max(tried, 1)
