"""The patient reader: any YAML, event by event, under our own scalar rules and limits."""

from __future__ import annotations

from typing import Any

from store.backends.yamlteam.codec.errors import CodecError, Kind
from store.backends.yamlteam.codec.scalars import TEXT_KEYS, text_only, typed

DEPTH = 64
"""Levels of nesting in a message; deeper texts are refused before any recursive code sees them."""


_LONGEST_NAME = 80


class Events:
    """A stream of libyaml's parser events that knows its level and turns every failure into a `CodecError`."""

    def __init__(self, data: bytes, *, limit: int) -> None:
        import yaml

        self._data = data
        self._limit = limit
        self.level = 0
        self.offset = 0
        self.anchor: tuple[str, int] | None = None
        try:
            self._loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(data)
        except (yaml.YAMLError, ValueError) as error:
            raise self._explain(error) from None

    def next(self) -> Any:
        """The next event; its class name tells what it is.

        Raises:
            CodecError: The text is not YAML, or nested deeper than the limit.
        """
        try:
            event = self._loader.get_event()
        except MemoryError:
            raise
        except Exception as error:
            raise self._explain(error) from None
        name = type(event).__name__
        self.offset = event.end_mark.index
        if name in ("SequenceStartEvent", "MappingStartEvent"):
            self.level += 1
            if self.level > self._limit:
                raise CodecError(f"nesting deeper than {DEPTH}", line_of(event), kind=Kind.SYNTAX)
        elif name in ("SequenceEndEvent", "MappingEndEvent"):
            self.level -= 1
        return event

    def skip_to(self, level: int) -> int:
        """Pass over what is left of a collection until `level` is reached again; the offset reached so far."""
        while self.level > level:
            self.next()
        return self.offset

    def close(self) -> None:
        """Let go of the parser's buffers."""
        self._loader.dispose()

    def _explain(self, error: Exception) -> CodecError:
        if getattr(error, "problem_mark", None) or getattr(error, "context_mark", None):
            return self._marked(error)
        if isinstance(getattr(error, "position", None), int):
            return self._unreadable(error)
        return CodecError(f"the text cannot be read: {error}", 1, kind=Kind.SYNTAX)

    def _marked(self, error: Any) -> CodecError:
        mark = error.problem_mark or error.context_mark
        where = error.context_mark or mark
        ended = mark.index >= len(self._data.decode(errors="replace").rstrip("\0"))
        if ended:
            text = f"{str(error.context or 'the text').removeprefix('while ')}: {error.problem}; it begins"
            return CodecError(text, where.line + 1, column=where.column + 1, kind=Kind.OPEN)
        text = f"{error.problem} ({error.context})" if error.context else str(error.problem)
        return CodecError(text, mark.line + 1, column=mark.column + 1, kind=Kind.SYNTAX)

    def _unreadable(self, error: Any) -> CodecError:
        before = self._data[: error.position]
        character = error.character if isinstance(error.character, int) else ord(error.character[:1] or "\0")
        return CodecError(
            f"character U+{character:04X} may not stand in YAML unescaped",
            before.count(b"\n") + 1,
            hint='Write it in double quotes as an escape, such as "\\x1b".',
            kind=Kind.SYNTAX,
        )


def line_of(event: Any) -> int:
    """The 1-based line on which an event begins."""
    return int(event.start_mark.line) + 1


def read_value(events: Events, event: Any, *, as_text: bool) -> Any:
    """Build the value that `event` begins; plain scalars follow `text_only` or `typed`.

    Raises:
        CodecError: Anchors, aliases, tags, merge keys, duplicate keys, keys that are not scalars, bad YAML.
    """
    name = _check_extras(events, event)
    if name == "ScalarEvent":
        if not event.implicit[0]:
            return event.value
        return text_only(event.value) if as_text else typed(event.value)
    if name == "SequenceStartEvent":
        items = []
        while type(event := events.next()).__name__ != "SequenceEndEvent":
            items.append(read_value(events, event, as_text=as_text))
        return items
    return _read_mapping(events, as_text=as_text)


def read_record(events: Events, event: Any) -> dict[str, Any]:
    """Build the record that `event` begins: envelope values as text, the rest typed.

    Raises:
        CodecError: As `read_value`, and for an item that is not a mapping.
    """
    events.anchor = None
    if _check_extras(events, event) != "MappingStartEvent":
        raise CodecError("expected a message (a mapping of keys)", line_of(event))
    record = _read_mapping(events, as_text=None)
    if events.anchor is not None:
        raise CodecError(f"anchor &{_short(events.anchor[0])}", events.anchor[1], hint="Remove it; write values out.")
    return record


def _read_mapping(events: Events, *, as_text: bool | None) -> dict[str, Any]:
    """`as_text` None: this is a record, whose keys decide."""
    found: dict[str, Any] = {}
    lines: dict[str, int] = {}
    while type(event := events.next()).__name__ != "MappingEndEvent":
        key = _read_key(events, event)
        if key in found:
            raise CodecError(f"key {_short(key)!r} twice", lines[key], line_of(event))
        lines[key] = line_of(event)
        text = key in TEXT_KEYS if as_text is None else as_text
        found[key] = read_value(events, events.next(), as_text=text)
    return found


def _read_key(events: Events, event: Any) -> str:
    if _check_extras(events, event) != "ScalarEvent":
        raise CodecError("a key that is not text", line_of(event))
    if event.implicit[0] and event.value == "<<":
        raise CodecError("merge key <<", line_of(event), hint="Write the merged keys out.")
    return str(event.value)


def _check_extras(events: Events, event: Any) -> str:
    """The event's class name; aliases and tags are refused at once, an anchor when no alias explains it."""
    name = type(event).__name__
    if name == "AliasEvent":
        raise CodecError(f"alias *{_short(event.anchor)}", line_of(event), hint="Write the value out where it is used.")
    if event.anchor is not None and events.anchor is None:
        events.anchor = (event.anchor, line_of(event))
    if event.tag is not None:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!", 1)
        raise CodecError(f"tag {_short(tag)}", line_of(event), hint="Remove the tag; write the value as text.")
    return name


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"


def read_item(data: bytes) -> dict[str, Any]:
    """Build the record of a text that is one list item.

    Raises:
        CodecError: The text is not YAML, or not exactly one item, or the item is not a plain mapping. A text
            that ends inside quotes or brackets is reported as such, whatever else is wrong with it.
    """
    events = Events(data, limit=DEPTH + 1)
    try:
        return _read_item(events)
    except CodecError as error:
        if error.kind is Kind.MEANING:
            _check_end(events)
        raise
    finally:
        events.close()


def _read_item(events: Events) -> dict[str, Any]:
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
