"""Entries that hang together: an alias in one of them stands for a value with an anchor in one before it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from team_console.store.backends.yaml.codec.editing.emitter import quoted
from team_console.store.backends.yaml.codec.entry import LARGEST, QueueEntry, to_message
from team_console.store.backends.yaml.codec.errors import CodecError, Kind
from team_console.store.backends.yaml.codec.parsing.anchors import (
    MOST_IN_ENTRY,
    MOST_IN_FILE,
    NO_ANCHORS,
    SIGN,
    UNTIED,
    Anchors,
    Node,
    ScalarEvent,
    Ties,
    equal,
    expanded,
    same_borrowed,
)
from team_console.store.backends.yaml.codec.parsing.patient_parser import DEPTH, Events
from team_console.store.backends.yaml.codec.parsing.scalars import same
from team_console.store.backends.yaml.codec.parsing.values import read_tied
from team_console.store.model.message import Message

# Plain in every place, also in brackets: 2026-02-24 10:30:15+00:00, -5, .nan, ~, sprint-42
_PLAIN = re.compile(
    r"(?:[A-Za-z0-9_.+~]|-(?=[0-9A-Za-z.]))"
    r"[A-Za-z0-9_./+-]*+"
    r"(?:[: ](?=[A-Za-z0-9_./+])[A-Za-z0-9_./+-]*+)*"
).fullmatch
_TAG = "tag:yaml.org,2002:"


def tie(entries: Sequence[QueueEntry], head: bytes) -> tuple[QueueEntry, ...]:
    """The entries in order, each read with the anchors that stand before it; those for which nothing changed stay."""
    known = dict(_anchors_of(head))
    spent = 0
    tied = []
    for entry in entries:
        now = _tied(entry, known, spent)
        ties = now.ties or UNTIED
        spent += ties.spent
        known.update(ties.defined)
        tied.append(now)
    return tuple(tied)


def retied(raw: bytes, message: Message, before: Ties) -> QueueEntry:
    """An entry whose text changed, with the ties it has now; an anchor whose value changed is taken away.

    The old value gets its name back where it is still used, and a name given twice is an error to PyYAML.
    """
    ties = read_tied(raw, before.borrowed)[1]
    stale = [name for name, node in ties.defined.items() if not equal(node, before.defined.get(name))]
    if stale:
        raw = _without_anchors(raw, before.borrowed, frozenset(stale))
        ties = read_tied(raw, before.borrowed)[1]
    return QueueEntry.of(raw, message, ties)


def keep_values(
    entries: Sequence[QueueEntry], changed: Mapping[int, QueueEntry | None], tail: bytes
) -> tuple[dict[int, QueueEntry | None], bytes]:
    """`changed` and `tail` so that nothing that stays loses what its aliases stand for.

    Where an anchor goes with a changed entry, the first alias behind it that used it gets the anchor and the value;
    the others stay byte for byte.

    Raises:
        CodecError: The value cannot be written there.
    """
    result = dict(changed)
    if not any(_ties(entries[index]).defined for index in changed):
        return result, tail
    lost: dict[str, Node] = {}
    last = max(changed)
    for index in range(min(changed), len(entries)):
        if index > last and not lost:
            return result, tail
        old, new = entries[index], result.get(index, entries[index])
        if new is not None and not lost.keys().isdisjoint(_ties(new).borrowed):
            new = result[index] = _with_values(new, lost)
        _account(lost, _ties(old).defined, _ties(new).defined if new is not None else NO_ANCHORS)
    return result, _write_values(tail, NO_ANCHORS, lost) if lost and SIGN.search(tail) else tail


def _tied(entry: QueueEntry, known: Anchors, spent: int) -> QueueEntry:
    ties = entry.ties
    if ties is None and (entry.size > LARGEST or not SIGN.search(entry.raw) or _is_skipped(entry)):
        entry.ties = ties = UNTIED
    if ties is not None and same_borrowed(ties.borrowed, known) and not _is_over(entry, ties, spent):
        return entry
    outcome, ties = _read(entry.raw, known, spent)
    before = entry.known
    if isinstance(before, Message) and isinstance(outcome, Message) and same(before.record, outcome.record):
        outcome = before
    if entry.ties is None and not ties.borrowed:
        entry.ties = ties
        return entry
    return QueueEntry(entry.span, outcome, ties)


def _is_over(entry: QueueEntry, ties: Ties, spent: int) -> bool:
    """Whether the limit of the file may concern the entry, so that it has to be read again."""
    return ties.spent > 0 and (spent + ties.spent > MOST_IN_FILE) is not isinstance(entry.known, CodecError)


def _is_skipped(entry: QueueEntry) -> bool:
    return isinstance(entry.known, CodecError) and entry.known.kind in (Kind.SKIPPED, Kind.OPEN)


def _read(raw: bytes, known: Anchors, spent: int = 0) -> tuple[Message | CodecError, Ties]:
    record, ties = read_tied(raw, known, spent)
    if isinstance(record, CodecError):
        return record, ties
    try:
        return to_message(record, raw), ties
    except CodecError as error:
        return error.below(0), ties


def _ties(entry: QueueEntry) -> Ties:
    return entry.ties or UNTIED


def _anchors_of(head: bytes) -> Anchors:
    """The anchors that other keys define before the list begins."""
    if not SIGN.search(head):
        return NO_ANCHORS
    events = Events(head, limit=DEPTH + 3)
    for _ in _rest(events):
        pass
    events.close()
    return {name: node for name, node in events.anchors.known.items() if node is not None}


def _rest(events: Events) -> Iterator[Any]:
    """The events up to the end of the text, or to where it is broken."""
    try:
        while type(event := events.next()).__name__ != "StreamEndEvent":
            yield event
    except CodecError:
        return


def _account(lost: dict[str, Node], before: Mapping[str, Node], after: Anchors) -> None:
    """Update which names stand for something else behind an entry than they did before the change."""
    for name in (*before, *after):
        node = before.get(name)
        if node is None or node.weight > MOST_IN_ENTRY or equal(node, after.get(name)):
            lost.pop(name, None)
        else:
            lost[name] = node


def _with_values(entry: QueueEntry, lost: Mapping[str, Node]) -> QueueEntry:
    """The entry with the first alias of each lost name written as anchor and value."""
    raw = _write_values(entry.raw, entry.borrowed, lost)
    rest = {name: node for name, node in entry.borrowed.items() if name not in lost}
    outcome, ties = _read(raw, rest)
    if entry.message is None:
        return QueueEntry.of(raw, None, ties)
    if not isinstance(outcome, Message) or not same(outcome.record, entry.message.record):
        raise CodecError(
            "an entry uses a value that goes with another entry, and it cannot be written there",
            hint="Write the value out in an editor, where *name stands.",
        )
    return QueueEntry.of(raw, entry.message, ties)


def _write_values(data: bytes, known: Anchors, lost: Mapping[str, Node]) -> bytes:
    events = Events(data, limit=DEPTH + 3, known=known)
    text, waiting = data.decode(), dict(lost)
    spots = []
    for event in _rest(events):
        name = getattr(event, "anchor", None)
        if name in waiting:
            node = waiting.pop(name)
            if type(event).__name__ == "AliasEvent":
                spots.append((event.start_mark.index, event.end_mark.index, f"&{name} {_flow_text(node)}"))
    events.close()
    for start, end, written in reversed(spots):
        text = text[:start] + written + text[end:]
    return text.encode()


def _without_anchors(data: bytes, known: Anchors, names: frozenset[str]) -> bytes:
    events = Events(data, limit=DEPTH + 3, known=known)
    text = data.decode()
    spots = []
    for event in _rest(events):
        name = getattr(event, "anchor", None)
        if name in names and type(event).__name__ != "AliasEvent":
            # A tag may stand before the anchor, and the blanks behind it go with it, or else those before it.
            anchor = re.compile(rf"[ \t]+&{name}(?=[\r\n])|&{name}[ \t]+").search(
                text, max(0, event.start_mark.index - 1)
            )
            spots += [anchor.span()] if anchor is not None else []
    events.close()
    for start, end in reversed(spots):
        text = text[:start] + text[end:]
    return text.encode()


def _flow_text(node: Node) -> str:
    """The value on one line, lists in brackets and mappings in braces, plain scalars as they were written."""
    return _next_text(expanded(node))


def _next_text(events: Iterator[Any], event: Any = None) -> str:
    event = event or next(events)
    tag = _tag_text(event.tag)
    if isinstance(event, ScalarEvent):
        return tag + _scalar_text(event)
    if type(event).__name__ == "SequenceStartEvent":
        items = []
        while type(event := next(events)).__name__ != "SequenceEndEvent":
            items.append(_next_text(events, event))
        return f"{tag}[{', '.join(items)}]"
    pairs = []
    while type(event := next(events)).__name__ != "MappingEndEvent":
        key = _next_text(events, event)
        pairs.append(f"{key}: {_next_text(events)}")
    return f"{tag}{{{', '.join(pairs)}}}"


def _tag_text(tag: str | None) -> str:
    if tag is None:
        return ""
    if tag.startswith(_TAG):
        return f"!!{tag.removeprefix(_TAG)} "
    return f"{tag} " if tag == "!" else f"!<{tag}> "


def _scalar_text(event: ScalarEvent) -> str:
    if event.style:
        return quoted(event.value)
    if not event.value:
        return "" if event.tag is not None else "~"
    return event.value if _PLAIN(event.value) or event.value == "<<" else quoted(event.value)
