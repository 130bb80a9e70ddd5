"""One list item of the queue: its exact bytes and, on demand, the message in them or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from msgspec import Struct
from team_console.store.backends.yaml.codec.cutting.checks import check_bytes
from team_console.store.backends.yaml.codec.errors import CodecError, Kind
from team_console.store.backends.yaml.codec.parsing.anchors import NO_ANCHORS, Anchors, Ties
from team_console.store.backends.yaml.codec.parsing.ordinary import (
    ordinary_message,
    ordinary_payload,
    ordinary_record,
)
from team_console.store.backends.yaml.codec.parsing.quick_parser import read_fast
from team_console.store.backends.yaml.codec.parsing.scalars import LIST_KEYS, MAP_KEYS, TEXT_KEYS
from team_console.store.backends.yaml.codec.parsing.values import read_item
from team_console.store.model.message import Message, from_record

LARGEST = 16 << 20
"""Bytes of one entry that are still understood; a larger one counts as damaged."""
_SHORTEST = 24
_SKIPPED = CodecError("not looked at, because too many entries before it are damaged,", 1, kind=Kind.SKIPPED)
_ONE_AT_A_TIME = Lock()


class Span(Struct, frozen=True, eq=False, gc=False):
    """A stretch of a text, read on demand: a queue read at once shares its bytes with all its entries."""

    buffer: bytes
    start: int
    stop: int

    @property
    def raw(self) -> bytes:
        """Its bytes."""
        return self.buffer[self.start : self.stop]

    @property
    def record(self) -> Mapping[str, Any]:
        """The record of the ordinary entry that stands there."""
        return _records.read(self)

    @property
    def payload(self) -> Mapping[str, Any]:
        """The payload of that record."""
        return _payloads.read(self)


class _Recent:
    """What was read lately: a write looks at each message several times, and keeping it of all takes twice the text."""

    def __init__(self, read: Callable[[bytes], dict[str, Any]], most: int) -> None:
        self._read = read
        self._most = most
        self._known: dict[Span, Mapping[str, Any]] = {}

    def read(self, span: Span) -> Mapping[str, Any]:
        known = self._known.get(span)
        if known is None:
            known = self._read(span.raw)
            if len(self._known) >= self._most:
                self._known = {}  # a new one, so that no other thread finds it changed
            self._known[span] = known
        return known


class QueueEntry(Struct, eq=False, gc=False):
    """One list item; never changed, so it may be shared by every parsed text it appears in.

    Attributes:
        span: Where its bytes are.
        known: The outcome, None before anybody asked for it.
        ties: The entry's anchors and aliases, None while nobody looked for them.
    """

    span: Span
    known: Message | CodecError | None = None
    ties: Ties | None = None

    @classmethod
    def of(cls, raw: bytes, known: Message | CodecError | None = None, ties: Ties | None = None) -> QueueEntry:
        """The entry with these bytes of its own."""
        return cls(Span(raw, 0, len(raw)), known, ties)

    @property
    def raw(self) -> bytes:
        """The exact bytes, from the line of its dash to before the next item."""
        return self.span.raw

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.span.stop - self.span.start

    @property
    def borrowed(self) -> Anchors:
        """What aliases of this entry take from text before it."""
        return self.ties.borrowed if self.ties is not None else NO_ANCHORS

    @property
    def outcome(self) -> Message | CodecError:
        """The message, or why there is none; always the same object."""
        return self.known or self._look()

    @property
    def message(self) -> Message | None:
        """The message, always the same object; None when the entry is damaged."""
        outcome = self.known or self._look()
        return outcome if isinstance(outcome, Message) else None

    @property
    def error(self) -> CodecError | None:
        """Why the entry is damaged, with lines counted from its own first line; None when it is not."""
        outcome = self.known or self._look()
        return outcome if isinstance(outcome, CodecError) else None

    def _look(self) -> Message | CodecError:
        outcome = _understood(self.span)
        with _ONE_AT_A_TIME:
            if self.known is None:
                self.known = outcome
            return self.known


def _understood(span: Span) -> Message | CodecError:
    raw = span.raw
    try:
        return ordinary_message(raw, span) or to_message(parse_record(raw), raw)
    except CodecError as error:
        return error.below(0)  # a copy, since a raised error keeps every frame it passed alive


def skim(entry: QueueEntry) -> QueueEntry:
    """The entry understood if that is quick, else marked as not looked at."""
    try:
        raw = entry.raw if entry.size >= _SHORTEST else b""
        record = read_fast(raw) if raw else None
        return QueueEntry(entry.span, _SKIPPED if record is None else to_message(record, raw))
    except CodecError:
        return QueueEntry(entry.span, _SKIPPED)


def parse_entry(raw: bytes) -> Message:
    """Understand the text of one list item, dash included, at whatever indentation it stands.

    Raises:
        CodecError: Naming the line, counted from the first line of `raw`.
    """
    return to_message(parse_record(raw), raw)


def parse_record(raw: bytes, known: Anchors = NO_ANCHORS) -> dict[str, Any]:
    """The record in the text of one list item: that of an ordinary one, the quick reader's, or else the patient one's.

    `known` are the anchors that stand before it.

    Raises:
        CodecError: The text is not one readable mapping.
    """
    if len(raw) > LARGEST:
        raise CodecError(
            f"a message of {len(raw):,} bytes, more than {LARGEST:,}", 1, hint="Keep it in a file instead."
        )
    try:
        record = ordinary_record(raw) or read_fast(raw)
    except UnicodeDecodeError:
        check_bytes(raw)
        raise CodecError("the text is not UTF-8", 1, kind=Kind.SYNTAX) from None
    return read_item(raw, known) if record is None else record


def to_message(record: Mapping[str, Any], raw: bytes) -> Message:
    """Understand a record read from `raw`.

    Raises:
        CodecError: Id, type, sender or recipient is missing, or an envelope value has the wrong shape.
    """
    check_shapes(record, raw)
    try:
        return from_record(record)
    except ValueError as error:
        raise CodecError(f"not a message: {error}", 1, hint="Add what is missing, or remove the entry.") from None


def check_shapes(record: Mapping[str, Any], raw: bytes) -> None:
    """Refuse a record read from `raw` that has lists or mappings where the envelope has texts.

    Raises:
        CodecError: Naming the line.
    """
    for key, value in record.items():
        if (value.__class__ is dict or value.__class__ is list) and key in TEXT_KEYS:
            _check_shape(key, value, raw)


def _check_shape(key: str, value: Any, raw: bytes) -> None:
    if key in MAP_KEYS and value.__class__ is dict:
        flat = list(value.values())
    elif key in LIST_KEYS and value.__class__ is list:
        flat = value
    else:
        wanted = "a mapping" if key in MAP_KEYS else "text or a list" if key in LIST_KEYS else "text"
        raise CodecError(f"{key} must be {wanted}", line_of_key(raw, key), hint="Correct the value.")
    if any(item.__class__ is dict or item.__class__ is list for item in flat):
        raise CodecError(f"{key} must hold plain text only", line_of_key(raw, key), hint="Correct the value.")


def line_of_key(raw: bytes, key: str) -> int:
    """The 1-based line of `raw` on which `key` first begins one; 1 when it does not."""
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.lstrip(b" -{'\"").startswith(key.encode()):
            return number
    return 1


_records, _payloads = _Recent(parse_record, 4_608), _Recent(ordinary_payload, 4_608)
"""More than there are in the largest slice of work on many, which looks at each three times."""
