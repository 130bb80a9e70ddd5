"""The workloads: what a team does when the crash comes, as transactions of its members."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.entry import write_entry
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.contract.transaction import Transaction
from team_console.store.model.message import Message

from tests.equipment.teams import FakeClock, make_message
from tests.equipment.yaml_folder import notices, receive
from tests.proofs.crash.simdisk import ROOT, SimDisk

QUEUE = ROOT / "message-queue.yaml"
AGENT = "task-manager"
Act = Callable[[YamlTeam], object]


def open_team(disk: Disk, root: Path = ROOT) -> YamlTeam:
    """The team in `root`, opened as a new process would."""
    return YamlTeam(
        Path("/"),  # the simulated folder is not there
        queue=root / QUEUE.name,
        archive_dir=root / "archive",
        config_path=root / "messenger-config.yaml",
        clock=FakeClock(),
        disk=disk,
    )


class Story(NamedTuple):
    """One workload.

    Attributes:
        before: Makes the state that was acknowledged long ago.
        meanwhile: What somebody who does not lock does to the disk before the act.
        act: The transaction that crashes; doing it again after success changes nothing.
        intrusion: Text of a queue that somebody renames in just before the given step of the act.
    """

    name: str
    act: Act
    before: Act = lambda team: None
    meanwhile: Callable[[SimDisk], None] = lambda disk: None
    intrusion: tuple[str, Callable[[bytes], bytes]] | None = None


def send(*numbers: int, **changes: Any) -> Act:
    """Add messages, all or none; known ids are left alone."""

    def act(team: YamlTeam) -> None:
        with team.transaction(actor="ceo", action="send", wait=0) as tx:
            messages = (make_message(number, **changes) for number in numbers)
            fresh = [message for message in messages if tx.known(message.message_id) is None]
            for item in fresh:
                tx.add(item)
            if fresh:
                tx.record("send", ids=[message.message_id for message in fresh])

    return act


def all_of(
    action: str,
    actor: str,
    is_due: Callable[[Transaction, Message], bool],
    change: Callable[[Transaction, Message], None],
) -> Callable[[YamlTeam], list[str]]:
    """Make an act that changes, in one transaction, whatever is due; it returns the ids of that."""

    def act(team: YamlTeam) -> list[str]:
        with team.transaction(actor=actor, action=action, wait=0) as tx:
            due = [message for message in tx.everything() if is_due(tx, message)]
            for message in due:
                change(tx, message)
            if due:
                tx.record(action, ids=[message.message_id for message in due])
        return [message.message_id for message in due]

    return act


def _read(tx: Transaction, message: Message) -> None:
    new = message.with_changes(status="read", read_at="2026-02-24T10:31:00.000Z")
    tx.replace(message, new)
    tx.archive(AGENT, new)


def _push(tx: Transaction, message: Message) -> None:
    new = message.with_changes(status="delivered", delivered_at="2026-02-24T10:31:00.000Z")
    tx.replace(message, new)
    tx.push(message.recipients[0], new)


def _take_out(tx: Transaction, message: Message) -> None:
    tx.archive(AGENT, message)
    tx.remove(message)


acknowledge = all_of("ack", AGENT, lambda tx, message: message.status == "delivered", _read)
deliver = all_of("deliver", "router", lambda tx, message: message.is_pending_for(AGENT), _push)
compact = all_of(
    "compact",
    "ceo",
    lambda tx, message: message.status == "read" and tx.is_archived(message),
    lambda tx, message: tx.remove(message),
)
clear = all_of("clear", "ceo", lambda tx, message: message.is_addressed_to(AGENT), _take_out)


def answer(team: YamlTeam) -> None:
    """Read a request, archive it and send the answer, in one transaction."""
    with team.transaction(actor=AGENT, action="approve", wait=0) as tx:
        request = tx.get(make_message(1).message_id)
        if request is not None and request.status == "pending":
            _read(tx, request)
            tx.add(make_message(9, to="ceo", type="plan_approval_response"))
            tx.record("approve", id=request.message_id)


def attach(team: YamlTeam) -> None:
    """Send a message whose content lies beside the queue."""
    with team.transaction(actor="ceo", action="send", wait=0) as tx:
        if tx.known(make_message(5).message_id) is None:
            reference = tx.attach(b"a large content\n" * 20)
            tx.add(make_message(5, payload={"attachment": reference}))
            tx.record("send")


def _in_turn(*acts: Act) -> Act:
    def act(team: YamlTeam) -> None:
        for item in acts:
            item(team)

    return act


def _roll_back(disk: SimDisk) -> None:
    """A program that does not lock puts back what it read long ago: two messages pending, the third not there."""
    disk.put(QUEUE, b"messages:\n" + b"".join(write_entry(make_message(number)) for number in (1, 2)))


def _vanish(disk: SimDisk) -> None:
    disk.sync_folder(ROOT)
    disk.unlink(QUEUE)
    disk.sync_folder(ROOT)


def _offer(disk: SimDisk) -> None:
    disk.folders.add(ROOT / "drop")
    disk.durable_folders.add(ROOT / "drop")
    disk.put(ROOT / "drop" / "one.yaml", write_entry(make_message(7)))
    disk.put(ROOT / "drop" / "bad.yaml", b"- {not a message\n")


def _with_foreign(data: bytes) -> bytes:
    """The queue with one more message at its end."""
    return (b"messages:\n" if data.startswith(b"messages: []") else data) + write_entry(make_message(8))


_TWO = send(1, 2)
_READ = _in_turn(_TWO, receive, send(3))

STORIES: Mapping[str, Story] = {
    story.name: story
    for story in (
        Story("first send", send(1)),
        Story("send", send(3), _TWO),
        Story("broadcast", send(3, 4, 5, 6), _TWO),
        Story("receive", receive, _TWO),
        Story("receive again", receive, _READ),
        Story("acknowledge", acknowledge, _in_turn(_TWO, deliver)),
        Story("approve", answer, _TWO),
        Story("deliver", deliver, _TWO),
        Story("compact", compact, _READ),
        Story("clear", clear, _READ),
        Story("attach", attach, _TWO),
        Story("drop folder", notices, _TWO, _offer),
        Story("heal a roll-back", send(4), _READ, _roll_back),
        Story("heal a receive after a roll-back", receive, _READ, _roll_back),
        Story("rebuild a vanished queue", notices, _READ, _vanish),
        Story("renamed over before the check", send(3), _TWO, intrusion=("write", _with_foreign)),
        Story("renamed over before the swap", send(3), _TWO, intrusion=("exchange", _with_foreign)),
        Story("renamed over before the swap of a receive", receive, _TWO, intrusion=("exchange", _with_foreign)),
    )
}
