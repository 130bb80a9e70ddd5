"""Reading a whole file as YAML to find the list in a frame that columns alone do not explain."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field
from team_console.store.backends.yaml.codec.cutting.checks import check_bytes
from team_console.store.backends.yaml.codec.errors import CodecError, Kind
from team_console.store.backends.yaml.codec.parsing.patient_parser import DEPTH, Events, line_of
from team_console.store.backends.yaml.codec.parsing.values import read_record

LIST = "messages"
_EXPECTED = "expected a list under messages:"
MOST_DAMAGED = 1000
HINT = "A queue is a file with the line 'messages:' and a list below it."


class Item(Struct):
    """One list item: where its value stands (character offsets) and what it is."""

    start: int
    end: int
    outcome: dict[str, Any] | CodecError


class Whole(Struct):
    """What a whole-file parse found; offsets count characters of the decoded file.

    Attributes:
        block: Whether the list is written with dashes, at `column`.
        start, end: Where the list's value begins and ends.
        flow_frame: Whether the file's outer mapping is written in braces.
        others: Names of the other top-level keys.
    """

    items: list[Item] = field(default_factory=list)
    block: bool = False
    column: int = 0
    start: int = 0
    end: int = 0
    flow_frame: bool = False
    others: list[str] = field(default_factory=list)


def read_whole(data: bytes) -> Whole:
    """Read the file event by event and locate every item of `messages:`.

    Raises:
        CodecError: The file is empty, not YAML, or not one document with one list under `messages:`.
    """
    check_bytes(data)
    events = Events(data, limit=DEPTH + 3)
    try:
        events.next()
        event = events.next()
        if _name(event) == "StreamEndEvent":
            raise CodecError("empty file", 1, hint=HINT)
        whole = _read_frame(events, events.next())
        events.next()
        event = events.next()
        if _name(event) != "StreamEndEvent":
            raise CodecError(f"{_EXPECTED} a second document begins", line_of(event), hint=HINT)
        return whole
    finally:
        events.close()


def _read_frame(events: Events, event: Any) -> Whole:
    if _name(event) != "MappingStartEvent":
        raise CodecError(f"{_EXPECTED} the file holds {_shape(event)}", line_of(event), hint=HINT)
    whole = Whole(flow_frame=bool(event.flow_style))
    line = 0
    while _name(event := events.next()) != "MappingEndEvent":
        key = event.value if _name(event) == "ScalarEvent" else None
        if key is None:
            events.skip_to(1)
        if key != LIST:
            whole.others.append(str(key))
            _skip(events)
            continue
        if line:
            raise CodecError(f"{LIST}: twice", line, line_of(event), hint="Merge the two lists into one.")
        line = line_of(event)
        _read_list(events, events.next(), whole)
    if not line:
        raise CodecError(f"{_EXPECTED} there is none", 1, hint=HINT)
    return whole


def _read_list(events: Events, event: Any, whole: Whole) -> None:
    name = _name(event)
    if name == "ScalarEvent" and event.implicit[0] and event.value in ("", "~", "null", "Null", "NULL"):
        whole.start, whole.end = event.start_mark.index, event.end_mark.index
        return
    if name == "MappingStartEvent" and _name(end := events.next()) == "MappingEndEvent":
        whole.start, whole.end = event.start_mark.index, end.end_mark.index
        return
    if name != "SequenceStartEvent":
        raise CodecError(f"{_EXPECTED} found {_shape(event)}", line_of(event), hint=HINT)
    whole.block, whole.column = not event.flow_style, event.start_mark.column
    whole.start = event.start_mark.index
    damaged = 0
    while _name(event := events.next()) != "SequenceEndEvent":
        whole.items.append(_read_item(events, event))
        damaged += isinstance(whole.items[-1].outcome, CodecError)
        if damaged > MOST_DAMAGED:
            raise CodecError(f"more than {MOST_DAMAGED} items that are not messages", line_of(event), hint=HINT)
    whole.end = event.end_mark.index


def _read_item(events: Events, event: Any) -> Item:
    level = events.level - (1 if _name(event) in ("MappingStartEvent", "SequenceStartEvent") else 0)
    start = event.start_mark.index
    try:
        outcome: dict[str, Any] | CodecError = read_record(events, event)
    except CodecError as error:
        if error.kind not in (Kind.MEANING, Kind.ALIAS):
            raise
        outcome = error.below(0)  # a copy, since a raised error keeps every frame it passed alive
    return Item(start, max(events.skip_to(level), event.end_mark.index), outcome)


def _skip(events: Events) -> None:
    level = events.level
    events.next()
    events.skip_to(level)


def _name(event: Any) -> str:
    return type(event).__name__


def _shape(event: Any) -> str:
    shapes = {"MappingStartEvent": "a mapping", "SequenceStartEvent": "a list without that key"}
    return shapes.get(_name(event), "a single value")
