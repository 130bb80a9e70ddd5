"""What is known of a queue before a change is known after it: slices of much work do not look at everything again."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.archives import closed
from team_console.store.backends.yaml.codec import QueueText, emit, queue_text
from team_console.store.backends.yaml.codec.cutting.frame import Style
from team_console.store.backends.yaml.codec.editing.patch import patch, patch_ordinary
from team_console.store.backends.yaml.codec.entry import parse_entry
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.model.message import Message

from tests.store.contract import make_message

TEXTS = ("plain", "a: b", "it's", "tab\there", "two\nlines", "yes", "7", "", "# no", 'say "no"', "\u2028", "ende ", "-")


def _text(count: int) -> QueueText:
    return QueueText.parse(b"messages:\n" + b"".join(emit(make_message(number)) for number in range(count)))


def _known(text: QueueText) -> tuple[Any, ...]:
    messages = text.messages()
    ids = {message.message_id for message in messages}
    return (
        [message.record for message in messages],
        [message.record for message in text.distinct()],
        {name: list(text.places(name)) for name in ids},
        {name: list(text.places(name)) for name in (f"MSG-20260224-{number:08}" for number in range(99, 115))},
        [[message.record for message in text.holding(words)] for words in ([b"error_message"], [b"# no", b"two"])],
        list(text.starts()),
        text.damaged_count,
    )


@pytest.mark.parametrize("seed", range(6))
def test_after_any_changes_the_same_is_known_as_of_a_fresh_reading(seed: int) -> None:
    chance, text = random.Random(seed), _text(12)
    for step in range(12):
        if seed % 2:
            text.expect(100)
        text.distinct()
        _known(text)
        places = list(range(text.size))
        gone = set(chance.sample(places, k=min(len(places), chance.choice((0, 0, 1, 3)))))
        changed = {
            place: text.messages()[place].with_changes(status="read", error_message=chance.choice(TEXTS))
            for place in chance.sample(places, k=min(len(places), 4))
            if place not in gone
        }
        new = [make_message(chance.choice((100 + step, 3))) for _ in range(chance.choice((0, 1, 2)))]
        text = text.edit(replace=changed, remove=gone, append=new)
        assert _known(text) == _known(QueueText.parse(text.data())), f"seed {seed}, step {step}"


def test_what_is_known_of_a_queue_is_not_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _text(50)
    text.expect(100)
    text.distinct()
    monkeypatch.setattr(queue_text, "index_of", lambda entries, messages: pytest.fail("a new index"))
    for place in range(5):
        old = text.messages()[place]
        text = text.edit(replace={place: old.with_changes(status="read")})
        assert list(text.places(old.message_id)) == [place]
        assert text.distinct() is text.messages()


def _ordinary() -> tuple[bytes, Message]:
    raw = emit(make_message(1))
    entry = QueueText.parse(b"messages:\n" + raw).entries[0]
    assert entry.message is not None
    assert entry.message.source is entry.span, "read as something else than an ordinary entry"
    return raw, entry.message


@pytest.mark.parametrize("value", TEXTS)
def test_lines_proven_one_by_one_make_the_same_text_as_reading_all_of_it_back(value: object) -> None:
    raw, message = _ordinary()
    changed = message.with_changes(status="delivered", error_message=value, attempts=1)
    proven = patch_ordinary(raw, message.record, changed.record, Style())
    assert proven in (None, patch(raw, message.record, changed.record, Style()))
    if proven is not None:
        assert parse_entry(proven).record == changed.record
        assert parse_entry(proven).payload == message.payload


@pytest.mark.parametrize("value", ["tab\there", "two\nlines", "\u2028", {"a": "b"}, 1.5, 3, True])
def test_what_does_not_stand_on_an_ordinary_line_is_left_to_the_patient_way(value: object) -> None:
    raw, message = _ordinary()
    assert patch_ordinary(raw, message.record, message.with_changes(error_message=value).record, Style()) is None


def test_a_line_that_is_there_twice_is_left_to_the_patient_way() -> None:
    raw, message = _ordinary()
    twice = raw + b"  status: pending\n"
    assert patch_ordinary(twice, message.record, message.with_changes(status="read").record, Style()) is None


def test_an_archived_text_is_the_ordinary_one_of_the_queue() -> None:
    raw, message = _ordinary()
    changed = message.with_changes(status="read", read_at="2026-03-01T10:00:00.000Z")
    shown = patch(raw, message.record, changed.record, Style())
    assert closed(changed, shown).startswith(shown + b"# end ")
    assert parse_entry(shown).record == changed.record


@pytest.mark.parametrize(
    "shown", [b"", b"  - a: b\n", b"- {message_id: M-1}\n", b"- message_id: M-1", b"- message_id: M-1\r\n"]
)
def test_an_archived_text_is_written_anew_where_that_of_the_queue_is_not_ordinary(shown: bytes) -> None:
    _, message = _ordinary()
    assert closed(message, shown) == closed(message)
    assert parse_entry(closed(message)).record == message.record


def test_an_archive_that_lost_its_entries_between_two_writes_is_written_again(tmp_path: Path) -> None:
    messages = [make_message(number) for number in range(8)]
    (tmp_path / "message-queue.yaml").write_bytes(b"messages:\n" + b"".join(map(emit, messages)))
    team = open_team(str(tmp_path))
    assert isinstance(team, YamlTeam)
    path = tmp_path / "archive" / "task-manager-archive.yaml"

    def archive() -> list[str]:
        with team.transaction(actor="ceo", action="test", wait=1) as tx:
            for message in tx.everything():
                tx.archive("task-manager", message)
            tx.record("test")
        return [message.message_id for message in QueueText.parse(path.read_bytes()).messages()]

    ids = [message.message_id for message in messages]
    assert archive() == ids
    assert archive() == ids, "what was seen in the archive is not put there again"
    with path.open("r+b") as file:
        file.truncate(len(b"messages:\n"))
    assert archive() == ids, "what was seen there once is no proof"
