"""Compare two texts as the lines of a unified diff, quick also for texts made to be slow to compare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from difflib import SequenceMatcher

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_CONTEXT = 3
"""Equal lines that are shown around a change."""
_MOST_PAIRS = 50_000
"""Pairs of equal lines up to which two texts are compared line by line; above, one replaces the other whole."""
_POPULAR_FROM = 200
"""Lines from which on `SequenceMatcher` passes over those that make up more than a hundredth of all."""
NO_LINE_END = "\\ no line end at the end of the text"
Change = tuple[str, int, int, int, int]
"""What is done (`equal`, `replace`, `delete`, `insert`); from `start` to `until` of the old lines, from `begin` to
`limit` of the new ones, counted from 0, the ends excluded: what `SequenceMatcher.get_opcodes` gives."""
Hunk = tuple[int, int, int, int]
"""First line and number of lines, in the old and in the new text."""


@lru_cache(maxsize=8)
def line_difference(before: str, after: str) -> tuple[str, ...]:
    """Return the lines with their sign: ` ` stays, `-` goes, `+` comes; `@@` begins each stretch. Empty when nothing
    differs.
    """
    old, new = lines_of(before), lines_of(after)
    grouping = _sequence_matcher((), ())
    vars(grouping)["opcodes"] = _line_changes(old, new)  # which `get_opcodes` would else work out
    lines = [line for stretch in grouping.get_grouped_opcodes(_CONTEXT) for line in _hunk_lines(stretch, old, new)]
    marked = [line if line.endswith("\n") else f"{line}\n{NO_LINE_END}\n" for line in lines]
    return tuple(line[:-1] for line in lines_of("".join(marked)))


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, with their ends."""
    return _LINE.findall(text)


def hunks_of(before: str, after: str, *, more: Iterable[tuple[int, int]]) -> list[Hunk]:
    """Return the differences of two texts, each with three lines around it, counted from 0.

    Args:
        more: Further lines of the first text, from where to where, that are to be in a hunk.
    """
    changes = _line_changes(lines_of(before), lines_of(after))
    spans = sorted([*more, *((start, until) for what, start, until, _, _ in changes if what != "equal")])
    old_size, new_size = (changes[-1][2], changes[-1][4]) if changes else (0, 0)
    hunks: list[Hunk] = []
    for start, until in _spans_with_context(spans):
        begin, limit = _line_in_new(changes, start), new_size
        if until < old_size:
            limit = _line_in_new(changes, until)
        hunks.append((start, min(until, old_size) - start, begin, limit - begin))
    return hunks


def _spans_with_context(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans with three lines around each; those that touch then are one."""
    merged: list[tuple[int, int]] = []
    for start, until in spans:
        begin = max(0, start - _CONTEXT)
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], until + _CONTEXT))
        else:
            merged.append((begin, until + _CONTEXT))
    return merged


def _line_in_new(changes: Sequence[Change], line: int) -> int:
    """Return the line of the second text for a line of the first that is equal in both, or before the first change."""
    for _, start, until, begin, _ in changes:
        if line < until or line == start:  # an insertion has no lines of the first text: `start` is `until`
            return begin + line - start
    return 0


def counts_of(diff: Sequence[str]) -> str:
    """Return the size of a difference, such as `+3 −1`."""
    signs = [line[:1] for line in diff]
    return f"+{signs.count('+')} −{signs.count('-')}"


def _line_changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """Return the changes between two lists of lines; what is equal at both ends is not compared."""
    head = _equal_at_start(old, new)
    tail = _equal_at_start(old[head:][::-1], new[head:][::-1])
    end, stop = len(old) - tail, len(new) - tail
    changes: list[Change] = [("equal", 0, head, 0, head)] if head else []
    for what, start, until, begin, limit in _compare_middle(old[head:end], new[head:stop]):
        changes.append((what, start + head, until + head, begin + head, limit + head))
    if tail:
        changes.append(("equal", end, len(old), stop, len(new)))
    return changes


def _sequence_matcher(old: Sequence[str], new: Sequence[str]) -> SequenceMatcher[str]:
    from difflib import SequenceMatcher  # 5 ms, which no hook but one that asks for an edit needs

    return SequenceMatcher(None, old, new)


def _compare_middle(old: Sequence[str], new: Sequence[str]) -> Sequence[Change]:
    """Return the changes between lines that differ at both ends; too many equal pairs are not compared."""
    if not (old or new):
        return []
    if not (old and new):
        return [("delete" if old else "insert", 0, len(old), 0, len(new))]
    counts = Counter(new)
    popular = len(new) // 100 + 1 if len(new) >= _POPULAR_FROM else len(new)
    if sum(number for line in old if (number := counts[line]) <= popular) > _MOST_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    return _sequence_matcher(old, new).get_opcodes()


def _hunk_lines(stretch: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the `@@` of a stretch, and its lines with their signs."""
    first, last = stretch[0], stretch[-1]
    yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
    for what, start, until, begin, limit in stretch:
        yield from (f"{' ' if what == 'equal' else '-'}{line}" for line in old[start:until])
        yield from (f"+{line}" for line in new[begin:limit] if what != "equal")


def _range(start: int, stop: int) -> str:
    """Return start and length of a range, counted from 1; an empty one comes after its line."""
    length = stop - start
    return f"{start + 1 if length else start},{length}"


def _equal_at_start(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the number of equal lines at the beginning."""
    shorter = min(len(old), len(new))
    return next((number for number in range(shorter) if old[number] != new[number]), shorter)
