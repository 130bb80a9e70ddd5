"""Writing one message as text that every YAML 1.1 loader reads back exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from team_console.store.backends.yaml.codec.entry import parse_record, to_message
from team_console.store.backends.yaml.codec.errors import CodecError
from team_console.store.backends.yaml.codec.parsing.scalars import INTEGERS, PLAIN_INTEGERS, float_text, same
from team_console.store.model.message import Message

DEEPEST = 60
"""Levels of nesting a written message may have, under the limit of the reader."""
_UNPRINTABLE = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
"""Besides tab and newline. Sets name what they leave out: `re` compiles a wide set of characters for milliseconds."""
_FIRST = r"[A-Za-z_]"
"""A letter: a digit could begin a number or a date."""
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}").fullmatch
_AWKWARD = re.compile(r"[^\n -~]|\n +(?:\n|\Z)").search
"""What makes a text one whose writing another reader has to prove: signs beyond ASCII, tabs, lines of blanks alone."""


def _plain(first: str, other: str) -> Callable[[str], object]:
    """Plain scalars: "10:30" and "C#", but no "key: value" and no " # comment".

    The repeat of the group is greedy: a possessive one of a group is wrong up to Python 3.11.4 (see `frame`).
    There is one way only to match, so it costs nothing.
    """
    return re.compile(rf"{first}{other}*+(?:(?::(?=[^ ])|(?<! )\#){other}*+)*(?<![ \xa0])").fullmatch


_is_plain_ascii = _plain(_FIRST, r"[ !\"$-9;-~]")
"""Of texts in ASCII; wide sets of characters take milliseconds to compile."""


@cache
def _wide() -> tuple[Callable[[str], object], ...]:
    """Patterns for any text: whether it can stand plain, on one line in quotes, on several lines as a block."""
    return (
        _plain(rf"(?:{_FIRST}|[^\x00-\xbf\u2000-\u2bff\ud800-\U0010ffff])", rf"[^:#\t\n{_UNPRINTABLE}]"),
        re.compile(rf"[^\t\n{_UNPRINTABLE}]*").fullmatch,
        re.compile(rf"[^{_UNPRINTABLE}]*").fullmatch,
    )


@cache
def _escaped() -> re.Pattern[str]:
    """What has to be escaped in double quotes."""
    return re.compile(rf'[\\"\t\n{_UNPRINTABLE}]')


_IMPLICIT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))
_ASKED = _IMPLICIT
"""Words of which PyYAML proves each time that they are in quotes: it would read them as something else."""
_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_FLOW = frozenset(",[]{}")
_LONGEST_KEY = 100


def write_item(record: Mapping[str, Any]) -> str:
    """The record as one block-style list item at column 0, ending with a newline.

    Raises:
        CodecError: A value cannot be written so that it reads back the same.
    """
    if not record:
        raise CodecError("an empty record cannot be written", hint="Give it an id, a type, a sender and a recipient.")
    lines = list(mapping_lines(record, 2, 1))
    return "- " + "\n".join(lines)[2:] + "\n"


def mapping_lines(mapping: Mapping[str, Any], column: int, depth: int) -> Iterator[str]:
    """The lines of a mapping whose keys stand at `column`."""
    if depth > DEEPEST:
        raise CodecError(f"nesting deeper than {DEEPEST} cannot be written", hint="Flatten the payload.")
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise CodecError(f"key {key!r} is not text", hint="Use text for every key.")
        yield from pair_lines(key, value, column, depth)


def pair_lines(key: str, value: Any, column: int, depth: int = 1) -> Iterator[str]:
    """The lines of one key and its value."""
    pad = " " * column
    head = f"{pad}{_key(key)}:" if len(key) <= _LONGEST_KEY else f"{pad}? {_key(key)}\n{pad}:"
    if isinstance(value, str):
        yield f"{head} {scalar(value, pad)}"
    elif isinstance(value, Mapping) and value:
        yield head
        yield from mapping_lines(value, column + 2, depth + 1)
    elif isinstance(value, (list, tuple)) and value:
        yield head
        yield from _sequence_lines(value, column, depth + 1)
    else:
        yield f"{head} {scalar(value, pad)}"


def _sequence_lines(items: list[Any] | tuple[Any, ...], column: int, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        raise CodecError(f"nesting deeper than {DEEPEST} cannot be written", hint="Flatten the payload.")
    pad = " " * column
    for item in items:
        if isinstance(item, Mapping) and item:
            lines: Iterator[str] = mapping_lines(item, column + 2, depth + 1)
        elif isinstance(item, (list, tuple)) and item:
            lines = _sequence_lines(item, column + 2, depth + 1)
        else:
            yield f"{pad}- {scalar(item, pad)}"
            continue
        yield f"{pad}- {next(lines)[column + 2 :]}"
        yield from lines


def scalar(value: Any, pad: str, *, flow: bool = False) -> str:
    """A scalar or an empty collection, ready to stand behind `key: `; further lines begin with `pad`.

    Raises:
        CodecError: The value is of a type the queue does not know.
    """
    if isinstance(value, str):
        return _string(str(value), pad, flow=flow)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        if abs(value) >= INTEGERS:
            raise CodecError("an integer of 100 digits or more cannot be written", hint="Send it as text.")
        return str(int(value)) if abs(value) < PLAIN_INTEGERS else f"!!int {int(value)}"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise CodecError(f"{value} is not a number that can be written", hint="Send it as text.")
        return float_text(float(value))
    if isinstance(value, (Mapping, list, tuple)) and not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    raise CodecError(f"a value of type {type(value).__name__} cannot be written", hint="Send text, numbers, lists.")


@lru_cache(maxsize=1024)
def _key(key: str) -> str:
    if _PLAIN_KEY(key) and key.lower() not in _IMPLICIT:
        return key
    return quoted(key)


def _string(text: str, pad: str, *, flow: bool) -> str:
    if _is_plain(text) and text.lower() not in _IMPLICIT and not (flow and not _FLOW.isdisjoint(text)):
        return text
    if "\n" in text and not flow and _is_block(text):
        return _literal(text, pad)
    return quoted(text)


def _is_block(text: str) -> bool:
    """Whether a literal block holds exactly `text`: it begins with a visible character, ends in at most one newline."""
    if text[0].isspace() or text.endswith("\n\n"):
        return False
    return _is_printable(text.replace("\n", "")) or _wide()[2](text) is not None


def _is_plain(text: str) -> bool:
    if text.isascii():
        return _is_plain_ascii(text) is not None
    return _wide()[0](text) is not None


def _is_one_line(text: str) -> bool:
    return _is_printable(text) or _wide()[1](text) is not None


def _is_printable(text: str) -> bool:
    """Whether it is ASCII without control characters; where not, a pattern has to tell."""
    return text.isascii() and text.isprintable()


def _literal(text: str, pad: str) -> str:
    body, mark = (text[:-1], "|") if text.endswith("\n") else (text, "|-")
    inner = pad + "  "
    return f"{mark}\n" + "\n".join([inner + line if line else "" for line in body.split("\n")])


def quoted(text: str) -> str:
    """`text` in single quotes, or in double ones where it needs escapes."""
    if _is_one_line(text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + _escaped().sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    point = ord(character)
    if 0xD800 <= point <= 0xDFFF:
        raise CodecError(f"lone surrogate U+{point:04X} is not text", hint="Remove the broken character.")
    return _NAMED.get(character) or (f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}")


def emit(message: Message) -> bytes:
    """The text of one message: block style, UTF-8, LF, ending with a newline; proven by reading it back.

    Raises:
        CodecError: The message cannot be written so that we and other YAML loaders read it back the same.
    """
    return emit_record(message.record)


def emit_record(record: Mapping[str, Any]) -> bytes:
    """The text of one record, as `emit`."""
    raw = write_item(record).encode()
    to_message(_read_back(raw, record, everywhere=not _is_simple(record)), raw)
    return raw


def emit_again(message: Message) -> bytes:
    """The text of a message that was read from a file, as `emit`; only our own reader is asked whether it is right.

    That other loaders agree was proven when the text was new, and asking them takes longer than all the rest.

    Raises:
        CodecError: As for `emit`.
    """
    raw = write_item(message.record).encode()
    return raw if same(parse_record(raw), message.record) else emit(message)


def _read_back(raw: bytes, record: Mapping[str, Any], *, everywhere: bool) -> dict[str, Any]:
    """Read `raw` with our reader and, if asked to, with the plain C loader; both must find `record`. As it was read.

    Raises:
        CodecError: One of them finds something else.
    """
    ours = parse_record(raw)
    if not same(ours, record):
        raise CodecError(f"{_difference(record, ours)} does not read back as written", hint="Send it as text.")
    if everywhere and not same(_load_elsewhere(raw), [record]):
        raise CodecError("another YAML reader would not read the message back as written", hint="Send it as text.")
    return ours


def _is_simple(value: Any) -> bool:
    """Whether every YAML reader is known to read what `write_item` writes for it: plain ASCII texts in mappings.

    Asking PyYAML costs most messages more time than everything else, nearly all of it for loading PyYAML.
    """
    if isinstance(value, str):
        return _AWKWARD(value) is None and value.lower() not in _ASKED and ("\n" not in value or _is_block(value))
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _PLAIN_KEY(key) and _is_simple(item) for key, item in value.items())
    return False


def _load_elsewhere(raw: bytes) -> Any:
    import yaml

    try:
        return yaml.load(raw, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CodecError(f"another YAML reader refuses the message: {error}", hint="Send it as text.") from None


def _difference(record: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    changed = [key for key, value in record.items() if key not in ours or not same(value, ours[key])]
    return f"the value of {', '.join(map(repr, changed))}" if changed else "the message"
