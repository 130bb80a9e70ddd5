"""Words and ids looked for in the bytes of a queue, before any of its entries is understood."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

_PLAIN_ID = re.compile(r"[A-Za-z0-9._:@/+-]+").fullmatch
_ALIKE = 4
"""Bytes that words have in common which are looked for together."""
HIDDEN_IDS = (
    (b"\\", b"\\", re.compile(rb'id["\']?[ \t]*:\s*"[^"\n]*\\')),  # id: "MSG\x2d1"
    (b"*", b"*", re.compile(rb'id["\']?[ \t]*:\s*\*')),  # id: *other
    (b"!", b"!", re.compile(rb'id["\']?[ \t]*:\s*!')),  # id: !!binary TVNHLTE=
    (b"*", b"- *", re.compile(rb"(?m)^ *- \*")),  # - *message
    (b"<", b"<<", re.compile(rb"<<[\"']?[ \t]*:")),  # <<: *message
)
"""What may be an id that the bytes of the text do not show, and two cheap signs that there is one, the cheapest first.

One byte is searched for ten times as quickly as two or three.
"""


def is_written_plainly(word: str) -> bool:
    """Whether a value that holds `word` has it byte for byte in its text, unless an escape or a tag hides it."""
    return _PLAIN_ID(word) is not None


def holds_one(data: bytes, words: Collection[bytes]) -> bool:
    """Whether one of `words` is in `data`; of those that begin alike this is looked for first, to read `data` once."""
    alike: dict[bytes, list[bytes]] = {}
    for word in words:
        alike.setdefault(word[:_ALIKE], []).append(word)
    return any(_beginning(group) in data and any(word in data for word in group) for group in alike.values())


def _beginning(words: Sequence[bytes]) -> bytes:
    """What all of them begin with."""
    least, most = min(words), max(words)
    common = next((place for place, (item, other) in enumerate(zip(least, most, strict=False)) if item != other), None)
    return least[:common]


def entries_with(word: bytes, data: bytes, starts: Sequence[int]) -> Iterator[int]:
    """Indices of the entries of `data`, which begin at `starts`, in whose text the word begins."""
    place = data.find(word)
    while place >= 0:
        index = bisect_right(starts, place) - 1
        if index >= 0:
            yield index
        following = starts[index + 1] if index + 1 < len(starts) else len(data)
        place = data.find(word, following)
