"""What is known of a queue before a change is known after it: slices of much work do not look at everything again."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.archives import closed
from team_console.store.backends.yaml.entry import emit, parse_record
from team_console.store.backends.yaml.queue_text import QueueText
from team_console.store.backends.yaml.team import YamlTeam

from tests.store.contract import make_message

TEXTS = ("plain", "a: b", "it's", "tab\there", "two\nlines", "yes", "7", "", "# no", 'say "no"', "\u2028", "ende ", "-")


def _text(count: int) -> QueueText:
    return QueueText.parse(b"messages:\n" + b"".join(emit(make_message(number)) for number in range(count)))


def _known(text: QueueText) -> tuple[Any, ...]:
    messages = text.messages()
    ids = {message.message_id for message in messages}
    return (
        [message.record for message in messages],
        {name: text.place(name) for name in ids},
        {name: text.place(name) for name in (f"MSG-20260224-{number:08}" for number in range(99, 115))},
        [[message.record for message in text.entries_with(words)] for words in ([b"error_message"], [b"# no", b"two"])],
        text.damaged_count,
    )


@pytest.mark.parametrize("seed", range(6))
def test_after_any_changes_the_same_is_known_as_of_a_fresh_reading(seed: int) -> None:
    chance, text = random.Random(seed), _text(12)
    for step in range(12):
        _known(text)
        places = list(range(len(text.entries)))
        gone = set(chance.sample(places, k=min(len(places), chance.choice((0, 0, 1, 3)))))
        changed = {
            place: text.messages()[place].with_changes(status="read", error_message=chance.choice(TEXTS))
            for place in chance.sample(places, k=min(len(places), 4))
            if place not in gone
        }
        new = [make_message(chance.choice((100 + step, 3))) for _ in range(chance.choice((0, 1, 2)))]
        text = text.edit(replace=changed, remove=gone, append=new)
        assert _known(text) == _known(QueueText.parse(text.data())), f"seed {seed}, step {step}"


def test_an_archived_text_is_that_of_the_queue_where_it_is_of_our_own_form() -> None:
    text = _text(1)
    text = text.edit(replace={0: text.messages()[0].with_changes(status="read", read_at="2026-03-01T10:00:00.000Z")})
    shown = text.entries[0].raw
    assert closed(text.messages()[0], shown).startswith(shown + b"# end ")


@pytest.mark.parametrize(
    "shown", [b"", b"  - a: b\n", b"- {message_id: M-1}\n", b"- message_id: M-1", b"- message_id: M-1\r\n"]
)
def test_an_archived_text_is_written_anew_where_that_of_the_queue_is_not_ordinary(shown: bytes) -> None:
    message = make_message(1)
    assert closed(message, shown) == closed(message)
    assert parse_record(closed(message)) == message.record


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
