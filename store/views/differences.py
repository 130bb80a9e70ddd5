"""Differences of two texts as the lines of a unified diff, quick also for texts made to be slow to compare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_CONTEXT = 3
_MOST_PAIRS = 50_000
"""Pairs of equal lines up to which two texts are compared line by line; above, one replaces the other whole."""
_POPULAR_FROM = 200
"""Lines from which on `SequenceMatcher` passes over those that make up more than a hundredth of all."""
NO_LINE_END = "\\ no line end at the end of the text"
Change = tuple[str, int, int, int, int]
"""What is done (`equal`, `replace`, `delete`, `insert`), and from where to where in the old and the new lines."""


def difference(before: str, after: str) -> tuple[str, ...]:
    """Lines with their sign: ` ` stays, `-` goes, `+` comes; `@@` begins each stretch. Empty when nothing differs."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    return tuple(line for stretch in _stretches(_changes(old, new)) for line in _written(stretch, old, new))


def counts_of(diff: Sequence[str]) -> str:
    """How much differs, such as `+3 −1`."""
    added = sum(line.startswith("+") for line in diff)
    return f"+{added} −{sum(line.startswith('-') for line in diff)}"


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


def _compared(old: Sequence[str], new: Sequence[str]) -> Sequence[Change]:
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
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_LINE_END


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines at the beginning are equal."""
    shorter = min(len(old), len(new))
    return next((number for number in range(shorter) if old[number] != new[number]), shorter)
