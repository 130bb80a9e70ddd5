"""Records that share an id: copies count once, different messages are each their own, and nobody's mail stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.store.backends.yaml.entry import emit
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.service import deliveries, inbox
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import heal
from team_console.store.service.router import deliver

from tests.store.contract import START, FakeClock, make_message, yaml_factory

ONE, OTHER = "task-manager", "file-manager"
Make = Callable[..., Team]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Opens a team in which another program wrote these messages."""
    clock = FakeClock()
    clock.advance(3600)

    def yaml_team(*messages: Message) -> Team:
        with yaml_factory(tmp_path, clock) as factory:
            team = factory()
            assert team.root is not None
            text = b"messages:\n" + b"".join(emit(message) for message in messages)
            (team.root / "message-queue.yaml").write_bytes(text)
            return team

    return yaml_team


def _said(content: str, to: str = ONE, message_id: str = "X1") -> Message:
    return make_message(message_id=message_id, to=to, payload={"content": content, "summary": content})


def _contents(messages: tuple[Message, ...]) -> list[str]:
    return sorted(message.content for message in messages)


def test_copies_count_once_and_leave_with_the_first_change(make: Make) -> None:
    team = make(_said("same"), _said("same"), _said("other", message_id="X2"))
    assert len(team.snapshot().messages) == 2
    assert [problem.place for problem in team.snapshot().problems if problem.code == "DUPLICATE_COPY"] == ["X1"]
    assert _contents(inbox.receive(Caller(team, ONE), agent=ONE).messages) == ["other", "same"]
    assert inbox.receive(Caller(team, ONE), agent=ONE).messages == ()
    assert not [problem for problem in team.snapshot().problems if problem.code == "DUPLICATE_COPY"]
    assert any(line.action == "merge_copies" and line.facts["ids"] == ["X1"] for line in team.audit())


def test_of_a_read_message_and_its_copy_nothing_is_handed_out_again(make: Make) -> None:
    team = make(_said("same").with_changes(status="read"), _said("same"))
    assert inbox.receive(Caller(team, ONE), agent=ONE).messages == ()


def test_different_messages_of_one_id_each_reach_their_reader(make: Make) -> None:
    team = make(_said("for one"), _said("for the other", OTHER), _said("also for one"))
    looked = inbox.receive(Caller(team, ONE), agent=ONE, mark_read=False)
    assert _contents(looked.messages) == ["also for one", "for one"]
    assert _contents(inbox.receive(Caller(team, ONE), agent=ONE).messages) == ["also for one", "for one"]
    assert _contents(inbox.receive(Caller(team, OTHER), agent=OTHER).messages) == ["for the other"]
    assert inbox.receive(Caller(team, ONE), agent=ONE).messages == ()
    kept = {message.content for agent in (ONE, OTHER) for message in team.history(agent=agent).messages}
    assert kept == {"for the other", "for one", "also for one"}


def test_the_router_delivers_each_of_them_once(make: Make) -> None:
    team = make(_said("a"), _said("b"), _said("c", OTHER), _said("z", OTHER, "Z"))
    done = deliver(Caller(team, "ceo"))
    assert _contents(tuple(attempt.message for attempt in done.delivered)) == ["a", "b", "c", "z"]
    assert deliver(Caller(team, "ceo")).attempts == []


def test_a_remedy_and_a_reader_take_the_one_that_is_meant(make: Make) -> None:
    team = make(_said("a"), _said("b"))
    seen = next(message for message in team.snapshot().messages if message.content == "b")
    inbox.read_message(Caller(team, ONE), agent=ONE, message_id="X1", seen=seen)
    assert {message.content: message.status for message in team.snapshot().messages} == {"a": "pending", "b": "read"}
    assert [message.content for message in deliveries.recall(Caller(team, "ceo"), ids=["X1"]).messages] == ["a"]


def test_healing_gives_each_an_id_of_its_own(make: Make) -> None:
    team = make(_said("a"), _said("a"), _said("b"), _said("c", OTHER))
    codes = [notice.code for notice in heal(Caller(team, "ceo"))]
    assert codes.count("MERGED_COPIES") == 1
    assert codes.count("RENAMED") == 2
    ids = {message.content: message.message_id for message in team.snapshot().messages}
    assert sorted(ids.values()) == ["X1", "X1-2", "X1-3"]
    assert "RENAMED" not in [notice.code for notice in heal(Caller(team, "ceo"))]
    assert _contents(inbox.receive(Caller(team, ONE), agent=ONE).messages) == ["a", "b"]


def test_what_was_read_of_several_is_healed_from_the_ledger(tmp_path: Path) -> None:
    with yaml_factory(tmp_path, FakeClock(START)) as factory:
        team = factory()
        assert team.root is not None
        queue = team.root / "message-queue.yaml"
        queue.write_bytes(b"messages:\n" + emit(_said("a")) + emit(_said("b")) + emit(_said("c", OTHER)))
        with team.transaction(actor="ceo", action="look", wait=1) as tx:
            tx.record("look")
        before = queue.read_bytes()
        inbox.receive(Caller(team, ONE), agent=ONE)
        queue.write_bytes(before)
        assert inbox.receive(Caller(factory(), ONE), agent=ONE).messages == ()
        queue.write_bytes(b"messages: []\n")
        heal(Caller(factory(), "ceo"))
        assert {
            message.content: message.status for message in factory().snapshot().messages if message.status == "pending"
        } == {"c": "pending"}
