"""The contract of `team_console.store.contract.team.Team`, asked of every backend."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.contract.team import Condition, Team, WatchState
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


def test_a_new_team_is_empty_and_says_so(team: Team) -> None:
    snapshot = team.snapshot()
    assert snapshot.condition is Condition.EMPTY
    assert snapshot.messages == ()
    assert snapshot.config.lead == "ceo"
    assert not [problem for problem in snapshot.problems if problem.severity == "error"]


def test_what_was_added_is_read_back_field_by_field_by_another_opening(team: Team, open_again: TeamFactory) -> None:
    message = make_message(1, priority="high", payload={"content": "a\nb", "approve": True, "n": 3, "none": None})
    put(team, message)
    (back,) = open_again().snapshot().messages
    assert dict(back.record) == dict(message.record)
    assert (back.message_id, back.sender, back.recipients) == (message.message_id, "ceo", ("task-manager",))


def test_messages_keep_the_order_in_which_they_were_added(team: Team) -> None:
    put(team, make_message(3), make_message(1))
    put(team, make_message(2))
    assert ids(team) == [make_message(n).message_id for n in (3, 1, 2)]


def test_unchanged_messages_stay_the_same_objects_across_snapshots(team: Team) -> None:
    put(team, make_message(1))
    before = team.snapshot()
    put(team, make_message(2))
    after = team.snapshot()
    assert after.messages[0] is before.messages[0]
    assert after.revision != before.revision
    assert team.snapshot().revision == after.revision


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


def test_a_transaction_that_writes_nothing_leaves_no_trace(team: Team) -> None:
    before = team.snapshot().revision
    with team.transaction(actor="ceo", action="look", wait=1.0) as tx:
        assert list(tx.everything()) == []
    assert team.snapshot().revision == before
    assert team.audit() == []


def test_a_transaction_sees_its_own_writes(team: Team) -> None:
    put(team, make_message(1), make_message(2))
    with team.transaction(actor="ceo", action="edit", wait=1.0) as tx:
        message = tx.get(make_message(1).message_id)
        assert message is not None
        read = message.with_changes(status="read")
        tx.replace(message, read)
        tx.add(make_message(3))
        two = tx.get(make_message(2).message_id)
        assert two is not None
        tx.archive("task-manager", two)
        tx.remove(two)
        assert tx.get(message.message_id) is read
        assert tx.get(two.message_id) is None
        assert tx.is_archived(two)
        assert [m.message_id for m in tx.everything()] == [make_message(n).message_id for n in (1, 3)]
        tx.record("edit")
    assert [(m.message_id, m.status) for m in team.snapshot().messages] == [
        (make_message(1).message_id, "read"),
        (make_message(3).message_id, "pending"),
    ]


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


def test_archiving_twice_keeps_one_copy(team: Team) -> None:
    put(team, make_message(1))
    for _ in range(2):
        with team.transaction(actor="ceo", action="edit", wait=1.0) as tx:
            tx.archive("task-manager", tx.everything()[0])
            tx.record("edit")
    assert len(team.history(agent="task-manager").messages) == 1


def test_history_is_newest_first_paged_and_per_agent(team: Team) -> None:
    messages = [make_message(n, to="file-manager" if n % 2 else "task-manager") for n in range(1, 8)]
    put(team, *messages)
    with team.transaction(actor="ceo", action="edit", wait=1.0) as tx:
        for item in tx.everything():
            tx.archive(item.recipients[0], item)
        tx.record("edit")
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


def test_select_and_thread_find_live_and_archived(team: Team) -> None:
    ask = make_message(1, type="plan_approval_request", payload={"request_id": "plan-001", "content": "x"})
    answer = make_message(2, type="plan_approval_response", payload={"request_id": "plan-001", "approve": True})
    put(team, ask, answer, make_message(3, to="file-manager"))
    with team.transaction(actor="ceo", action="edit", wait=1.0) as tx:
        first = tx.everything()[0]
        tx.archive("task-manager", first)
        tx.remove(first)
        tx.record("edit")
    with team.transaction(actor="ceo", action="look", wait=1.0) as tx:
        assert [m.message_id for m in tx.thread("plan-001")] == [ask.message_id, answer.message_id]
        assert [m.message_id for m in tx.thread(ask.message_id)] == [ask.message_id]
        assert tx.thread("plan-00") == []
        assert [m.message_id for m in tx.select(recipient="file-manager")] == [make_message(3).message_id]
        assert tx.select(types=("plan_approval_response",), statuses=("read",)) == []


def test_who_asks_under_an_id_is_found(team: Team) -> None:
    carried = {"content": 'DEBUG_REQUEST: {"msg_type": "DEBUG_REQUEST", "debug_id": "BUG-1"}'}
    asked = {2: {"request_id": "plan-1"}, 3: carried, 4: {"requestId": "caf\u00e9"}, 5: {"request_id": 42}}
    with team.transaction(actor="ceo", action="send", wait=1.0) as tx:
        for number in range(1, 8):
            tx.add(make_message(number, payload=asked.get(number, {"content": "of plan-1 and 42"})))
        tx.record("send")
    for wanted, number in (("plan-1", 2), ("BUG-1", 3), ("caf\u00e9", 4), ("42", 5)):
        with team.transaction(actor="ceo", action="look", wait=1.0) as tx:
            assert make_message(number).message_id in [message.message_id for message in tx.naming(wanted)], wanted


def test_the_audit_names_who_did_what_newest_first(team: Team) -> None:
    put(team, make_message(1))
    with team.transaction(actor="task-manager", action="receive", wait=1.0) as tx:
        message = tx.everything()[0]
        tx.archive("task-manager", message)
        tx.replace(message, message.with_changes(status="read"))
        tx.record("receive", ids=[message.message_id])
    lines = team.audit()
    assert [(line.actor, line.action) for line in lines] == [("task-manager", "receive"), ("ceo", "send")]
    assert [line.seq for line in lines] == sorted((line.seq for line in lines), reverse=True)
    assert all(line.intact for line in lines)
    assert lines[0].facts["ids"] == [make_message(1).message_id]


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


def test_two_openings_lose_nothing_between_them(open_again: TeamFactory) -> None:
    def work(first: int) -> None:
        own = open_again()
        for number in range(first, first + 20):
            put(own, make_message(number), wait=60.0)  # on a busy machine one of three may wait its turn for long

    threads = [threading.Thread(target=work, args=(first,)) for first in (100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids(open_again()))) == 60


def test_watching_hints_at_once_and_after_a_change(team: Team, open_again: TeamFactory) -> None:
    async def story() -> None:
        hints = team.watch()
        first = await asyncio.wait_for(anext(hints), 10)
        assert first.state in (WatchState.LIVE, WatchState.POLLING)
        before = team.snapshot().revision
        await asyncio.to_thread(put, open_again(), make_message(1))
        while team.snapshot().revision == before:
            await asyncio.wait_for(anext(hints), 10)
        await hints.aclose()  # type: ignore[attr-defined]

    asyncio.run(story())
