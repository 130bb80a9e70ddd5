"""What the next lock holder does with a transaction that is on record and never reached the queue."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest
from team_console.store.backends.yaml.audit_log import AuditLog, Tip
from team_console.store.backends.yaml.disk import Disk, PartialAppendError
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.model.errors import Code, TeamError

from tests.equipment.teams import make_message
from tests.proofs.crash.models import images
from tests.proofs.crash.simdisk import ROOT, PowerCut, SimDisk
from tests.proofs.crash.stories import AGENT, QUEUE, answer, deliver, open_team, receive, send

pytestmark = pytest.mark.slow

ONE, TWO = make_message(1).message_id, make_message(2).message_id


def _killed_before_the_swap(act: Callable[[YamlTeam], object]) -> SimDisk:
    """A disk with two messages on which `act` was killed once its ledger line was durable."""
    disk = SimDisk()
    send(1, 2)(open_team(disk))

    def stop(count: int, name: str) -> None:
        if name == "exchange":
            raise PowerCut

    disk.fault = stop
    try:
        act(open_team(disk))
    except PowerCut:
        (image,) = images(disk, "process")
        return image.disk()
    raise AssertionError("it was not stopped")


def _notices(disk: SimDisk) -> list[str]:
    with open_team(disk).transaction(actor="ceo", action="look", wait=0) as tx:
        return [notice.code for notice in tx.notices]


def test_a_receive_on_record_is_finished_with_each_message_in_the_archive_once() -> None:
    disk = _killed_before_the_swap(receive)
    assert _notices(disk) == ["COMPLETED"]
    archive = disk.read(ROOT / "archive" / f"{AGENT}-archive.yaml")[0]
    assert [archive.count(b"message_id: " + message_id.encode()) for message_id in (ONE, TWO)] == [1, 1]
    assert {message.status for message in open_team(disk).snapshot().messages} == {"read"}


def test_a_completion_of_which_nobody_can_tell_whether_it_is_on_record_is_an_error_of_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = _killed_before_the_swap(receive)

    def breaks(*_: object, **__: object) -> Tip:
        raise PartialAppendError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(AuditLog, "append", breaks)
        with pytest.raises(TeamError, match="the outcome is unknown") as told:
            receive(open_team(disk))
    assert told.value.code is Code.STORE_FAILED
    assert _notices(disk) == ["COMPLETED"]


def test_an_answer_on_record_is_finished_whole() -> None:
    disk = _killed_before_the_swap(answer)
    assert _notices(disk) == ["COMPLETED"]
    states = {message.message_id[-2:]: message.status for message in open_team(disk).snapshot().messages}
    assert states == {"01": "read", "02": "pending", "09": "pending"}
    assert [message.message_id for message in open_team(disk).history().messages] == [ONE]
    # What else is finished is judged disk by disk in test_crash_states; here only that it is told.
    for act in (deliver, send(3, 4)):
        assert _notices(_killed_before_the_swap(act)) == ["COMPLETED"]


def test_a_copy_of_a_receive_cut_short_does_not_count_as_archived_while_the_queue_is_healed() -> None:
    disk = _killed_before_the_swap(receive)
    disk.overwrite(QUEUE, b"messages: []\n")
    assert receive(open_team(disk)) == []
    assert {message.status for message in open_team(disk).snapshot().messages} == {"read"}


@pytest.mark.parametrize("cut", [0, 40])
def test_what_another_program_put_behind_an_unfinished_copy_stays(cut: int) -> None:
    disk = _killed_before_the_swap(receive)
    path, theirs = ROOT / "archive" / f"{AGENT}-archive.yaml", b"- {id: x, type: message, from: ceo, to: a}\n"
    ours = disk.read(path)[0]
    disk.overwrite(path, ours[: len(ours) - cut] + b"\n" + theirs)
    assert receive(open_team(disk)) == []
    history = [record.message_id for record in open_team(disk).history(agent=AGENT).messages]
    assert sorted(history) == [ONE, TWO, "x"]
    assert any(theirs in disk.read(ROOT / "archive" / name)[0] for name in disk.names(ROOT / "archive"))


@pytest.mark.parametrize("act", [deliver, answer])
def test_a_message_of_somebody_else_that_has_the_id_of_ours_is_left_alone(act: Callable[[YamlTeam], object]) -> None:
    disk = _killed_before_the_swap(act)
    theirs = b"- {message_id: %s, type: message, from: x, to: y, status: pending, payload: {content: theirs}}\n"
    disk.overwrite(QUEUE, b"messages:\n" + theirs % ONE.encode() + theirs % TWO.encode())
    for _ in range(2):
        send(3)(open_team(disk))
        assert disk.read(QUEUE)[0].startswith(b"messages:\n" + theirs % ONE.encode() + theirs % TWO.encode())


def test_every_call_of_a_disk_is_simulated() -> None:
    calls = {name for name, call in vars(Disk).items() if callable(call) and not name.startswith("_")}
    assert calls
    assert calls - vars(SimDisk).keys() == set()
