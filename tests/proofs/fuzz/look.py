"""What a team does with a queue file: read it, search it, change it, each time held to what it promises."""

from __future__ import annotations

from collections.abc import Sequence

from team_console.store.backends.yaml.entry import Entry
from team_console.store.backends.yaml.entry_format import TextError
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.model.message import Message, new_record

_LARGE = 200_000
"""Bytes of a file whose ids are not made unique besides: that is a change of its own, and one is timed."""


def read(data: bytes) -> QueueText | None:
    """Read `data` as a queue; None when it is refused as a whole. Any other exception is a defect."""
    try:
        text = QueueText.parse(data)
    except TextError as error:
        if not (error.line >= 1 and error.message):
            raise AssertionError("refused without a reason") from error
        return None
    messages, damaged = text.messages(), text.damaged()
    assert text.data() == data
    assert text.head + b"".join(entry.raw for entry in text.entries) + text.tail == data
    assert len(messages) + sum(entry.error is not None for entry in text.entries) == len(text.entries)
    assert all(line >= 1 and error.message for line, error in damaged)
    _look_for(text, messages)
    return text


def read_again(before: bytes, now: bytes) -> None:
    """Read `now` by what is known of `before`: it comes to the same as reading all of it."""
    known, whole = read(before), read(now)
    if known is None or whole is None:
        return
    text = QueueText.parse(now, known)
    assert [entry.raw for entry in text.entries] == [entry.raw for entry in whole.entries]
    assert (text.messages(), len(text.damaged())) == (whole.messages(), len(whole.damaged()))
    assert (text.head, text.tail, text.needs_rewrite, text.style) == (
        whole.head,
        whole.tail,
        whole.needs_rewrite,
        whole.style,
    )


def _look_for(text: QueueText, messages: Sequence[Message]) -> None:
    for message in messages[:3]:
        found = text.message(message.message_id)
        assert found is not None
        assert found.message_id == message.message_id
    assert text.message("MSG-20990101-notthere") is None


def _give_ids(text: QueueText) -> None:
    unique = text.with_unique_ids()
    ids = [message.message_id for message in unique.messages()]
    assert unique.data() == text.data()
    assert len(set(ids)) == len(ids)


def change(text: QueueText) -> None:
    """Add a message and mark the first one read; nothing else may change."""
    added = new_record(
        message_id="MSG-20990101-aaaaaaaa",
        type="message",
        sender="a",
        to="b",
        created="2099-01-01T00:00:00Z",
        priority="low",
        payload={"content": 'two "lines"\nof it\'s {text}'},
    )
    if len(text.data()) < _LARGE:
        _give_ids(text)
    before = _told_apart(text)
    first = next((index for index, entry in enumerate(before) if entry.message is not None), None)
    changes = {}
    if first is not None and (message := before[first].message) is not None:
        changes[first] = message.with_changes(status="read", read_at="2099-01-01T00:00:00Z")
    places = {text.entries.index(before[index]): change for index, change in changes.items()}
    try:
        after = text.edit(append=[added], replace=places)
    except TextError:
        return
    again = _told_apart(QueueText.parse(after.data()))
    assert [entry.error is None for entry in again] == [*(entry.error is None for entry in before), True]
    for index, (old, new) in enumerate(zip(before, again[:-1], strict=True)):
        if index == first:
            assert new.message is not None
            assert new.message.record == changes[index].record
        elif old.message is not None and not old.raw.endswith(b"\n"):
            assert new.message is not None
            assert new.message.record == old.message.record
        elif not text.needs_rewrite:
            assert new.raw.rstrip(b"\r\n") == old.raw.rstrip(b"\r\n")
    assert again[-1].message is not None
    assert again[-1].message.record == added.record


def _told_apart(text: QueueText) -> list[Entry]:
    """The entries, without the marks and keys between them."""
    return [entry for entry in text.entries if entry.message is not None or entry.is_damaged]
