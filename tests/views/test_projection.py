"""What a projection keeps between two looks: the messages that left the queue, and the last queue it could read."""

from __future__ import annotations

import sys
from itertools import count, repeat

from team_console.store.contract.snapshot import Condition
from team_console.store.views.projection import Projection

from tests.equipment.chronicle import LEAD, Chronicle, agent, creation, snapshot_of
from tests.proofs.benchmarks.data import letters

_MOST_CALLS = 90
"""Calls for each message of a view that is made again: 83 in Python 3.11; later ones need fewer."""


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


def test_of_many_messages_that_left_the_queue_the_newest_say_who_was_seen() -> None:
    story, board = Chronicle(), Projection(LEAD)
    archived = [story.say(sender, LEAD) for sender in ("file-manager", *repeat("debugger", 10_000))]
    view = board.update(snapshot_of((), config=story.config), story.now, reversed(archived))
    assert [agent(view, name).last_seen is not None for name in ("file-manager", "debugger")] == [False, True]


def test_a_view_that_is_made_again_takes_few_calls_for_each_message() -> None:
    """A change is on the screen once there is a view of the whole queue with it: calls are counted, not seconds."""
    small, large = map(_calls_of_a_view, (100, 300))
    assert (large - small) / 200 <= _MOST_CALLS


def _calls_of_a_view(size: int) -> int:
    board, calls = Projection(LEAD), count()
    snapshot, now = snapshot_of(tuple(letters(size))), Chronicle().now
    board.update(snapshot, now)  # what each message says is remembered
    sys.setprofile(lambda frame, event, argument: next(calls) if event == "call" else None)
    try:
        board.update(snapshot, now)
    finally:
        sys.setprofile(None)
    return next(calls)
