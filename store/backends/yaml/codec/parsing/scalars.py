"""Which written scalars are more than text: one rule for every reader of the queue (requirement of exact text)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from team_console.store.model.message import ENVELOPE_KEYS

TEXT_KEYS = ENVELOPE_KEYS - {"payload", "attempts", "retry_count", "max_retries"}
"""Record keys whose scalars are always the text as written; below the other keys numbers and words are typed."""
LIST_KEYS = frozenset({"to", "to_agents", "recipient", "to_agent"})
MAP_KEYS = frozenset({"read_by", "delivered_to", "handed_to"})

NULLS = frozenset({"", "~", "null"})
_WORDS: Mapping[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}
PLAIN_INTEGERS = 10**18
"""Below it integers are written plain; a plain one of more digits is text, as other programs' ids always were here."""
INTEGERS = 10**99
"""Below it larger ones are written as `!!int`; nothing larger is written."""
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}").fullmatch
_LONGEST_FLOAT = 32
_ABSENT = object()


def text_only(written: str) -> str | None:
    """A plain scalar of the envelope: the text as written, None for `null`, `~` and nothing."""
    return None if written in NULLS else written


def typed(written: str) -> Any:
    """A plain scalar elsewhere: true, false, null, integers of at most 18 digits, exact floats; else its text."""
    if written in _WORDS:
        return _WORDS[written]
    if written[0] not in "-0123456789" or len(written) > _LONGEST_FLOAT:
        return written
    if _INTEGER(written):
        return int(written)
    return _float(written)


def float_text(value: float) -> str:
    """`value` as YAML 1.1 readers take it for a float: always with a dot."""
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e", 1)


def _float(written: str) -> float | str:
    try:
        value = float(written)
    except ValueError:
        return written
    return value if written in (repr(value), float_text(value)) else written


def same(value: Any, other: Any) -> bool:
    """Whether two values are equal in type and content, mapping order aside (`True` is not `1`)."""
    if value is other:
        return True
    # Nearly all values are texts and plain mappings; asking whether something is any Mapping takes ten times as long.
    if value.__class__ is str:
        return isinstance(other, str) and value == other
    if value.__class__ is dict and other.__class__ is dict:
        return len(value) == len(other) and _same_items(value, other)
    if isinstance(value, Mapping):
        return (
            isinstance(other, Mapping) and value.keys() == other.keys() and all(same(value[k], other[k]) for k in value)
        )
    if isinstance(value, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, str):
        return isinstance(other, str) and value == other
    return type(value) is type(other) and bool(value == other)


def _same_items(value: dict[str, Any], other: dict[str, Any]) -> bool:
    for key, item in value.items():
        there = other.get(key, _ABSENT)
        if not (item is there or (item == there if item.__class__ is there.__class__ is str else same(item, there))):
            return False
    return True
