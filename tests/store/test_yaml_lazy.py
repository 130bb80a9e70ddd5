"""A write costs what it adds: nothing else of the queue is understood for it."""

from __future__ import annotations

import sys
from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.queue_text import QueueText
from team_console.store.model.message import Message, new_record
from team_console.store.service.caller import Caller
from team_console.store.service.sending import send

from tests.proofs.benchmarks.data import AGENTS, LEAD, quiet, write_queue, write_team


def calls_of_a_second_send(folder: Path, count: int) -> int:
    """How many functions are called by a send into a queue of so many messages, in a team just opened."""
    write_team(folder, quiet(count))
    send(Caller(open_team(str(folder)), AGENTS[0]), to=LEAD, summary="the first write compares everything", content=".")
    calls = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    team = open_team(str(folder))
    sys.setprofile(note)
    try:
        send(Caller(team, AGENTS[0]), to=LEAD, summary="the second write adds one message only", content=".")
    finally:
        sys.setprofile(None)
    assert len(team.snapshot().messages) == count + 2
    return calls


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
    calls_of_a_second_send(tmp_path / "warm", 10)
    few, many = (calls_of_a_second_send(tmp_path / str(count), count) for count in (60, 460))
    assert many - few < 400


def test_what_a_process_sent_one_after_the_other_is_there_when_it_looks(tmp_path: Path) -> None:
    write_queue(tmp_path / "queue", quiet(20))
    text = QueueText.parse((tmp_path / "queue").read_bytes())
    for number in range(1_500):
        text = text.edit(append=[made(number)])
    known = QueueText.parse(text.data())
    assert [message.message_id for message in text.messages()] == [message.message_id for message in known.messages()]
    assert len(text.messages()) == 1_520
