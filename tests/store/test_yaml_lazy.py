"""A write costs what it adds: nothing of the queue is understood for it, and positions are carried over."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.codec import QueueText
from team_console.store.backends.yaml.codec.cutting import pieces
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.model.message import Message, new_record
from team_console.store.service.caller import Caller
from team_console.store.service.sending import send

from tests.proofs.benchmarks.data import AGENTS, LEAD, letters, quiet, write_queue, write_team


def understood(team: YamlTeam) -> int:
    """How many entries of the queue were looked into."""
    assert team._reader.generation is not None
    entries = team._reader.generation.text._parts.entries
    return sum(entry.known is not None for entry in entries)


def made(number: int, kind: str = "message") -> Message:
    """A message to append."""
    return new_record(
        message_id=f"MSG-20260301-{number:08}",
        type=kind,
        sender=AGENTS[0],
        to=LEAD,
        created="2026-03-01T10:00:00.000Z",
        priority="medium",
        payload={"content": f"number {number}"},
    )


def test_a_send_into_a_team_just_opened_understands_only_what_it_adds(tmp_path: Path) -> None:
    write_team(tmp_path, quiet(60))
    first = open_team(str(tmp_path))
    send(Caller(first, AGENTS[0]), to=LEAD, summary="the first write compares everything once", content=".")
    team = open_team(str(tmp_path))
    assert isinstance(team, YamlTeam)
    send(Caller(team, AGENTS[0]), to=LEAD, summary="the second write adds one message only", content=".")
    assert understood(team) <= 2
    assert len(team.snapshot().messages) == 62


def test_a_send_into_a_team_just_opened_does_not_even_cut_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_team(tmp_path, quiet(60))
    first = open_team(str(tmp_path))
    send(Caller(first, AGENTS[0]), to=LEAD, summary="the first write compares everything once", content=".")
    team = open_team(str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(pieces, "item_starts", lambda *_: pytest.fail("all entries were cut out"))
        send(Caller(team, AGENTS[0]), to=LEAD, summary="the second write adds one message only", content=".")
    assert [message.message_id for message in team.snapshot().messages] == [
        message.message_id for message in open_team(str(tmp_path)).snapshot().messages
    ]
    assert len(team.snapshot().messages) == 62


def test_what_a_process_sent_one_after_the_other_is_there_when_it_looks(tmp_path: Path) -> None:
    write_queue(tmp_path / "queue", quiet(20))
    text = QueueText.parse((tmp_path / "queue").read_bytes())
    for number in range(1_500):
        text = text.edit(append=[made(number)])
    known = QueueText.parse(text.data())
    assert [message.message_id for message in text.messages()] == [message.message_id for message in known.messages()]
    assert len(text.messages()) == 1_520


@pytest.mark.parametrize("count", [0, 1, 40])
def test_positions_after_appending_are_those_of_a_fresh_reading(tmp_path: Path, count: int) -> None:
    write_queue(tmp_path / "queue", letters(count))
    text = QueueText.parse((tmp_path / "queue").read_bytes() + (b"# the end\n" if count else b"\n"))
    text.starts()
    for number in range(3):
        text = text.edit(append=[made(number), made(number + 10)])
        assert text.starts() == QueueText.parse(text.data()).starts()


def test_positions_after_replacing_and_removing_are_those_of_a_fresh_reading(tmp_path: Path) -> None:
    write_queue(tmp_path / "queue", letters(20))
    text = QueueText.parse((tmp_path / "queue").read_bytes())
    text.starts()
    changed = text.messages()[19].with_changes(status="read", read_at="2026-03-01T10:00:00.000Z")
    text = text.edit(replace={19: changed}, remove=[0], append=[made(1)])
    assert text.starts() == QueueText.parse(text.data()).starts()


def test_messages_holding_a_word_are_found_whether_or_not_the_queue_is_understood(tmp_path: Path) -> None:
    write_queue(tmp_path / "queue", letters(30))
    data = QueueText.parse((tmp_path / "queue").read_bytes()).edit(append=[made(1, "shutdown_request")]).data()
    for text in (QueueText.parse(data), QueueText.parse(data)):
        assert [message.type for message in text.holding([b"shutdown_request", b"shutdown_response"])] == [
            "shutdown_request"
        ]
        assert text.holding([b"no_such_kind"]) == []
        text.parse_all()
        assert [message.type for message in text.holding([b"shutdown_request"])] == ["shutdown_request"]


def test_an_id_that_is_not_there_stays_unknown_until_it_is_appended(tmp_path: Path) -> None:
    write_queue(tmp_path / "queue", letters(5))
    text = QueueText.parse((tmp_path / "queue").read_bytes())
    assert text.find(made(7).message_id) is None
    assert text.find(made(7).message_id) is None
    assert text.edit(append=[made(7)]).find(made(7).message_id) == 5
