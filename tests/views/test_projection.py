"""What a projection keeps between two looks: the messages that left the queue, and the last queue it could read."""

from __future__ import annotations

from team_console.store.contract.team import Condition
from team_console.store.views.projection import Projection

from tests.equipment.chronicle import LEAD, Chronicle, agent, creation, snapshot_of


def test_what_was_archived_counts_as_if_it_had_been_read_from_the_archive() -> None:
    story, board = Chronicle(), Projection(LEAD)
    creation(story, upto=8)
    story.plan()
    story.verdict(approve=True)
    story.say(LEAD, "debugger", status="read", read_at="2026-02-24T10:00:05.000Z")
    story.say("debugger", LEAD, "broadcast", summary="s", content="2 running, 2 done")
    board.update(story.snapshot(), story.now)
    for message in tuple(story.messages):
        story.archive(message)
        followed, fresh = board.update(story.snapshot(), story.now), story.view()
        for name in ("roster", "requests", "attention", "batches", "lifecycles", "findings"):
            assert getattr(followed, name) == getattr(fresh, name), name
    assert agent(followed, "debugger").reported == "2 running, 2 done"


def test_a_plan_that_a_foreign_writer_took_out_is_not_open_until_it_is_put_back() -> None:
    story = Chronicle()
    plan = story.plan()
    board = Projection(LEAD)
    assert board.update(story.snapshot(), story.now).requests[0].is_open
    story.lose(plan)
    assert board.update(story.snapshot(), story.now).requests == ()
    story.heal()
    assert board.update(story.snapshot(), story.now).requests[0].is_open


def test_rows_stay_while_the_store_cannot_be_read_and_recover_by_themselves() -> None:
    story = Chronicle()
    story.plan()
    board = Projection(LEAD)
    good = board.update(story.snapshot(), story.now)
    for condition in (Condition.UNREADABLE, Condition.VANISHED):
        view = board.update(snapshot_of((), condition=condition), story.now)
        assert (view.snapshot.is_known, view.snapshot.condition) == (False, condition)
        assert (view.requests, dict(view.inboxes), view.counts) == (good.requests, dict(good.inboxes), good.counts)
    assert board.update(story.snapshot(), story.now).requests == good.requests
