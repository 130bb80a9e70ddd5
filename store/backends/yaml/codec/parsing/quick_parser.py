"""The quick reader: the block form we write ourselves, and most that people write; it gives up rather than guess."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from team_console.store.backends.yaml.codec.parsing.scalars import TEXT_KEYS, text_only, typed

# Each match is one whole line, or a key with its literal block; a text counts as understood only when the
# matches cover all of it, so whatever this pattern leaves out goes to the patient reader.
#
# Only single characters are repeated possessively (`*+`): up to Python 3.11.4 a possessive repeat of a group
# may match too much or not at all (CPython issues 100061 and 106052). The repeated groups are greedy, and each
# of them begins with a character that the repeat before it leaves out, so there is one way only to match a
# line and giving up costs no more than a second look at it.
_LINES = r"""(?m)^(?P<whole>
      (?P<spaces>[ ]{0,40}+)
      (?P<dash>-[ ])?                                   # "- " of a list
      (?:(?P<key>
          [A-Za-z_][A-Za-z0-9_.-]*                      # status
          |'[^'\n\t]{1,100}'                            # 'on'
          |"[^"\\\n\t]{1,100}"                          # "two words"
        ):(?:[ ](?=[^ \n])|(?=\n))                      # one space and a value, or the end of the line
      )?
      (?:
        (?:
          (?P<plain>                                    # Fix: it: #3 is a:b c#d
            (?:[A-Za-z0-9_./\xc0-\ud7ff]|-(?=[A-Za-z0-9]))
            [^\n\t:\#]*+
            (?:
              (?: :(?=[^ \n\t])                         # 10:30, but no "key: value"
                |(?<![ \n\t])\#                         # C#, but no " # comment"
              )[^\n\t:\#]*+
            )*
            (?<![ ])                                    # no blank at the end, which YAML would drop
          )
          |(?P<other>
            '[^'\n\t]*+(?:''[^'\n\t]*+)*'               # 'it''s'
            |"[^"\n\t\\]*+(?:\\[^\n\t][^"\n\t\\]*+)*" # "tab \t"
            |\{\}                                       # {}
            |\[[A-Za-z0-9_., '"/-]*+\]                  # [a, 'b c']
          )
          |(?<=:)                                       # "payload:", whose value stands below
        )\n
        |\|(?P<chomp>-?)\n                              # "|" or "|-" and lines two columns further in:
          (?=(?P=spaces)(?(dash)[ ]{4}|[ ]{2})[^ \n\t]) # the first one says how far, so no blank there
          (?P<literal>(?:(?P=spaces)(?(dash)[ ]{4}|[ ]{2})[^\n]*+\n|\n)+)
      )
      |(?:\#[^\n]*+)?\n                                 # "# comment" or an empty line
    )"""
_LARGEST = 1 << 16
_EASY = bytes(range(0x20, 0x7F)) + b"\n"
_HARD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]").search
_ESCAPES = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")
_NAMED_ESCAPES = {"\\": "\\", '"': '"', "/": "/", "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_ITEM = r"""(?:"([^"\\]*+)"|'([^']*+)'|(-?[A-Za-z0-9_][A-Za-z0-9_./-]*+))"""
"""An item of a list in brackets: `"two words"`, `'it'` or `sprint-42`."""
_ITEMS = re.compile(rf"{_ITEM}(?:, {_ITEM})*").fullmatch
_EACH_ITEM = re.compile(_ITEM).finditer


@cache
def _lines() -> re.Pattern[str]:
    """Compiled when it is first needed: that takes milliseconds, and most queues hold ordinary entries alone."""
    return re.compile(_LINES, re.VERBOSE)


class _GaveUp(Exception):
    """The text is for the patient reader."""


def read_fast(raw: bytes) -> dict[str, Any] | None:
    """The record of one list item in plain block form; None when the text needs the patient reader."""
    if len(raw) > _LARGEST:
        return None
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n")
    text = raw.decode()
    if raw.translate(None, _EASY) and _HARD(text):
        return None
    if text[:1] == " ":
        text = _dedent(text)
    rows = _lines().findall(text)
    if sum([len(row[0]) for row in rows]) != len(text):
        return None
    try:
        return _build(rows)
    except _GaveUp:
        return None


def _dedent(text: str) -> str:
    """Move an indented item to column 0, if every line of it allows that."""
    width = len(text) - len(text.lstrip(" "))
    pad = " " * width
    lines = text.split("\n")
    if all(line.startswith(pad) or not line for line in lines):
        return "\n".join([line[width:] for line in lines])
    return text


class _Builder:
    """Collections that are open while the lines go by, each with the column its children stand at."""

    __slots__ = ("levels", "root", "scalar", "waiting")

    def __init__(self) -> None:
        self.root: list[Any] = []
        self.levels: list[tuple[int, Any]] = [(0, self.root)]
        self.waiting: tuple[dict[str, Any], str, int] | None = None
        self.scalar: Callable[[str], Any] = typed

    def close_to(self, column: int, kind: type) -> Any:
        """The open collection of `kind` at `column`; what stands deeper is finished."""
        levels = self.levels
        while levels and (levels[-1][0] > column or levels[-1][1].__class__ is not kind):
            levels.pop()
        if not levels or levels[-1][0] != column:
            raise _GaveUp
        return levels[-1][1]

    def open(self, column: int, collection: Any) -> Any:
        """Make `collection` the value of the key that waits for one, and the innermost open collection."""
        assert self.waiting is not None
        self.waiting[0][self.waiting[1]] = collection
        self.waiting = None
        self.levels.append((column, collection))
        return collection

    def sequence(self, column: int) -> Any:
        """The list to which a dash at `column` adds."""
        if self.waiting is not None and column >= self.waiting[2]:
            return self.open(column, [])
        self.waiting = None
        return self.close_to(column, list)

    def mapping(self, column: int) -> Any:
        """The mapping to which a key at `column` adds."""
        if self.waiting is not None and column > self.waiting[2]:
            return self.open(column, {})
        self.waiting = None
        return self.close_to(column, dict)

    def item(self, column: int) -> Any:
        """A new mapping behind a dash at `column`, with its keys two columns further."""
        mapping: dict[str, Any] = {}
        self.sequence(column).append(mapping)
        self.levels.append((column + 2, mapping))
        return mapping


def _build(rows: list[tuple[str, ...]]) -> dict[str, Any]:
    """Put the lines together by their columns; any step that is not plain nesting gives up."""
    build = _Builder()
    for whole, spaces, dash, key, plain, other, chomp, literal in rows:
        column = len(spaces)
        if not key:
            if dash and not literal:
                build.sequence(column).append(_value(build.scalar, column, plain, other, chomp, literal))
            elif whole != "\n" and whole[0] != "#":
                raise _GaveUp
            continue
        if key[0] < "A":
            key = key[1:-1]
        if dash:
            mapping = build.item(column)
            column += 2
        else:
            mapping = build.mapping(column)
        if key in mapping:
            raise _GaveUp
        if column == 2:
            build.scalar = text_only if key in TEXT_KEYS else typed
        if plain:
            mapping[key] = build.scalar(plain)
        elif other or literal:
            mapping[key] = _value(build.scalar, column, plain, other, chomp, literal)
        else:
            mapping[key] = None
            build.waiting = (mapping, key, column)
    if len(build.root) != 1 or build.root[0].__class__ is not dict:
        raise _GaveUp
    return build.root[0]


def _value(scalar: Callable[[str], Any], column: int, plain: str, other: str, chomp: str, literal: str) -> Any:
    """The value of a scalar or of an empty or simple flow collection on its line."""
    if literal:
        return _literal(literal, " " * (column + 2), chomp)
    if plain:
        return scalar(plain)
    mark, inside = other[0], other[1:-1]
    if mark == "'":
        return inside.replace("''", "'")
    if mark == '"':
        return _ESCAPES.sub(_unescape, inside) if "\\" in inside else inside
    if mark == "{":
        return {}
    return _flow_list(scalar, inside) if inside else []


def _literal(block: str, pad: str, chomp: str) -> str:
    """The text of a literal block whose lines all begin with `pad` or are empty."""
    text = ("\n" + block).replace("\n" + pad, "\n")[1:].rstrip("\n")
    return text if chomp else text + "\n"


def _flow_list(scalar: Callable[[str], Any], inside: str) -> list[Any]:
    """The items of a list in brackets on one line: words, numbers and simple quoted texts."""
    if _ITEMS(inside) is None:
        raise _GaveUp
    items = (found.group(1, 2, 3) for found in _EACH_ITEM(inside))
    return [scalar(word) if word is not None else quoted or single or "" for quoted, single, word in items]


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        point = int(code[1:], 16)
        if 0xD800 <= point <= 0xDFFF or point > 0x10FFFF:
            raise _GaveUp
        return chr(point)
    if code not in _NAMED_ESCAPES:
        raise _GaveUp
    return _NAMED_ESCAPES[code]
