"""The format of entries that we write: write and read it without PyYAML, with the same outcome as by PyYAML.

Nearly every entry of nearly every queue is of this form: reading it here takes a fifth of the time, and a command that
meets nothing else saves loading PyYAML. `CSafeDumper` does not write it: it escapes emoji and puts texts with a tab on
one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any

from team_console.store.model.message import ENVELOPE_KEYS, FieldDict, Fields

TEXT_KEYS = ENVELOPE_KEYS - {"payload", "attempts", "retry_count", "max_retries"}
"""Record keys whose scalars are always the text as written; below the other keys numbers and words are typed."""
REPAIR = "Open the file in an editor, repair that line and save."
LARGEST = 1 << 16
"""Bytes of an entry that is read here."""
DEEPEST = 60
"""Levels of nesting a written message may have, under the limit of the reader."""
PLAIN_INTEGERS = 10**18
"""Below it integers are written plain; a plain one of more digits is text, as other programs' ids always were here."""
INTEGERS = 10**99
"""Below it larger ones are written as `!!int`; nothing larger is written."""

_NULLS = frozenset({"", "~", "null"})
_WORDS: Mapping[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}").fullmatch
_LONGEST_FLOAT = 32
_LONGEST_KEY = 100


class Reach(Enum):
    """How far an error reaches."""

    SYNTAX = "syntax"
    """The text is not YAML; a quote that is open at its end may go on in the next entry."""
    MEANING = "meaning"
    """The text is YAML, but not a message."""
    ALIAS = "alias"
    """The entry uses an alias whose value must stand before it, in another entry."""
    FRAME = "frame"
    """What stands here is no entry, and hides none: the mark of a document, a key, a bracket."""


class TextError(Exception):
    """A text that cannot be understood, or a message that cannot be written.

    Attributes:
        line: 1-based line of the problem (the last one when several take part).
        column: 1-based column, None when the whole line is meant.
        lines: Every line that takes part.
        message: What is wrong, naming the lines.
        hint: The next step.
        reach: How far the error reaches.
    """

    def __init__(
        self, text: str, *lines: int, column: int | None = None, hint: str = REPAIR, reach: Reach = Reach.MEANING
    ) -> None:
        self.lines = lines or (1,)
        self.line = self.lines[-1]
        self.column = column
        self.hint = hint
        self.reach = reach
        self._text = text
        self.message = text + _place(lines, column)
        super().__init__(self.message)

    def below(self, lines: int) -> TextError:
        """Return the same error seen from a text in which `lines` more lines stand before."""
        moved = (line + lines for line in self.lines)
        return TextError(self._text, *moved, column=self.column, hint=self.hint, reach=self.reach)


def _place(lines: tuple[int, ...], column: int | None) -> str:
    """Return the lines of an error as the end of its sentence."""
    if not lines:
        return ""
    if len(lines) > 1:
        return " at lines " + " and ".join(map(str, lines))
    return f" at line {lines[0]}" + (f", column {column}" if column is not None else "")


def envelope_text(written: str) -> str | None:
    """Return a plain scalar of the envelope: the text as written, None for `null`, `~` and nothing."""
    return None if written in _NULLS else written


def typed_value(written: str) -> Any:
    """Return a plain scalar elsewhere: true, false, null, integers of at most 18 digits, exact floats; else its
    text.
    """
    if written in _WORDS:
        return _WORDS[written]
    if written[0] not in "-0123456789" or len(written) > _LONGEST_FLOAT:
        return written
    if _INTEGER(written):
        return int(written)
    try:
        value = float(written)
    except ValueError:
        return written
    return value if written in (repr(value), _float_text(value)) else written


def is_same_value(value: Any, other: Any) -> bool:
    """Return whether two values are equal in type and content, mapping order aside (`True` is not `1`)."""
    if value is other:
        return True
    if value.__class__ is str:
        return isinstance(other, str) and value == other
    if isinstance(value, Mapping):
        if not isinstance(other, Mapping) or value.keys() != other.keys():
            return False
        return all(is_same_value(value[key], other[key]) for key in value)
    if isinstance(value, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(value) == len(other) and all(map(is_same_value, value, other))
    return type(value) is type(other) and bool(value == other)


# --- Reading. Patterns of bytes: in one of text a set of many characters costs milliseconds to compile. Only single
# characters are repeated possessively (`*+`): up to Python 3.11.4 a possessive repeat of a group may match too much or
# not at all (CPython issues 100061 and 106052). The repeated groups begin with what the repeat before them leaves out,
# so there is one way only to match a line.
_SCALAR = (
    rb"(?:[A-Za-z0-9_./\xc3-\xec]|-(?=[A-Za-z0-9]))"  # a letter or a digit first: Fix: it: #3 is a:b c#d
    rb"[^\n\t:#]*+(?:(?::(?=[^ \n\t])|(?<![ \n])\#)[^\n\t:#]*+)*(?<! )"  # 10:30 or C#, but no "key: value", no " # x"
    rb"|'[^'\n\t]*+(?:''[^'\n\t]*+)*'"  # 'it''s'
    rb'|"[^"\\\n\t]*+"'  # "two words"
    rb"|\{\}|\[\]"
)
_KEY = rb"[A-Za-z_][A-Za-z0-9_.-]*+"
_BLOCK = rb"      [^ \n\t][^\n]*+\n(?:      [^\n]*+\n|\n)*"
"""Lines two columns further in than the key above, the first of which is not blank."""
_EASY = bytes(range(0x20, 0x7F)) + b"\n\t"
_WIDE = _EASY + bytes(range(0x80, 0x100))
_holds_odd = re.compile(rb"\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]").search
"""Control characters and line breaks beyond ASCII, which PyYAML judges."""


@cache
def _rows() -> re.Pattern[bytes]:
    """Return a pattern of one line, or of a key of the payload with the lines of its block.

    Its groups: all of it; the indentation; of a line the dash, the key and the scalar; of a block its key, its chomping
    mark and its lines. A comment or an empty line has none but the first.
    """
    return re.compile(
        rb"(?m)^((- |  |    )(?:(?:(- )|(" + _KEY + rb"):(?: |(?=\n)))(?:(" + _SCALAR + rb")|(?<=:))\n"
        rb"|(?<=    )(" + _KEY + rb"): \|(-?)\n(" + _BLOCK + rb"))"
        rb"|(?:#[^\n]*+)?\n)"
    )


def read_item(raw: bytes) -> FieldDict | None:
    """Return the record in the text of one entry; None when it is not of our own form."""
    if len(raw) > LARGEST or not raw.startswith(b"- ") or not _is_plain_utf8(raw):
        return None
    rows = _rows().findall(raw)
    if sum(map(len, [row[0] for row in rows])) != len(raw):
        return None
    record: FieldDict = {}
    inner: Any = None  # the mapping that keys four columns further in belong to
    # The key whose value is not there yet: its mapping, its name and its indentation. A list or a mapping may follow.
    waiting: tuple[FieldDict, str, bytes] | None = None
    scalar = typed_value  # reads plain scalars below the present key of the record
    for number, (_, pad, dash, key, value, block_key, chomp, block) in enumerate(rows):
        if not pad:
            continue
        if (pad == b"- ") is not (number == 0):  # only the first key of the record stands behind the dash of the entry
            return None
        if dash:
            if waiting is None or waiting[2] != pad:
                return None
            holder, name, _ = waiting
            if holder[name] is None:
                holder[name] = []
            holder[name].append(_value_of(value, scalar))
            continue
        if pad == b"    ":
            if waiting is not None and waiting[0] is record and record[waiting[1]] is None:
                inner = record[waiting[1]] = {}
            if inner is None:
                return None
            mapping = inner
        else:
            pad, inner, mapping = b"  ", None, record  # the keys behind the first have two spaces instead of its dash
        name = (key or block_key).decode()
        if name in mapping:
            return None
        if mapping is record:
            scalar = envelope_text if name in TEXT_KEYS else typed_value
        waiting = None
        if block:
            mapping[name] = _block_text(block, chomp)
        elif value:
            mapping[name] = _value_of(value, scalar)
        else:
            mapping[name], waiting = None, (mapping, name, pad)
    return record


def _is_plain_utf8(raw: bytes) -> bool:
    """Return whether the bytes are UTF-8 without characters that PyYAML has to judge."""
    if not raw.translate(None, _EASY):
        return True
    if raw.translate(None, _WIDE) or _holds_odd(raw):
        return False
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _value_of(written: bytes, scalar: Any) -> Any:
    """Return the value of a scalar or an empty collection; `scalar` reads one that is plain."""
    mark = written[:1]
    if mark == b"'":
        return written[1:-1].decode().replace("''", "'")
    if mark == b'"':
        return written[1:-1].decode()
    if mark == b"{":
        return {}
    return [] if mark == b"[" else scalar(written.decode())


def _block_text(block: bytes, chomp: bytes) -> str:
    """Return the text of a literal block."""
    text = (b"\n" + block).replace(b"\n      ", b"\n")[1:].rstrip(b"\n").decode()
    return text if chomp else text + "\n"


# --- Writing.
_UNPRINTABLE = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
"""Besides tab and newline. Sets name what they leave out: `re` compiles a wide set of characters for milliseconds."""
_IMPLICIT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))
_FLOW = frozenset(",[]{}")
_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_is_plain_key = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}").fullmatch


def _plain(first: str, other: str) -> re.Pattern[str]:
    """Return plain scalars, a letter first, since a digit could begin a number: "a:b" and "C#", but no "a: b", no "
    # x".
    """
    return re.compile(rf"{first}{other}*+(?:(?::(?=[^ ])|(?<! )\#){other}*+)*(?<![ \xa0])")


_PLAIN_ASCII = _plain("[A-Za-z_]", r"[ !\"$-9;-~]")


@cache
def _wide() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return patterns for any text: what can stand plain, on one line in quotes, on several lines as a block."""
    return (
        _plain(r"(?:[A-Za-z_]|[^\x00-\xbf\u2000-\u2bff\ud800-\U0010ffff])", rf"[^:#\t\n{_UNPRINTABLE}]"),
        re.compile(rf"[^\t\n{_UNPRINTABLE}]*"),
        re.compile(rf"[^{_UNPRINTABLE}]*"),
    )


def write_item(record: Fields) -> bytes:
    """Write a record as one block-style list item at column 0, ending with a newline.

    Raises:
        TextError: A value cannot be written so that it reads back the same.
    """
    if not record:
        raise TextError("an empty record cannot be written", hint="Give it an id, a type, a sender and a recipient.")
    return ("- " + "\n".join(_mapping(record, 2, 1))[2:] + "\n").encode()


def write_pair(key: str, value: Any, column: int) -> str:
    """Write one key and its value with the key at `column`, without the last line end.

    Raises:
        TextError: As `write_item`.
    """
    return "\n".join(_pair(key, value, column, 1))


def _mapping(mapping: Fields, column: int, depth: int) -> Iterator[str]:
    """Yield the lines of an object whose keys stand at `column`."""
    _check_depth(depth)
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise TextError(f"key {key!r} is not text", hint="Use text for every key.")
        yield from _pair(key, value, column, depth)


def _pair(key: str, value: Any, column: int, depth: int) -> Iterator[str]:
    """Yield the lines of one key and its value."""
    pad = " " * column
    written = key if _is_plain_key(key) and key.lower() not in _IMPLICIT else quoted(key)
    head = f"{pad}{written}:" if len(key) <= _LONGEST_KEY else f"{pad}? {written}\n{pad}:"
    if isinstance(value, Mapping) and value:
        yield head
        yield from _mapping(value, column + 2, depth + 1)
    elif isinstance(value, (list, tuple)) and value:
        yield head
        yield from _sequence(value, column, depth + 1)
    else:
        yield f"{head} {write_scalar(value, pad)}"


def _sequence(items: list[Any] | tuple[Any, ...], column: int, depth: int) -> Iterator[str]:
    """Yield the lines of a list whose dashes stand at `column`."""
    _check_depth(depth)
    pad = " " * column
    for item in items:
        if isinstance(item, Mapping) and item:
            lines: Iterator[str] = _mapping(item, column + 2, depth + 1)
        elif isinstance(item, (list, tuple)) and item:
            lines = _sequence(item, column + 2, depth + 1)
        else:
            yield f"{pad}- {write_scalar(item, pad)}"
            continue
        yield f"{pad}- {next(lines)[column + 2 :]}"
        yield from lines


def _check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise TextError(f"nesting deeper than {DEEPEST} cannot be written", hint="Flatten the payload.")


def write_scalar(value: Any, pad: str, *, flow: bool = False) -> str:
    """Write a scalar or an empty collection, ready to stand behind `key: `; further lines begin with `pad`.

    Raises:
        TextError: The value is of a type the queue does not know.
    """
    if isinstance(value, str):
        return _string(str(value), pad, flow=flow)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        if abs(value) >= INTEGERS:
            raise TextError("an integer of 100 digits or more cannot be written", hint="Send it as text.")
        return str(int(value)) if abs(value) < PLAIN_INTEGERS else f"!!int {int(value)}"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise TextError(f"{value} is not a number that can be written", hint="Send it as text.")
        return _float_text(float(value))
    if isinstance(value, (Mapping, list, tuple)) and not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    raise TextError(f"a value of type {type(value).__name__} cannot be written", hint="Send text, numbers, lists.")


def _float_text(value: float) -> str:
    """Write a number so that readers of YAML 1.1 take it for a float: always with a dot."""
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e", 1)


def _string(text: str, pad: str, *, flow: bool) -> str:
    """Write a text plain, as a block, or in quotes."""
    plain = _PLAIN_ASCII if text.isascii() else _wide()[0]
    if plain.fullmatch(text) and text.lower() not in _IMPLICIT and not (flow and not _FLOW.isdisjoint(text)):
        return text
    if "\n" in text and not flow and not text[0].isspace() and not text.endswith("\n\n") and _is_block(text):
        body, mark = (text[:-1], "|") if text.endswith("\n") else (text, "|-")
        return f"{mark}\n" + "\n".join([f"{pad}  {line}" if line else "" for line in body.split("\n")])
    return quoted(text)


def _is_block(text: str) -> bool:
    return _is_printable(text.replace("\n", "")) or _wide()[2].fullmatch(text) is not None


def _is_printable(text: str) -> bool:
    """Return whether it is ASCII without control characters; where not, a pattern has to tell."""
    return text.isascii() and text.isprintable()


def quoted(text: str) -> str:
    """Write a text in single quotes, or in double ones where it needs escapes."""
    if _is_printable(text) or _wide()[1].fullmatch(text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + re.sub(rf'[\\"\t\n{_UNPRINTABLE}]', _escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    """Return a character as an escape in double quotes."""
    character = match[0]
    point = ord(character)
    if 0xD800 <= point <= 0xDFFF:
        raise TextError(f"lone surrogate U+{point:04X} is not text", hint="Remove the broken character.")
    return _NAMED.get(character) or (f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}")
