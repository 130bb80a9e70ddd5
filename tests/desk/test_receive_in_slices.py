"""Much mail is received in slices: each is durable before any of it is handed out."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.entry import emit
from team_console.store.contract.team import Team
from team_console.store.service import inbox
from team_console.store.service.caller import Caller, Received
from team_console.store.service.inbox import receive

from tests.store.contract import FakeClock, make_message, yaml_factory

AGENT, NUMBER = "task-manager", 30


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    """A team with mail for three inbox."""
    monkeypatch.setattr(inbox, "LEAST", 10)
    with yaml_factory(tmp_path, FakeClock()) as factory:
        made = factory()
        assert made.root is not None
        text = b"".join(emit(make_message(number, to=AGENT)) for number in range(NUMBER))
        (made.root / "message-queue.yaml").write_bytes(b"messages:\n" + text)
        yield made


def _receive_with_trouble(team: Team, monkeypatch: pytest.MonkeyPatch, call: str, *, at: int) -> Received:
    """Receive on a disk whose `call` number `at` is refused."""
    calls, real = 0, getattr(Disk, call)

    def refused(disk: Disk, *arguments: Path) -> object:
        nonlocal calls
        calls += 1
        if calls == at:
            raise OSError(errno.ENOSPC, "No space left on device", str(arguments[0]))
        return real(disk, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Disk, call, refused)
        return receive(Caller(team, AGENT), agent=AGENT)


def _ids(received: Received) -> list[str]:
    return [message.message_id for message in received.messages]


def test_a_slice_that_could_not_be_written_is_handed_out_once_and_later(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _receive_with_trouble(team, monkeypatch, "exchange", at=2)
    later = receive(Caller(team, AGENT), agent=AGENT)

    assert len(first.messages) == 10
    assert [notice.message for notice in first.notices if "only 10 messages handed out" in notice.message]
    assert sorted([*_ids(first), *_ids(later)]) == sorted({*_ids(first), *_ids(later)})
    assert len(later.messages) == NUMBER - 10


def test_a_slice_of_which_nobody_knows_whether_it_was_written_is_not_lost(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its queue is in place, but what it displaced could not be kept."""
    first = _receive_with_trouble(team, monkeypatch, "rename", at=2)
    later = receive(Caller(team, AGENT), agent=AGENT)

    assert "the outcome is unknown" in first.notices[-1].message
    assert len(first.messages) == 20
    assert {*_ids(first), *_ids(later)} == {make_message(number).message_id for number in range(NUMBER)}
