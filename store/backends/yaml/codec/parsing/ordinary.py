"""Ordinary entries: scalars of the envelope on lines of their own and a flat payload, recognised without building it.

Nearly every entry of nearly every queue is ordinary. Its envelope is understood at once; of its payload is only made
sure that it can be read, and it is read when somebody asks. The quick reader finds the same in whatever is taken here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from functools import cache
from typing import Any

from msgspec import Struct
from team_console.store.backends.yaml.codec.parsing.scalars import NULLS, TEXT_KEYS, text_only, typed
from team_console.store.model.message import (
    ADDRESS_KEYS,
    ENVELOPE_KEYS,
    PRIORITIES,
    STATUSES,
    Message,
    Source,
    addressees,
    meant,
)
from team_console.store.model.names import canonical

# Patterns of bytes: in one of text a set of many characters costs milliseconds to compile. Only single characters are
# repeated possessively (see `quick_parser`). The repeated groups begin with what the repeat before them leaves out, so
# there is one way only to match a line.
_UNQUOTED = (
    rb"(?:[A-Za-z0-9_./\xc3-\xec]|-(?=[A-Za-z0-9]))"  # a letter or a digit first: Fix: it: #3 is a:b c#d
    rb"[^\n\t:#]*+(?:(?::(?=[^ \n\t])|(?<![ \n])\#)[^\n\t:#]*+)*(?<! )"  # 10:30 or C#, but no "key: value", no " # x"
)
_SCALAR = (
    _UNQUOTED + rb"|'[^'\n\t]*+(?:''[^'\n\t]*+)*'"  # 'it''s'
    rb'|"[^"\\\n\t]*+"'  # "two words"
)
_BLOCK = rb"      [^ \n\t][^\n]*+\n(?:      [^\n]*+\n|\n)*"
"""Lines two columns further in than the key above, the first of which is not blank."""
_LINE = rb"[a-z_]++: (?:" + _SCALAR + rb")\n"
_MORE_LINES = rb"(?:  (?!payload:)" + _LINE + rb")*"
_WORD = rb"[A-Za-z][A-Za-z0-9_.@/-]*+|'[^'\n\t]*+'"
_MOMENT = rb"'[^'\n\t]*+'|[0-9][0-9A-Za-z.:+-]*+(?<!:)"
_FIELDS = (b"message_id", b"type", b"from", b"to", b"priority", b"created", b"status")
_usual = re.compile(
    rb"- "
    + rb"  ".join([name + rb": (" + (_MOMENT if name == b"created" else _WORD) + rb")\n" for name in _FIELDS])
    + rb"  payload:\n"
).match
"""The envelope as we write it, with words that need no wider pattern, which would take longer to compile."""
_behind_payload = re.compile(rb"\n  (?=[^ \n])").search
_holds_odd = re.compile(rb"\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]").search
"""Control characters and line breaks beyond ASCII, which the patient reader judges."""
_EASY = bytes(range(0x20, 0x7F)) + b"\n\t"
_WIDE = _EASY + bytes(range(0x80, 0x100))
LARGEST_ORDINARY = 1 << 16
"""Bytes of an entry that is looked at here."""
_PAYLOAD = b"  payload:\n"
_KNOWN = frozenset(key.encode() for key in ENVELOPE_KEYS - ADDRESS_KEYS - {"payload"}) | {b"to"}
_READERS: Mapping[bytes, tuple[str, Callable[[str], Any]]] = {
    key: (key.decode(), text_only if key.decode() in TEXT_KEYS else typed) for key in _KNOWN
}
"""Key as written -> as in the record, and what a plain value of it is."""
_NEEDED = frozenset((b"message_id", b"type", b"from", b"to", b"created"))
_NOTHING_MORE: dict[str, Any] = {}
_QUOTES = b"'\""
_MOST_WORDS = 4096
_words: dict[bytes, str] = {}
"""Values that many entries have -> their one text, empty for null."""
_names: dict[str, tuple[str, ...]] = {}
_Pair = tuple[bytes, bytes, bytes, bytes, bytes]
"""The groups of one match of `_pairs`."""


@cache
def _envelope() -> re.Pattern[bytes]:
    """An envelope in whatever order; compiled when it is first needed, which takes a millisecond."""
    return re.compile(rb"- " + _LINE + _MORE_LINES)


@cache
def _more_envelope() -> re.Pattern[bytes]:
    """What stands of an envelope behind the payload."""
    return re.compile(_MORE_LINES)


@cache
def _pair() -> re.Pattern[bytes]:
    """One key of a payload and its value; most payloads are letters, and this takes milliseconds to compile."""
    return re.compile(
        rb"(?P<whole>    (?P<key>[A-Za-z_][A-Za-z0-9_.-]*+): (?:"
        rb"(?P<scalar>" + _SCALAR + rb"|\{\}|\[\])\n"
        rb"|\|(?P<chomp>-?)\n(?P<block>" + _BLOCK + rb")))"
    )


def _pairs(raw: bytes, start: int, end: int | None = None) -> list[_Pair]:
    return _pair().findall(raw, start, len(raw) if end is None else end)


@cache
def _letter() -> re.Pattern[bytes]:
    """A payload of keys `summary` and `content` alone, both texts, the content none that may carry `NAME: {json}`.

    What begins with a blank beyond ASCII is left out, since a name may follow on it; so are `null`, `true` and numbers.
    """
    word = rb"(?=[A-Za-z\xc3-\xec])(?!(?:null|true|false)\n)" + _UNQUOTED
    quoted = rb"(?:'[^'\n\t]++(?:''[^'\n\t]*+)*'|\"[^\"\\\n\t]++\")"
    odd = rb"[A-Z][A-Z0-9]*_|[\xc2\xe1\xe2]|\xe3\x80\x80"
    text = rb"(?:(?!" + odd + rb")" + word + rb"\n|\|-?\n(?!      (?:" + odd + rb"))" + _BLOCK + rb")"
    return re.compile(
        rb"(?:    summary: (?P<summary>" + quoted + rb"\n|" + text + rb")|    content: (?P<content>" + text + rb")){2}"
    )


def _is_letter(raw: bytes, start: int, end: int) -> bool:
    """Whether the payload there has each of the two keys once, and nothing more is to be known of it."""
    match = _letter().fullmatch(raw, start, end)
    return match is not None and None not in match.groups()


class _Lines(Struct, frozen=True, gc=False):
    """An ordinary entry, cut apart.

    Attributes:
        values: Key -> value as written, in order, but for the payload.
        size: How many of them stand before the payload.
        payload: None when there is none.
        is_letter: Whether that is a summary and a content alone.
    """

    values: dict[bytes, bytes]
    size: int
    payload: list[_Pair] | None
    is_letter: bool


def ordinary_message(raw: bytes, source: Source) -> Message | None:
    """The message in an entry's text, `source` reading all of it later; None when the entry is not ordinary."""
    if len(raw) > LARGEST_ORDINARY or not _is_calm(raw):
        return None
    usual = _usual(raw)
    if usual is not None:
        start = usual.end()
        is_letter = _is_letter(raw, start, len(raw))
        if is_letter or _are_pairs(_pairs(raw, start), len(raw) - start):
            return _message(usual.groups(), _NOTHING_MORE, source, is_letter)
    lines = _cut(raw)
    if lines is None or not _NEEDED <= lines.values.keys() <= _KNOWN:
        return None
    fields = [lines.values.get(key, b"null") for key in _FIELDS]
    return _message(fields, dict(_items(lines.values, but=_FIELDS)), source, lines.is_letter)


def _message(fields: Iterable[bytes], more: Mapping[str, Any], source: Source, is_letter: bool) -> Message | None:
    """The message with these values of `_FIELDS`."""
    message_id, kind, sender, to, priority, created, status = fields
    known = _words.get
    identity, name = _text(message_id), known(kind) or _word(kind)
    author, reader = known(sender) or _word(sender), known(to) or _word(to)
    if not (identity and name and author and reader):
        return None
    urgency, condition = known(priority) or _word(priority), known(status) or _word(status)
    urgent, state = PRIORITIES.get(urgency), STATUSES.get(condition)
    odd: tuple[str, ...] = ()
    if urgent is None or state is None:
        urgent, state, odd = meant(urgency, condition)
    recipients = _names.get(reader) or _recipients(reader)
    return Message(
        identity,
        name,
        author if author.isascii() else canonical(author),
        recipients,
        urgent,
        _text(created),
        state,
        more,
        source,
        is_letter,
        odd if len(recipients) == 1 else (*odd, "to"),
    )


def is_ordinary(raw: bytes) -> bool:
    """Whether this is all the text of one ordinary entry, which reads the same in any list with dashes at column 0."""
    if not raw or len(raw) > LARGEST_ORDINARY or not _is_calm(raw):
        return False
    lines = _cut(raw)
    return lines is not None and lines.values.keys() <= _KNOWN


def ordinary_record(raw: bytes) -> dict[str, Any] | None:
    """The record in an entry's text; None when the entry is not ordinary."""
    if len(raw) > LARGEST_ORDINARY or not _is_calm(raw):
        return None
    usual = _usual(raw)
    if usual is not None and _are_pairs(pairs := _pairs(raw, usual.end()), len(raw) - usual.end()):
        return {**dict(_items(dict(zip(_FIELDS, usual.groups(), strict=True)))), "payload": _payload(pairs)}
    lines = _cut(raw)
    if lines is None or not lines.values.keys() <= _KNOWN:
        return None
    items = _items(lines.values)
    record = dict(items[: lines.size])
    if lines.payload is not None:
        record["payload"] = _payload(lines.payload)
    record.update(items[lines.size :])
    return record


def ordinary_payload(raw: bytes) -> dict[str, Any]:
    """The payload in an entry's text that is known to be ordinary."""
    start = raw.find(b"\n" + _PAYLOAD)
    if start < 0:
        return {}
    start += 1 + len(_PAYLOAD)
    return _payload(_pairs(raw, start, _end_of_payload(raw, start)))


def ordinary_pair(line: bytes) -> tuple[str, Any] | None:
    """The key and the value on one line of an ordinary envelope; None for a line that could not stand in one.

    Such a line may take the place of another, or come as one more, and the entry stays ordinary: it has its key once,
    and no line of a payload begins with two blanks alone.
    """
    if not line.startswith(b"  ") or not _is_calm(line) or _envelope().fullmatch(b"- " + line[2:]) is None:
        return None
    name, value = line[2:-1].split(b": ", 1)
    return (_READERS[name][0], _value(value, name)) if name in _READERS else None


def _cut(raw: bytes) -> _Lines | None:
    """The parts of an ordinary entry in whatever order; None when it is another, or has a key twice."""
    above = _envelope().match(raw)
    if above is None:
        return None
    lines, pairs = above[0][2:-1].split(b"\n  "), None
    size, start, is_letter = len(lines), above.end(), False
    if start < len(raw):
        if not raw.startswith(_PAYLOAD, start):
            return None
        start += len(_PAYLOAD)
        end = _end_of_payload(raw, start)
        pairs = _pairs(raw, start, end)
        if not _are_pairs(pairs, end - start) or not _more_envelope().fullmatch(raw, end):
            return None
        is_letter = len(pairs) == 2 and _is_letter(raw, start, end)
        lines += raw[end + 2 : -1].split(b"\n  ") if end < len(raw) else []
    values: dict[bytes, bytes] = dict([line.split(b": ", 1) for line in lines])
    return _Lines(values, size, pairs, is_letter) if len(values) == len(lines) else None


def _end_of_payload(raw: bytes, start: int) -> int:
    found = _behind_payload(raw, start)
    return len(raw) if found is None else found.start() + 1


def _are_pairs(pairs: list[_Pair], size: int) -> bool:
    """Whether these pairs are all there is in `size` bytes, and no key is there twice."""
    covered, keys = 0, set()
    for pair in pairs:
        covered += len(pair[0])
        keys.add(pair[1])
    return covered == size and len(keys) == len(pairs) > 0


def _is_calm(raw: bytes) -> bool:
    """Whether the bytes are text without odd characters."""
    if not raw.translate(None, _EASY):
        return True
    if raw.translate(None, _WIDE) or _holds_odd(raw):
        return False
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _payload(pairs: Iterable[_Pair]) -> dict[str, Any]:
    return {key.decode(): _block(block, chomp) if block else _typed(scalar) for _, key, scalar, chomp, block in pairs}


def _block(block: bytes, chomp: bytes) -> str:
    """The text of a literal block."""
    text = (b"\n" + block).replace(b"\n      ", b"\n")[1:].rstrip(b"\n").decode()
    return text if chomp else text + "\n"


def _typed(value: bytes) -> Any:
    if value in (b"{}", b"[]"):
        return {} if value == b"{}" else []
    return _unquoted(value) if value[0] in _QUOTES else typed(value.decode())


def _items(values: Mapping[bytes, bytes], but: Container[bytes] = ()) -> list[tuple[str, Any]]:
    """The values of an envelope, all of keys we know, as they stand in its record."""
    return [(_READERS[name][0], _value(value, name)) for name, value in values.items() if name not in but]


def _value(value: bytes, name: bytes) -> Any:
    return _unquoted(value) if value[0] in _QUOTES else _READERS[name][1](value.decode())


def _word(value: bytes) -> str:
    """As `_text`, for values of many entries: one and the same object."""
    word = _words.get(value)
    if word is None:
        word = _text(value)
        if len(_words) < _MOST_WORDS:
            _words[value] = word
    return word


def _text(value: bytes) -> str:
    """A scalar of the envelope; empty for null."""
    if value[0] in _QUOTES:
        return _unquoted(value)
    text = value.decode()
    return "" if text in NULLS else text


def _unquoted(value: bytes) -> str:
    text = value[1:-1].decode()
    return text.replace("''", "'") if value[0] == _QUOTES[0] else text


def _recipients(name: str) -> tuple[str, ...]:
    known = _names.get(name)
    if known is None:
        known = addressees(name)
        if len(_names) < _MOST_WORDS:
            _names[name] = known
    return known
