"""Search in a queue's bytes for the places where an agent may be addressed, without understanding any entry.

A place that is found need not address the agent: whoever asks reads the entry around it. A place that addresses it
is never left out, so that finding none proves that there is nothing for the agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from team_console.store.backends.yaml.codec.cutting.checks import BOM
from team_console.store.backends.yaml.codec.cutting.frame import has_other_breaks
from team_console.store.model.message import ADDRESS_KEYS, UNADDRESSED
from team_console.store.model.names import ALL

_ADDRESS_KEYS = frozenset(key.encode() for key in (*ADDRESS_KEYS, "type", "message_type"))
"""Keys of a recipient, and of a kind that has its recipient by default."""
_LAST_KEY = re.compile(rb"""(?P<key>[A-Za-z_]+)["']?[ \t]*:\Z""")
"""The key right before a value: `to:`, `"to" :`, of what stands before a name."""
_LOOK_BACK = 64
"""Bytes before a name in which the key of its value is looked for; a key that is not seen counts as an address."""
_BEFORE = frozenset(b" \t\r\n'\",[-:")
_AFTER = b"\r\n'\",]}#"
_ANCHOR, _ALIAS = re.compile(rb"&([0-9A-Za-z_-]+)"), re.compile(rb"\*([0-9A-Za-z_-]+)")
_SPELLING = frozenset((b"x", b"u", b"U", b"\r", b"\n"))
"""What follows the backslash of an escape that stands for a letter, or for nothing between two of them."""
_BEFORE_TAG = frozenset(b" \t\r\n,[{:")


def may_be_addressed(data: bytes, agent: str) -> list[int] | None:
    """Positions in `data` at which `agent` or everybody may be addressed; None when only reading all of it can tell.

    A name that is not ASCII may be spelt in several ways.
    """
    if not agent.isascii():
        return None
    if _has_alias(data) or has_other_breaks(data) or (not data.isascii() and data.find(BOM, len(BOM)) >= 0):
        return None
    names = (agent.encode("utf-8", "replace"), ALL.encode())
    kinds = (kind.encode() for kind, to in UNADDRESSED.items() if ALL in to or agent in to)
    return sorted(
        {*(place for name in (*names, *kinds) for place in _named(data, name)), *_escapes(data), *_tags(data)}
    )


def _has_alias(data: bytes) -> bool:
    """Whether a value may be an alias, which repeats what stands at the anchor of its name."""
    if b"&" not in data or b"*" not in data:
        return False
    return not {*_ANCHOR.findall(data)}.isdisjoint(_ALIAS.findall(data))


def _escapes(data: bytes) -> Iterator[int]:
    """Where an escape may be part of a name, or of the key before it."""
    return (place for place in _each(data, b"\\") if data[place + 1 : place + 2] in _SPELLING)


def _tags(data: bytes) -> Iterator[int]:
    """Where a tag may begin: what is `!!binary` does not show its text, a `!!set` has its items where keys stand.

    No tag that may stand in a queue begins as `!=` does, which texts about programs are full of.
    """
    places = (place for place in _each(data, b"!") if data[place - 1] in _BEFORE_TAG)
    return (place for place in places if data[place + 1 : place + 2] != b"=")


def _each(data: bytes, word: bytes) -> Iterator[int]:
    place = data.find(word)
    while place >= 0:
        yield place
        place = data.find(word, place + len(word))


def _named(data: bytes, name: bytes) -> Iterator[int]:
    size = len(name)
    for place in _each(data, name):
        # The cheap looks first: in a large queue the word is in the text of every message.
        if data[place - 1] in _BEFORE and _ends_value(data, place + size) and _may_be_value(data, place):
            yield place


def _ends_value(data: bytes, end: int) -> bool:
    """Whether a value can end here: nothing follows but spaces and a comment, or what closes it."""
    following = data[end : end + 1]
    if following in (b" ", b"\t"):
        following = data[end : end + _LOOK_BACK].lstrip(b" \t")[:1]
    return not following or following in _AFTER


def _may_be_value(data: bytes, place: int) -> bool:
    """Whether the word at `place` can be the value of an address key or an item of a list."""
    before = data[max(0, place - _LOOK_BACK) : place]
    line = before[before.rfind(b"\n") + 1 :].rstrip(b" \t'\"")
    if line.endswith(b":"):
        key = _LAST_KEY.search(line)
        is_cut = key is not None and key.start() == 0 and b"\n" not in before
        return key is None or is_cut or key["key"] in _ADDRESS_KEYS
    if not line or line[-1:] in (b"-", b"[", b",", b"?"):
        return True
    words = line.split()
    return b"&" in words[-1] or (len(words) == 1 and b"\n" not in before)
