"""Following a queue through its changes knows the same messages as reading it anew, and the same copies of them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from team_console.store.backends.yaml.codec import QueueText, emit
from team_console.store.model.message import Message, new_record

HEAD = b"messages:\n"
ODD = (
    b"- message_id: torn\n  type: [\n",
    b"- message_id: A\n  type: 'open\n",
    b"- &one {message_id: B, type: message, from: x, to: y}\n",
    b"- *one\n",
    b"- just a word\n",
)


def entry(number: int, status: str = "pending") -> bytes:
    """The text of one message."""
    record = new_record(
        message_id=f"MSG-20260224-{number:08}",
        type="message",
        sender="architect",
        to="ceo",
        created="2026-02-24T10:30:15.123Z",
        priority="medium",
        payload={"content": f"number {number}"},
    )
    return emit(record.with_changes(status=status))


def changed(dice: Random, entries: list[bytes], *, odd: bool) -> list[bytes]:
    """The entries after something was added, changed, repeated or taken out, or something odd was written."""
    entries = list(entries)
    place = dice.randrange(len(entries) + 1)
    act = dice.choice(("append", "append", "insert", "remove", "change", "twice", *(("odd",) if odd else ())))
    if act in ("remove", "change") and not entries:
        act = "append"
    match act:
        case "append":
            entries += [entry(dice.randrange(1000, 9999)) for _ in range(dice.randrange(1, 4))]
        case "insert":
            entries.insert(place, entry(dice.randrange(1000, 9999)))
        case "remove":
            del entries[place % len(entries)]
        case "change":
            entries[place % len(entries)] = entry(dice.randrange(1000), "read")
        case "twice":
            entries.append(entries[place % len(entries)] if entries else entry(1))
        case _:
            entries.insert(place, dice.choice(ODD))
    return entries


def told(messages: Sequence[Message]) -> list[dict[str, object]]:
    """Messages as their records."""
    return [dict(message.record) for message in messages]


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_following_tells_what_reading_anew_tells(seed: int, odd: bool) -> None:
    dice = Random(seed)
    entries = [entry(number) for number in range(20)]
    text = QueueText.parse(HEAD + b"".join(entries))
    for _ in range(12):
        text.distinct()
        entries = changed(dice, entries, odd=odd)
        data = HEAD + b"".join(entries)
        text, anew = QueueText.parse(data, text), QueueText.parse(data)
        assert told(text.messages()) == told(anew.messages())
        assert told(text.distinct()) == told(anew.distinct())
        assert [item.raw for item in text.entries] == [item.raw for item in anew.entries]
        assert len(text.damaged()) == len(anew.damaged())
        for words in ([b"number 1"], [b"status: read", b"number 7"]):
            assert told(text.holding(words)) == told(anew.holding(words))
        ids = {message.message_id for message in anew.messages()} | {"MSG-none", "MSG-20260224-00000003"}
        assert {name: list(text.places(name)) for name in ids} == {name: list(anew.places(name)) for name in ids}


def test_two_that_go_on_from_one_text_do_not_disturb_each_other() -> None:
    entries = [entry(number) for number in range(20)]
    text = QueueText.parse(HEAD + b"".join(entries))
    text.distinct()
    text = QueueText.parse(HEAD + b"".join([*entries, entry(20)]), text)
    left = QueueText.parse(HEAD + b"".join([*entries, entry(20), entry(21)]), text)
    right = QueueText.parse(HEAD + b"".join([*entries, entry(20), entry(20)]), text)
    assert len(left.distinct()) == 22
    assert len(right.messages()) == 22
    assert len(right.distinct()) == 21
