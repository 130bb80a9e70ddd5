"""Search in a queue's bytes for the places where an agent may be addressed, without understanding any entry.

A place that is found need not address the agent: whoever asks reads the entry around it. A place that addresses it
is never left out, so that finding none proves that there is nothing for the agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from team_console.store.model.names import ALL

_ADDRESS_KEYS = frozenset({b"to", b"to_agents", b"to_agent", b"recipient"})
# "to:", and in JSON or quoted YAML '"to" :'.
_ADDRESS = re.compile(rb"""(?:to|to_agents|to_agent|recipient)["']?[ \t]*:""")
_LAST_KEY = re.compile(rb"""(?P<key>[A-Za-z_]+)["']?[ \t]*:\Z""")
"""The key right before a value: `to:`, `"to" :`, of what stands before a name."""
_LOOK_BACK = 64
"""Bytes before a name in which the key of its value is looked for; a key that is not seen counts as an address."""
_BEFORE = frozenset(b" \t\r\n'\",[-:")
_AFTER = b"\r\n'\",]}#"


def may_be_addressed(data: bytes, agent: str) -> list[int] | None:
    """Positions in `data` at which `agent` or everybody may be addressed; None when only reading all of it can tell."""
    if _has_alias(data):
        return None
    names = (agent.encode("utf-8", "replace"), ALL.encode())
    return sorted({*(place for name in names for place in _named(data, name)), *_escaped(data)})


def _has_alias(data: bytes) -> bool:
    """Whether a value may be an alias, which repeats what stands elsewhere in the file."""
    place = data.find(b" *")
    while place >= 0:
        if data[place - 1 : place] in (b":", b"-", b",", b"[") and data[place + 2 : place + 3].isalnum():
            return True
        place = data.find(b" *", place + 1)
    return False


def _named(data: bytes, name: bytes) -> Iterator[int]:
    size = len(name)
    place = data.find(name)
    while place >= 0:
        # The cheap looks first: in a large queue the word is in the text of every message.
        if data[place - 1] in _BEFORE and _ends_value(data, place + size) and _may_be_value(data, place):
            yield place
        place = data.find(name, place + size)


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
    last_word = line[line.rfind(b" ") + 1 :]
    return last_word[:1] in (b"!", b"&")


def _escaped(data: bytes) -> Iterator[int]:
    """Lines with an escape that could spell a name, where an address or an item of a list may stand."""
    place = data.find(b"\\")
    while place >= 0:
        begin, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
        line = data[begin : end if end >= 0 else len(data)]
        if _ADDRESS.search(line) or line.lstrip(b" \t-").startswith(b'"'):
            yield place
        place = data.find(b"\\", end) if end >= 0 else -1
