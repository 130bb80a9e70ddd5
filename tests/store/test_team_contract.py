"""The contract of `team_console.store.contract.team.Team`, asked of every backend."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.contract.snapshot import Condition
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError

from tests.equipment.teams import FACTORIES, FakeClock, TeamFactory, ids, make_message, put


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=sorted(FACTORIES))
def open_again(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[TeamFactory]:
    with FACTORIES[request.param](tmp_path, clock) as factory:
        yield factory


@pytest.fixture
def team(open_again: TeamFactory) -> Team:
    return open_again()


def test_an_exception_discards_everything(team: Team) -> None:
    put(team, make_message(1))
    with pytest.raises(ZeroDivisionError), team.transaction(actor="ceo", action="send", wait=1.0) as tx:
        tx.add(make_message(2))
        tx.archive("task-manager", make_message(1))
        tx.record("send")
        raise ZeroDivisionError
    assert ids(team) == [make_message(1).message_id]
    assert team.history().messages == ()
    assert [line.action for line in team.audit()] == ["send"]


def test_a_second_message_with_the_same_id_is_refused_and_the_first_stays(team: Team) -> None:
    put(team, make_message(1))
    with pytest.raises(TeamError) as caught:
        put(team, make_message(1, sender="file-manager"))
    assert caught.value.code is Code.DUPLICATE_ID
    assert [m.sender for m in team.snapshot().messages] == ["ceo"]


def test_an_archived_id_stays_taken(team: Team) -> None:
    put(team, make_message(1))
    with team.transaction(actor="ceo", action="edit", wait=1.0) as tx:
        item = tx.everything()[0]
        tx.archive("task-manager", item)
        tx.remove(item)
        tx.record("edit")
    with team.transaction(actor="ceo", action="edit", wait=1.0) as tx:
        message = tx.known(item.message_id)
        assert message is not None
        assert message.summary == item.summary
        with pytest.raises(TeamError):
            tx.add(make_message(1))


def test_replacing_what_this_transaction_did_not_read_is_refused(team: Team) -> None:
    put(team, make_message(1))
    stale = make_message(1)
    with pytest.raises(LookupError), team.transaction(actor="ceo", action="edit", wait=1.0) as tx:
        tx.replace(stale, stale.with_changes(status="read"))


def archive_everything(team: Team) -> None:
    with team.transaction(actor="ceo", action="edit", wait=1.0) as tx:
        for item in tx.everything():
            tx.archive(item.recipients[0], item)
        tx.record("edit")


def test_history_is_newest_first_paged_and_per_agent(team: Team) -> None:
    messages = [make_message(n, to="file-manager" if n % 2 else "task-manager") for n in range(1, 8)]
    put(team, *messages)
    archive_everything(team)
    first = team.history(limit=3)
    second = team.history(limit=3, cursor=first.cursor)
    third = team.history(limit=3, cursor=second.cursor)
    seen = [message.message_id for page in (first, second, third) for message in page.messages]
    assert seen == [message.message_id for message in reversed(messages)]
    assert third.cursor is None
    only = team.history(agent="file-manager").messages
    assert [message.message_id for message in only] == [
        m.message_id for m in reversed(messages) if m.recipients[0] != "task-manager"
    ]


def test_archived_messages_of_one_moment_come_back_last_first_over_pages(team: Team) -> None:
    messages = [make_message(n).with_changes(created="2026-02-24T10:30:00Z") for n in (3, 1, 5, 2, 4)]
    put(team, *messages)
    archive_everything(team)
    first = team.history(limit=2)
    second = team.history(limit=3, cursor=first.cursor)
    seen = [message.message_id for page in (first, second) for message in page.messages]
    assert seen == [message.message_id for message in reversed(messages)]


def test_a_large_content_comes_back_from_its_reference_and_no_other_file_does(team: Team) -> None:
    with team.transaction(actor="ceo", action="send", wait=1.0) as tx:
        reference = tx.attach("большой".encode())
        tx.add(make_message(1))
        tx.record("send")
    assert team.attachment(reference) == "большой".encode()
    for bad in ("attachments/../message-queue.yaml", "/etc/passwd", "attachments/none.txt", ""):
        with pytest.raises(TeamError):
            team.attachment(bad)


def test_only_one_transaction_runs_at_a_time_and_waiting_is_bounded(team: Team, open_again: TeamFactory) -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with open_again().transaction(actor="ceo", action="hold", wait=1.0):
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert inside.wait(10)
        with pytest.raises(TeamError) as caught, team.transaction(actor="ceo", action="send", wait=0.05):
            pass
        assert caught.value.code is Code.STORE_LOCKED
        assert team.snapshot().condition is Condition.EMPTY
    finally:
        leave.set()
        thread.join()
    put(team, make_message(1))
