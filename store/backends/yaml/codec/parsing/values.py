"""The patient reader: any YAML, event by event, as a record under our own scalar rules and limits."""

from __future__ import annotations

from typing import Any

from team_console.store.backends.yaml.codec.errors import CodecError, Kind
from team_console.store.backends.yaml.codec.parsing.anchors import NO_ANCHORS, UNTIED, Anchors, Ties
from team_console.store.backends.yaml.codec.parsing.patient_parser import DEPTH, Events, line_of, short
from team_console.store.backends.yaml.codec.parsing.scalars import TEXT_KEYS, text_only, typed
from team_console.store.backends.yaml.codec.parsing.surrogates import lone_half
from team_console.store.backends.yaml.codec.parsing.tags import (
    MAPPINGS,
    SCALARS,
    SEQUENCES,
    name_of,
    ordered,
    tagged_scalar,
)

_KINDS = {"ScalarEvent": SCALARS, "SequenceStartEvent": SEQUENCES, "MappingStartEvent": MAPPINGS}


def read_value(events: Events, event: Any, *, as_text: bool | None) -> Any:
    """Build the value that `event` begins; plain scalars follow `text_only` or `typed`.

    An alias is what it stands for. With `as_text` None a mapping is read as a record, whose keys decide.

    Raises:
        CodecError: Unknown tags and aliases, duplicate keys, keys that are not scalars, bad YAML.
    """
    event = events.resolved(event)
    name, line = type(event).__name__, events.line(event)
    tag = None if event.tag is None else _checked_tag(event, name, line)
    try:
        if name == "ScalarEvent":
            return _scalar(events, event, tag, as_text=bool(as_text))
        if name == "SequenceStartEvent":
            items = _read_sequence(events, as_text=bool(as_text))
            return ordered(items) if tag == "omap" else items
    except ValueError as error:
        raise CodecError(f"a value tagged !!{tag} that {error}", line, hint="Correct the value.") from None
    mapping = _read_mapping(events, as_text=as_text)
    return list(mapping) if tag == "set" else mapping


def read_record(events: Events, event: Any) -> dict[str, Any]:
    """Build the record that `event` begins: envelope values as text, the rest typed.

    Raises:
        CodecError: As `read_value`, and for an item that is not a mapping.
    """
    events.begin_entry()
    record = read_value(events, event, as_text=None)
    if not isinstance(record, dict):
        raise CodecError("expected a message (a mapping of keys)", line_of(event))
    return record


def _scalar(events: Events, event: Any, tag: str | None, *, as_text: bool) -> Any:
    half = lone_half(event.value) if events.stand_in is not None else None
    if half is not None:
        text = f"the escape \\u{ord(half):04x} is half a character"
        raise CodecError(text, events.line(event), hint="Write the whole character.")
    if tag is not None:
        return tagged_scalar(tag, event.value, as_text=as_text)
    if not event.implicit[0]:
        return event.value
    return text_only(event.value) if as_text else typed(event.value)


def _read_sequence(events: Events, *, as_text: bool) -> list[Any]:
    items = []
    while type(event := events.next()).__name__ != "SequenceEndEvent":
        items.append(read_value(events, event, as_text=as_text))
    return items


def _read_mapping(events: Events, *, as_text: bool | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    lines: dict[str, int] = {}
    merged: dict[str, Any] = {}
    while type(event := events.next()).__name__ != "MappingEndEvent":
        line = events.line(event)
        key, is_merge = _read_key(events, event)
        if is_merge:
            _merge(events, merged, as_text=as_text)
            continue
        if key in found:
            raise CodecError(f"key {short(key)!r} twice", lines[key], line)
        lines[key] = line
        text = key in TEXT_KEYS if as_text is None else as_text
        found[key] = read_value(events, events.next(), as_text=text)
    return merged | found if merged else found


def _merge(events: Events, merged: dict[str, Any], *, as_text: bool | None) -> None:
    """Read the value of a merge key `<<`: a mapping, or a list of them, of which the first to have a key counts."""
    event = events.resolved(events.next())
    line = events.line(event)
    if type(event).__name__ == "SequenceStartEvent":
        while type(event := events.next()).__name__ != "SequenceEndEvent":
            _merge_one(read_value(events, event, as_text=as_text), merged, line)
    else:
        _merge_one(read_value(events, event, as_text=as_text), merged, line)


def _merge_one(mapping: Any, merged: dict[str, Any], line: int) -> None:
    if not isinstance(mapping, dict):
        raise CodecError("a merge key << without a mapping", line, hint="Write the merged keys out.")
    for key, value in mapping.items():
        merged.setdefault(key, value)


def _read_key(events: Events, event: Any) -> tuple[str, bool]:
    """The key as text, and whether it is a merge key."""
    event = events.resolved(event)
    line = events.line(event)
    if type(event).__name__ != "ScalarEvent":
        raise CodecError("a key that is not text", line)
    if event.tag is not None:
        _checked_tag(event, "ScalarEvent", line)
    _scalar(events, event, None, as_text=True)
    return str(event.value), bool(event.implicit[0]) and event.value == "<<"


def _checked_tag(event: Any, name: str, line: int) -> str:
    """The plain name of the event's tag, which must be a standard one for that kind of value."""
    tag = name_of(event.tag)
    if tag in _KINDS[name]:
        return tag
    raise CodecError(f"tag {short(_written(tag))}", line, hint="Remove the tag; write the value as text.")


def _written(tag: str) -> str:
    return tag if tag.startswith("!") else f"!!{tag}"


def read_item(data: bytes, known: Anchors = NO_ANCHORS) -> dict[str, Any]:
    """Build the record of a text that is one list item; `known` are the anchors that stand before it.

    Raises:
        CodecError: The text is not YAML, or not exactly one item, or the item is not a mapping. A text
            that ends inside quotes or brackets is reported as such, whatever else is wrong with it.
    """
    events = Events(data, limit=DEPTH + 1, known=known)
    try:
        return read_one_item(events)
    except CodecError as error:
        if error.kind in (Kind.MEANING, Kind.ALIAS):
            _check_end(events)
        raise
    finally:
        events.close()


def read_tied(data: bytes, known: Anchors, before: int = 0) -> tuple[dict[str, Any] | CodecError, Ties]:
    """The record of a text that is one list item, or why there is none; and the anchors and aliases of the text.

    `before` is the weight of what aliases of the file stood for so far.
    """
    try:
        events = Events(data, limit=DEPTH + 1, known=known, spent=before)
    except CodecError as error:
        return error.below(0), UNTIED
    outcome: dict[str, Any] | CodecError
    try:
        outcome = read_one_item(events)
    except CodecError as error:
        outcome = error.below(0)  # a copy, since a raised error keeps every frame it passed alive
    spent = events.spent - before
    try:
        _check_end(events)
    except CodecError as error:
        outcome = error.below(0)
    finally:
        events.close()
    return outcome, Ties(events.anchors.defined, events.anchors.borrowed, spent)


def read_one_item(events: Events) -> dict[str, Any]:
    """Build the record of the events of one list item."""
    for expected in ("StreamStartEvent", "DocumentStartEvent", "SequenceStartEvent"):
        event = events.next()
        if type(event).__name__ != expected:
            raise CodecError("expected a list item", line_of(event))
    record = read_record(events, events.next())
    for expected in ("SequenceEndEvent", "DocumentEndEvent", "StreamEndEvent"):
        event = events.next()
        if type(event).__name__ != expected:
            raise CodecError("something follows that is not part of the message", line_of(event), kind=Kind.SYNTAX)
    return record


def _check_end(events: Events) -> None:
    """Read on to the end of the text; an open end is raised, any other error is not."""
    try:
        events.begin_entry()
        while type(events.next()).__name__ != "StreamEndEvent":
            pass
    except CodecError as error:
        if error.kind is Kind.OPEN:
            raise


def first_item_end(data: bytes) -> int:
    """How many lines of `data` its first list item takes until all its quotes and brackets are closed.

    Raises:
        CodecError: They are never closed, or the text is broken before that.
    """
    events = Events(data, limit=DEPTH + 1)
    for _ in range(3):
        events.next()
    event = events.next()
    mark, level = event.end_mark, events.level
    if type(event).__name__ in ("MappingStartEvent", "SequenceStartEvent"):
        while events.level >= level:
            event = events.next()
            if event.end_mark.index > event.start_mark.index:
                mark = event.end_mark
    return int(mark.line) + (1 if mark.column else 0)
