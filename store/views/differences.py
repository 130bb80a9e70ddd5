"""Differences of two texts as the lines of a unified diff, quick also for texts made to be slow to compare."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_CONTEXT = 3
_MOST_PAIRS = 50_000
"""Pairs of equal lines up to which two texts are compared line by line; above, one replaces the other whole."""
_SHORT = 40_000
"""Pairs of lines up to which two texts are compared as they are."""
_DEEPEST = 8
_POPULAR_FROM = 200
"""Lines from which on `SequenceMatcher` passes over those that make up more than a hundredth of all."""
NO_LINE_END = "\\ no line end at the end of the text"
Change = tuple[str, int, int, int, int]
"""What is done (`equal`, `replace`, `delete`, `insert`), and from where to where in the old and the new lines."""
Hunk = tuple[int, int, int, int]
"""First line and number of lines, in the old and in the new text."""


@lru_cache(maxsize=8)
def difference(before: str, after: str) -> tuple[str, ...]:
    """Lines with their sign: ` ` stays, `-` goes, `+` comes; `@@` begins each stretch. Empty when nothing differs."""
    old, new = lines_of(before), lines_of(after)
    return tuple(line for stretch in _stretches(_changes(old, new)) for line in _written(stretch, old, new))


def lines_of(text: str) -> list[str]:
    """The lines of a text, with their ends."""
    return _LINE.findall(text)


def hunks_of(before: str, after: str, *, more: Iterable[tuple[int, int]] = ()) -> list[Hunk]:
    """Where two texts differ, three lines around each change included, counted from 0.

    Args:
        more: Further lines of the first text, from where to where, that are to be in a hunk.
    """
    changes = _changes(lines_of(before), lines_of(after))
    spans = sorted([*more, *((start, until) for what, start, until, _, _ in changes if what != "equal")])
    merged = list[tuple[int, int]]()
    for start, until in spans:
        begin = max(0, start - _CONTEXT)
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], until + _CONTEXT))
        else:
            merged.append((begin, until + _CONTEXT))
    old_size, new_size = (changes[-1][2], changes[-1][4]) if changes else (0, 0)
    places = [(start, _place(changes, start)) for start, _ in merged]
    ends = [(min(until, old_size), _place(changes, until) if until < old_size else new_size) for _, until in merged]
    return [(a, b - a, c, d - c) for (a, c), (b, d) in zip(places, ends, strict=True)]


def _place(changes: Sequence[Change], line: int) -> int:
    """Where a line of the first text that is equal in both, or before the first change, stands in the second."""
    return next((begin + line - start for _, start, until, begin, _ in changes if line < until or line == start), 0)


def counts_of(diff: Sequence[str]) -> str:
    """How much differs, such as `+3 −1`."""
    signs = [line[:1] for line in diff]
    return f"+{signs.count('+')} −{signs.count('-')}"


def _changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """The changes between two lists of lines; what is equal at both ends is not compared."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    end, stop = len(old) - tail, len(new) - tail
    changes: list[Change] = [("equal", 0, head, 0, head)] if head else []
    for what, start, until, begin, limit in _compared(old[head:end], new[head:stop]):
        changes.append((what, start + head, until + head, begin + head, limit + head))
    if tail:
        changes.append(("equal", end, len(old), stop, len(new)))
    return changes


def _compared(old: Sequence[str], new: Sequence[str], depth: int = 0) -> Sequence[Change]:
    """Long texts are cut first at lines that each of them holds once, as `patience` diffs do: quick and readable."""
    if old and new and set(old).isdisjoint(new):  # a text written anew: every search for what stayed would be in vain
        return [("replace", 0, len(old), 0, len(new))]
    anchors = _anchors(old, new) if len(old) * len(new) > _SHORT and depth < _DEEPEST else []
    return _between(anchors, old, new, depth) if anchors else _pair_by_pair(old, new)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places in both of lines that stand once in each, the most that follow each other in the same order."""
    places = {line: place for place, line in _once(new)}
    pairs = [(place, places[line]) for place, line in _once(old) if line in places]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [index]
    chain: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _once(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    counts = Counter(lines)
    return ((place, line) for place, line in enumerate(lines) if counts[line] == 1)


def _between(
    anchors: Sequence[tuple[int, int]], old: Sequence[str], new: Sequence[str], depth: int
) -> Sequence[Change]:
    """The changes before, between and after lines that are known to be the same."""
    changes: list[Change] = []
    here = there = 0
    for place, goal in (*anchors, (len(old), len(new))):
        parts = _compared(old[here:place], new[there:goal], depth + 1) if here < place or there < goal else ()
        for what, start, until, begin, limit in parts:
            _join(changes, (what, start + here, until + here, begin + there, limit + there))
        if place < len(old):
            _join(changes, ("equal", place, place + 1, goal, goal + 1))
        here, there = place + 1, goal + 1
    return changes


def _join(changes: list[Change], change: Change) -> None:
    """Put a change behind the others, as one with the last where both do the same."""
    if changes and changes[-1][0] == change[0]:
        what, start, _, begin, _ = changes[-1]
        changes[-1] = (what, start, change[2], begin, change[4])
    else:
        changes.append(change)


def _pair_by_pair(old: Sequence[str], new: Sequence[str]) -> Sequence[Change]:
    if not old or not new:
        return [("delete" if old else "insert", 0, len(old), 0, len(new))] if old or new else []
    counts = Counter(new)
    popular = len(new) // 100 + 1 if len(new) >= _POPULAR_FROM else len(new)
    if sum(number for line in old if (number := counts[line]) <= popular) > _MOST_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    from difflib import SequenceMatcher

    return SequenceMatcher(None, old, new).get_opcodes()


def _stretches(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Changes with the lines around them; those that are close stand together."""
    stretch: list[Change] = []
    for number, (what, start, until, begin, limit) in enumerate(changes):
        if what != "equal":
            stretch.append((what, start, until, begin, limit))
            continue
        is_last = number == len(changes) - 1
        if stretch and not is_last and until - start <= 2 * _CONTEXT:
            stretch.append((what, start, until, begin, limit))
            continue
        if stretch:
            yield [*stretch, (what, start, min(until, start + _CONTEXT), begin, min(limit, begin + _CONTEXT))]
        room = min(_CONTEXT, until - start)
        stretch = [] if is_last else [(what, until - room, until, limit - room, limit)]
    if any(change[0] != "equal" for change in stretch):
        yield stretch


def _written(stretch: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    first, last = stretch[0], stretch[-1]
    yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
    for what, start, until, begin, limit in stretch:
        if what == "equal":
            yield from _signed(" ", old[start:until])
            continue
        yield from _signed("-", old[start:until])
        yield from _signed("+", new[begin:limit])


def _range(start: int, stop: int) -> str:
    """Where a stretch is, counted from 1, and how many lines it has; one that has none comes after its line."""
    length = stop - start
    return f"{start + 1 if length else start},{length}"


def _signed(sign: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines with their sign; only the last of a text can be without a line end."""
    if not lines:
        return
    yield from [sign + line[:-1] for line in lines[:-1]]
    yield sign + lines[-1].removesuffix("\n")
    if not lines[-1].endswith("\n"):
        yield NO_LINE_END


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines at the beginning are equal."""
    shorter = min(len(old), len(new))
    return next((number for number in range(shorter) if old[number] != new[number]), shorter)
