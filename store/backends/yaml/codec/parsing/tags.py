"""Standard tags (`!!int 5`): what YAML's own types, and the plain ones of PyYAML's dump, mean in a message."""

from __future__ import annotations

import binascii
import re
from typing import Any

from team_console.store.backends.yaml.codec.parsing.scalars import INTEGERS, PLAIN_INTEGERS, text_only

_YAML = "tag:yaml.org,2002:"
_PYTHON = "python/"
_SAME = {
    "unicode": "str",
    "long": "int",
    "none": "null",
    "tuple": "seq",
    "list": "seq",
    "dict": "map",
    "bytes": "binary",
}
"""PyYAML's names for Python's own types that have another name in YAML."""
SCALARS = frozenset(("str", "int", "float", "bool", "null", "timestamp", "binary"))
SEQUENCES = frozenset(("seq", "omap", "pairs"))
MAPPINGS = frozenset(("map", "set"))
_TRUE, _FALSE = frozenset(("y", "yes", "true", "on")), frozenset(("n", "no", "false", "off"))
_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?:"
    r"0b(?P<binary>[01]+)"  # 0b1010
    r"|0x(?P<hex>[0-9a-fA-F]+)"  # 0xFF
    r"|0o?(?P<octal>[0-7]+)"  # 010, which YAML 1.1 counts in eights, and 0o10
    r"|(?P<decimal>0|[1-9][0-9]*)"  # 10
    r")"
).fullmatch
_BASES = {"binary": 2, "hex": 16, "octal": 8, "decimal": 10}
_LONGEST_NUMBER = 100
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]").search


def name_of(tag: str) -> str:
    """The plain name of a standard tag: `int` for `tag:yaml.org,2002:int`; else the tag as a person writes it."""
    if tag == "!":
        return "str"
    if not tag.startswith(_YAML):
        return tag
    name = tag.removeprefix(_YAML)
    plain = name.removeprefix(_PYTHON)
    known = _SAME.get(plain, plain) if plain != name else name
    return known if known in SCALARS | SEQUENCES | MAPPINGS else f"!!{name}"


def tagged_scalar(name: str, written: str, *, as_text: bool) -> Any:
    """A scalar with the tag `name`; where the envelope wants text it stays the text as written.

    Raises:
        ValueError: It is not what the tag says.
    """
    if name == "null":
        return None
    if name == "binary":
        return _binary(written)
    if as_text or name in ("str", "timestamp"):
        return text_only(written) if as_text and name != "str" else written
    return {"bool": _bool, "int": _int, "float": _float}[name](written)


def ordered(items: list[Any]) -> dict[str, Any]:
    """The mapping that a `!!omap` list of single pairs stands for.

    Raises:
        ValueError: It is not such a list.
    """
    found: dict[str, Any] = {}
    for item in items:
        if not isinstance(item, dict) or len(item) != 1 or not found.keys().isdisjoint(item):
            raise ValueError("is not a list of single pairs, each key once")
        found.update(item)
    return found


def _bool(written: str) -> bool:
    word = written.lower()
    if word not in _TRUE | _FALSE:
        raise ValueError("is neither true nor false")
    return word in _TRUE


def _int(written: str) -> Any:
    if len(written) > _LONGEST_NUMBER:
        return written
    match = _NUMBER(written.replace("_", ""))
    if match is None:
        raise ValueError("is not a whole number")
    kind = str(match.lastgroup)
    value = int(match["sign"] + match[kind], _BASES[kind])
    # A larger one only as we write it: what was read as text until now, in another spelling, stays text.
    return value if abs(value) < (INTEGERS if written == str(value) else PLAIN_INTEGERS) else written


def _float(written: str) -> Any:
    plain = written.replace("_", "").lower()
    if plain.lstrip("+-") in (".inf", ".nan"):
        return written
    try:
        value = float(plain)
    except ValueError:
        raise ValueError("is not a number") from None
    return value if value - value == 0 else written


def _binary(written: str) -> str:
    """The text that the bytes are, else base64 without line breaks, since a message holds text only."""
    packed = "".join(written.split())
    try:
        text = binascii.a2b_base64(packed, strict_mode=True).decode()
    except binascii.Error:
        raise ValueError("is not base64") from None
    except UnicodeDecodeError:
        return packed
    return packed if _CONTROLS(text) else text
