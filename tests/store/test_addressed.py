"""Looking for one agent's messages without a lock: nothing of it is missed, and what is for others is not read."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from team_console.store.backends.yaml import addressed
from team_console.store.backends.yaml.addressed import Addressees, search
from team_console.store.backends.yaml.codec import QueueText
from team_console.store.backends.yaml.codec import entry as entries
from team_console.store.backends.yaml.codec.cutting.address_search import may_be_addressed
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.lock import holder_text
from team_console.store.model.clock import to_text, utc_now
from team_console.store.model.message import Message
from team_console.store.service import inbox, sending
from team_console.store.service.caller import Caller

from tests.store.contract import make_message, put
from tests.store.yaml_folder import QUEUE, open_yaml, queue_of

ME, OTHER = "task-manager", "file-manager"
ADDRESSES = (
    "to: task-manager",
    "to: 'task-manager'",
    'to: "task-manager"',
    'to: "task\\x2dmanager"',
    "to:    task-manager   # the lead's right hand",
    "to:\n    task-manager",
    "to: >-\n    task-manager",
    "to: all",
    "to_agents: all",
    "to_agents: [file-manager, task-manager]",
    "to_agents: [task-manager]",
    "to_agents:\n  - file-manager\n  - task-manager",
    'to_agents:\n  - "task\\u002dmanager"',
    "to_agents: 'all'",
    "recipient: task-manager",
    "to_agent: task-manager",
    '"to": task-manager',
    "{'to': 'x', \"to_agents\": [\"task-manager\"]}",
)


def entry(number: int, address: str, *, sender: str = "ceo", content: str = "Look at all of it") -> str:
    """An entry as text, with `address` as the lines that say whom it is for."""
    head = f"- message_id: M-{number}\n  type: message\n  from: {sender}\n  status: pending\n"
    if address.startswith("{"):
        flow = address[1:-1]
        return f"- {{message_id: M-{number}, type: message, from: {sender}, content: '{content}', {flow}}}\n"
    return f"{head}  {address}\n  payload:\n    content: {content}\n"


def counting(calls: list[int], genuine: Callable[..., Any]) -> Callable[..., Any]:
    """`genuine`, with every call noted in `calls`."""

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return genuine(*arguments, **options)

    return counted


def _ids(messages: Sequence[Message]) -> list[str]:
    return [message.message_id for message in messages]


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_way_to_write_an_address_is_found(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addressed, "_SMALL", 0)
    filler = [entry(number, "to: file-manager", sender=ME) for number in range(20)]
    data = ("messages:\n" + "".join(filler) + entry(99, address) + "".join(filler)).encode()
    assert "M-99" in _ids(QueueText.parse(data).messages())
    assert _ids(search(data, ME).messages) == ["M-99"]


@pytest.mark.parametrize("address", ["to: !!str task-manager", "to: &me task-manager", "? to\n  : task-manager"])
def test_an_address_in_rare_words_of_yaml_is_looked_at(address: str) -> None:
    assert may_be_addressed(("messages:\n" + entry(1, address)).encode(), ME)


@pytest.mark.parametrize("line", ["from: task-manager", "claimed_by: task-manager", "content: for all of them"])
def test_a_name_that_is_no_address_is_not_looked_at(line: str) -> None:
    assert may_be_addressed(("messages:\n" + entry(1, f"to: file-manager\n  {line}")).encode(), ME) == []


def test_random_queues_give_what_reading_all_of_them_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addressed, "_SMALL", 0)
    seed = 20260224
    print("seed", seed)
    chance = random.Random(seed)
    others = ("to: file-manager", "to_agents: [file-manager, ceo]", "to: ceo")
    words = ("all", "for all", "to: task-manager", "task-manager", "- all", "a \\ b", "'all'", "**all**")
    for _ in range(300):
        wanted = [chance.choice((*ADDRESSES, *others, *others)) for _ in range(chance.randrange(1, 8))]
        text = "".join(
            entry(number, address, content="|\n      " + chance.choice(words))
            for number, address in enumerate(wanted)
            if not address.startswith("{")
        )
        data = b"messages:\n" + text.encode() if text else b"messages: []\n"
        expected = [message.message_id for message in QueueText.parse(data).messages() if message.is_addressed_to(ME)]
        assert _ids(search(data, ME).messages) == expected, data.decode()


def _large(root: Path, count: int = 400) -> None:
    records = [dict(make_message(number, to=OTHER).record) for number in range(count)]
    (root / QUEUE).write_text(yaml.safe_dump({"messages": records}), encoding="utf-8")


def test_nothing_is_understood_and_nothing_locked_where_nothing_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted work: not one entry is parsed, and the lock is not taken, however long the queue is."""
    _large(tmp_path)
    inbox.receive(Caller(open_yaml(tmp_path), ME), agent=ME)
    parsed: list[int] = []
    locked: list[int] = []
    genuine = entries.parse_entry
    monkeypatch.setattr(entries, "parse_entry", counting(parsed, genuine))
    monkeypatch.setattr(Disk, "lock", lambda *_: locked.append(1))
    got = inbox.receive(Caller(open_yaml(tmp_path), ME), agent=ME)
    assert (got.status_message, parsed, locked) == (f"No pending messages for {ME}", [], [])


def test_a_message_for_another_costs_a_waiter_its_ledger_line_and_no_look_at_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted work: while others write, the queue's bytes are not read again."""
    _large(tmp_path)
    team = open_yaml(tmp_path)
    assert inbox.receive(Caller(team, ME), agent=ME).messages == ()
    assert inbox.receive(Caller(team, ME), agent=ME).messages == ()
    searched: list[int] = []
    genuine = addressed.search
    monkeypatch.setattr(addressed, "search", counting(searched, genuine))
    writer = Caller(open_yaml(tmp_path), "ceo")
    for number in range(5):
        sending.send(writer, to=OTHER, content=f"{number}", summary="Look at the export once")
        assert inbox.receive(Caller(team, ME), agent=ME).messages == ()
    assert searched == []
    sending.send(writer, to=ME, content="yours", summary="Look at the export once")
    assert [message.content for message in inbox.receive(Caller(team, ME), agent=ME).messages] == ["yours"]


def test_a_queue_that_somebody_else_wrote_takes_a_transaction_to_tell(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1, to=OTHER))
    look = Addressees(Disk(), team.layout)
    inbox.receive(Caller(team, ME), agent=ME)
    assert look.look(ME) is not None
    (tmp_path / QUEUE).write_bytes(queue_of(make_message(1, to=OTHER), make_message(2, to=ME)))
    assert look.look(ME) is None
    assert len(inbox.receive(Caller(team, ME), agent=ME).messages) == 1


def test_a_change_of_an_own_message_is_seen_although_the_ledger_names_only_its_id(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1, to=ME))
    other = Caller(open_yaml(tmp_path), ME)
    assert len(inbox.receive(other, agent=ME, lease=60).messages) == 1
    assert inbox.receive(Caller(team, ME), agent=ME).messages == ()
    held = open_yaml(tmp_path).addressed(ME)
    assert held is not None
    assert [message.status for message in held.messages] == ["claimed"]
    known = team.addressed(ME)
    inbox.acknowledge(other, ids=[make_message(1).message_id])
    seen = team.addressed(ME)
    assert known is not None
    assert seen is not None
    assert [[message.status for message in look.messages] for look in (known, seen)] == [["claimed"], ["read"]]


def test_what_was_known_is_no_answer_while_the_writer_of_a_new_message_holds_the_lock(tmp_path: Path) -> None:
    """The queue is swapped before the lock is let go, and letting go changes no watched file: a waiter that took the
    answer of before would go on waiting for a message that is there.
    """
    put(open_yaml(tmp_path), make_message(1, to=OTHER))
    waiter = open_yaml(tmp_path)
    assert inbox.receive(Caller(waiter, ME), agent=ME).messages == ()
    known = waiter.addressed(ME)
    put(open_yaml(tmp_path), make_message(2, to=ME))
    lock = waiter.layout.lock
    left = lock.read_bytes()
    lock.write_bytes(holder_text(since=to_text(utc_now()), action="send"))
    while_held = waiter.addressed(ME)
    lock.write_bytes(left)
    let_go = waiter.addressed(ME)
    assert known is not None
    assert known.messages == ()
    assert while_held is None
    assert let_go is not None
    assert [message.message_id for message in let_go.messages] == [make_message(2).message_id]
