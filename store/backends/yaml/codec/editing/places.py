"""Where keys and values stand inside the text of one entry."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field
from team_console.store.backends.yaml.codec.parsing.patient_parser import DEPTH, Events


class Place(Struct):
    """The text of one value; offsets count characters.

    Attributes:
        start: Where it begins.
        end: Where its last visible part ends; comments and blank lines behind it are outside.
        column: Column at which it begins; for a block mapping that of its keys.
        mapping: `block` or `flow` for a mapping, else empty.
        scalar: Whether it is a plain or quoted scalar.
        pairs: For a mapping: key -> (offset of the key, place of the value).
    """

    start: int
    end: int
    column: int
    mapping: str = ""
    scalar: bool = False
    pairs: dict[str, tuple[int, Place]] = field(default_factory=dict)


def find_places(raw: bytes) -> Place:
    """The places of the mapping in the text of one undamaged list item.

    Raises:
        CodecError: The text is not a list item.
    """
    events = Events(raw, limit=DEPTH + 1)
    try:
        for _ in range(3):
            events.next()
        return _place(events, events.next())
    finally:
        events.close()


def _place(events: Events, event: Any) -> Place:
    mark, name = event.start_mark, type(event).__name__
    place = Place(mark.index, event.end_mark.index, mark.column)
    if name == "ScalarEvent":
        place.scalar = event.style not in ("|", ">")
    elif name == "AliasEvent":
        place.scalar = True
    elif name == "MappingStartEvent":
        place.mapping = "flow" if event.flow_style else "block"
        _fill(events, place)
    else:
        level = events.level
        while events.level >= level:
            last, event = event, events.next()
            place.end = _visible_end(place, last, event)
    return place


def _fill(events: Events, place: Place) -> None:
    while type(event := events.next()).__name__ != "MappingEndEvent":
        if place.mapping == "block" and not place.pairs:
            place.column = event.start_mark.column  # that of an anchor or a tag before the keys is not theirs
        value = _place(events, events.next())
        place.pairs[_key_text(event)] = (event.start_mark.index, value)
        place.end = max(event.end_mark.index, value.end)
    if place.mapping == "flow":
        place.end = event.end_mark.index


def _key_text(event: Any) -> str:
    """The key as the record has it; an alias as key stands for a text that is looked up elsewhere."""
    return str(event.value) if type(event).__name__ == "ScalarEvent" else f"*{event.anchor}"


def _visible_end(place: Place, last: Any, event: Any) -> int:
    """The end so far: that of a scalar or of a closing bracket, not the place where a block list was noticed to end."""
    closing = type(event).__name__ in ("SequenceEndEvent", "MappingEndEvent")
    if closing and event.start_mark.index == event.end_mark.index:
        return place.end
    return max(place.end, int(event.end_mark.index))
