"""Whatever happens to a queue, a board that followed it shows what a fresh look would."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from team_console.store.contract.team import Condition
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message
from team_console.store.views.board import Board, view_of
from team_console.store.views.rows import View

from tests.views.chronicle import LEAD, Chronicle, snapshot_of, task
from tests.views.chronicle import settings as team_settings

pytestmark = pytest.mark.slow

NAMES = ("task-manager", "file-manager", "slave-batch-1", "debugger", "dev-1", "dev-2", "user", LEAD)
IDS = ("r1", "r2", "r3")
STATUSES = ("pending", "read", "delivered", "retry", "failed", "expired", "recalled", "claimed")
Act = Callable[[Chronicle, st.DataObject], object]


def _plain(story: Chronicle, data: st.DataObject) -> object:
    sender, to = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from((*NAMES, "all", "nobody")))
    known = [message.message_id for message in story.messages]
    reply = {"in_reply_to": data.draw(st.sampled_from([*known, "nothing-that-is-known", *IDS]))}
    return story.say(sender, to, priority=data.draw(st.sampled_from(("critical", "high", "low"))), **reply)


def _report(story: Chronicle, data: st.DataObject) -> object:
    """State reports, some about the same, and plain talk that wants an answer."""
    sender, to = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from((*NAMES, "all")))
    number, status = data.draw(st.integers(1, 3)), data.draw(st.sampled_from(("pending", "read")))
    acts: tuple[Callable[[], object], ...] = (
        lambda: story.say(sender, to, "broadcast", summary="s", content=f"{number} running, 2 done"),
        lambda: story.say(sender, to, "notify", message=f"Freeze {number}"),
        lambda: story.say(sender, to, status=status),
        lambda: story.say(sender, to, "shutdown_request", request_id=f"r{number}"),
        lambda: story.say(sender, to, "task_complete"),
    )
    return data.draw(st.sampled_from(acts))()


def _ask(story: Chronicle, data: st.DataObject) -> object:
    name = data.draw(st.sampled_from(NAMES))
    kinds = ("plan", "stop", "create", "destroy", "escalate", "debug", "research", "permission", "question")
    kind = data.draw(st.sampled_from(kinds))
    request_id = data.draw(st.sampled_from(IDS))
    ends = story.now + timedelta(seconds=data.draw(st.sampled_from((-5, 2, 15, 500))))
    expiring: dict[str, Any] = {
        "request_id": request_id,
        "expires": data.draw(st.sampled_from((to_text(ends), "never", ""))),
    }
    agent = data.draw(st.sampled_from(("dev-1", "dev-2")))
    return {
        "plan": lambda: story.plan(name, **expiring),
        "permission": lambda: story.say(name, LEAD, "permission_request", tool="Bash", input={}, **expiring),
        "question": lambda: story.say(name, LEAD, "question_request", questions=[{"question": "?"}], **expiring),
        "stop": lambda: story.stop(name, request_id=request_id),
        "create": lambda: story.sprint(name, LEAD, "AGENT_CREATE_REQUEST", agent_type="dev"),
        "destroy": lambda: story.sprint(name, LEAD, "AGENT_DESTROY_REQUEST", agent_name=agent),
        "escalate": lambda: story.say(name, "user", "escalate", issue="Broken"),
        "debug": lambda: story.sprint(name, "debugger", "DEBUG_REQUEST", debug_id=request_id),
        "research": lambda: story.sprint(name, "kr", "RESEARCH_REQUEST", story_key="3-1"),
    }[kind]()


def _answer(story: Chronicle, data: st.DataObject) -> object:
    name = data.draw(st.sampled_from((LEAD, "file-manager", "debugger", "kr", "dev-1")))
    to, request_id = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from(IDS))
    approve = data.draw(st.booleans())
    agent = data.draw(st.sampled_from(("dev-1", "dev-2")))
    quoted = data.draw(st.sampled_from([message.message_id for message in story.messages] or ["m0"]))
    kinds = ("plan", "stop", "created", "refused", "destroyed", "debug", "research", "permission", "question")
    kind = data.draw(st.sampled_from(kinds))
    decision: dict[str, Any] = {
        "request_id": request_id,
        "approve": approve,
        "answers": {"?": "yes"} if quoted < "m5" else {},
    }
    return {
        "permission": lambda: story.say(name, to, "permission_response", **decision),
        "question": lambda: story.say(name, to, "question_response", **decision),
        "plan": lambda: story.verdict(request_id, approve=approve, sender=name, to=to),
        "stop": lambda: story.stopped(name, request_id=request_id, approve=approve),
        "created": lambda: story.sprint(name, to, "AGENT_CREATED", agent_name=agent, agent_type="dev"),
        "refused": lambda: story.say(name, to, in_reply_to=quoted, approve=approve),
        "destroyed": lambda: story.sprint(name, to, "AGENT_DESTROYED", agent_name=agent),
        "debug": lambda: story.sprint(name, to, "DEBUG_RESULT", debug_id=request_id),
        "research": lambda: story.sprint(name, to, "RESEARCH_RESULT", story_key="3-1"),
    }[kind]()


def _sprint(story: Chronicle, data: st.DataObject) -> object:
    agent, key = data.draw(st.sampled_from(("dev-1", "dev-2"))), data.draw(st.sampled_from(("3-1", "3-2")))
    batches = [{"batch_id": 1, "stories": ["3-1", "3-2"]}]
    kind = data.draw(st.sampled_from(("task", "report", "plan", "batch", "roster", "empty roster", "unknown")))
    done: dict[str, Any] = {"batch_id": 1, "session_id": "s1", "stories_completed": [key], "stories_failed": []}
    acts: dict[str, Callable[[], object]] = {
        "task": lambda: story.sprint("slave-batch-1", agent, "TASK_ASSIGNMENT", **task(key)),
        "report": lambda: story.sprint(agent, "slave-batch-1", "AGENT_COMPLETE", status="success", results={}),
        "plan": lambda: story.sprint("scrum-master", LEAD, "BATCH_PLAN_READY", session_id="s1", batches=batches),
        "batch": lambda: story.sprint("slave-batch-1", LEAD, "SLAVE_BATCH_COMPLETE", **done),
        "roster": lambda: story.roster(agent),
        "empty roster": lambda: story.roster(),
        "unknown": lambda: story.say(agent, LEAD, "some_kind"),
    }
    return acts[kind]()


def _status(story: Chronicle, data: st.DataObject) -> object:
    if not story.messages:
        return None
    message = data.draw(st.sampled_from(story.messages))
    return story.change(message, status=data.draw(st.sampled_from(STATUSES)))


def _edit(story: Chronicle, data: st.DataObject) -> object:
    """Somebody edits the file by hand."""
    if not story.messages:
        return None
    message = data.draw(st.sampled_from(story.messages))
    return story.change(message, to=data.draw(st.sampled_from(NAMES)))


def _leave(story: Chronicle, data: st.DataObject) -> object:
    ids = [message.message_id for message in story.messages]
    once = [message for message in story.messages if ids.count(message.message_id) == 1]
    if once:
        story.archive(data.draw(st.sampled_from(once)))
    return None


def _lose(story: Chronicle, data: st.DataObject) -> None:
    """A foreign writer takes messages out of the file, or the next write heals what it took."""
    if data.draw(st.booleans()):
        story.heal()
    elif story.messages:
        story.lose(data.draw(st.sampled_from(story.messages)))


def _come_back(story: Chronicle, data: st.DataObject) -> object:
    """A foreign writer puts an archived message back, at any place."""
    if story.archived:
        message = data.draw(st.sampled_from(story.archived))
        story.messages.insert(data.draw(st.integers(0, len(story.messages))), message)
    return None


def _reorder(story: Chronicle, data: st.DataObject) -> object:
    if len(story.messages) > 1:
        message = story.messages.pop(data.draw(st.integers(0, len(story.messages) - 1)))
        story.messages.insert(data.draw(st.integers(0, len(story.messages))), message)
    return None


def _copy(story: Chronicle, data: st.DataObject) -> object:
    if story.messages:
        story.messages.append(data.draw(st.sampled_from(story.messages)).with_changes(status="pending"))
    return None


def _record(story: Chronicle, data: st.DataObject) -> None:
    """The desk wrote some of the messages, or the next holder of the lock takes what others wrote onto the trail."""
    if story.messages:
        story.record(data.draw(st.sampled_from(story.messages)), by_desk=data.draw(st.booleans()))


def _flip(story: Chronicle, data: st.DataObject) -> object:
    """Somebody turns a verdict round in the file."""
    verdicts = [message for message in story.messages if "approve" in message.payload]
    if not verdicts:
        return None
    message = data.draw(st.sampled_from(verdicts))
    return story.change(message, payload={**message.payload, "approve": not message.payload["approve"]})


def _forge(story: Chronicle, data: st.DataObject) -> object:
    """An answer with a date of long ago, or of a clock that is ahead."""
    request_id = data.draw(st.sampled_from(IDS))
    year = data.draw(st.sampled_from(("2020", "2036")))
    return story.verdict(request_id, approve=data.draw(st.booleans()), created=f"{year}-01-01T00:00:00.000Z")


def _withdraw(story: Chronicle, data: st.DataObject) -> object:
    name, request_id = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from(IDS))
    return story.say(name, LEAD, "request_withdrawn", request_id=request_id, reason="timed out")


def _clock(story: Chronicle, data: st.DataObject) -> None:
    """The clock is set, forward or back."""
    story.now += timedelta(hours=data.draw(st.sampled_from((-30, -1, 1, 30))))


ACTS: tuple[Act, ...] = (
    *(_plain, _report, _ask, _ask, _answer, _answer, _sprint, _sprint),
    *(_record, _record, _record, _flip, _forge, _withdraw, _clock),
    *(_status, _status, _edit, _leave, _lose, _lose, _come_back, _reorder, _copy),
)


def assert_same(view: View, other: View) -> None:
    """Field by field, so that a difference is named."""
    for field in View.__struct_fields__:
        left, right = getattr(view, field), getattr(other, field)
        if field == "inboxes":
            left, right = dict(left), dict(right)
        assert left == right, field


@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data(), me=st.sampled_from((LEAD, "user", "debugger")), declared=st.booleans(), trail=st.booleans())
def test_a_followed_queue_looks_like_a_fresh_one(data: st.DataObject, me: str, declared: bool, trail: bool) -> None:
    story = Chronicle(config=team_settings(declared=declared))
    if trail:
        story.record()
    board, waiter = Board(me), Board(me, requests_only=True)
    for _ in range(data.draw(st.integers(1, 8))):
        for _ in range(data.draw(st.integers(1, 5))):
            data.draw(st.sampled_from(ACTS))(story, data)
        story.wait(data.draw(st.sampled_from((0.0, 20.0, 400.0))))
        snapshot = story.snapshot()
        past = _history(story)
        followed = board.update(snapshot, story.now, past)
        assert_same(followed, view_of(snapshot, me=me, now=story.now, history=past))
        partly = view_of(snapshot, me=me, now=story.now, history=past, complete=False).requests
        assert waiter.requests(snapshot, story.now, past) == partly


def _history(story: Chronicle) -> list[Message]:
    """The archive as a backend gives it: newest first."""
    return sorted(story.archived, key=lambda message: message.created, reverse=True)


def test_a_plan_that_a_foreign_writer_took_out_is_not_open_until_it_is_put_back() -> None:
    story = Chronicle()
    plan = story.plan()
    board = Board(LEAD)
    assert board.update(story.snapshot(), story.now).requests[0].is_open
    story.lose(plan)
    assert board.update(story.snapshot(), story.now).requests == ()
    story.heal()
    assert board.update(story.snapshot(), story.now).requests[0].is_open


def test_a_plan_found_to_be_lost_only_later_does_not_stay_open() -> None:
    story = Chronicle()
    story.lose(story.plan())
    board = Board(LEAD)
    story.messages, story.lost = story.lost, []
    board.update(story.snapshot(), story.now)
    story.messages, story.lost = [], story.messages
    assert board.update(snapshot_of(()), story.now).requests[0].is_open
    assert board.update(story.snapshot(), story.now).requests == ()


def test_many_messages_written_into_one_gap_keep_their_order() -> None:
    story = Chronicle()
    first, last = story.say(LEAD, "debugger", id="first"), story.say(LEAD, "debugger", id="last", priority="medium")
    same = {"created": first.created, "priority": "medium"}
    story.messages[1] = last.with_changes(created=first.created)
    board = Board(LEAD)
    board.update(story.snapshot(), story.now)
    for number in range(120):
        story.messages.insert(1, story.say(LEAD, "debugger", id=f"gap-{number}", **same))
        story.messages.pop()
        view = board.update(story.snapshot(), story.now)
    assert [inbox.message_id for inbox in view.inboxes["debugger"]] == [
        message.message_id for message in story.messages
    ]


def test_a_change_of_settings_judges_everything_again() -> None:
    story = Chronicle()
    story.plan()
    verdict = story.verdict(approve=True)
    board = Board(LEAD)
    assert board.update(story.snapshot(), story.now).requests[0].state == "approved"
    story.archive(verdict)
    board.update(story.snapshot(), story.now)
    story.config = team_settings(declared=False)
    assert_same(board.update(story.snapshot(), story.now), story.view())
    assert board.update(story.snapshot(), story.now).requests[0].state == "approved"


def test_rows_stay_while_the_store_cannot_be_read_and_recover_by_themselves() -> None:
    story = Chronicle()
    story.plan()
    board = Board(LEAD)
    good = board.update(story.snapshot(), story.now)
    for condition in (Condition.UNREADABLE, Condition.VANISHED):
        view = board.update(snapshot_of((), condition=condition), story.now)
        assert (view.stale, view.snapshot.condition) == (True, condition)
        assert (view.requests, dict(view.inboxes), view.counts) == (good.requests, dict(good.inboxes), good.counts)
    assert_same(board.update(story.snapshot(), story.now + timedelta(0)), good)


def test_an_empty_queue_is_not_stale() -> None:
    story = Chronicle()
    story.plan()
    board = Board(LEAD)
    board.update(story.snapshot(), story.now)
    view = board.update(snapshot_of((), condition=Condition.EMPTY), story.now)
    assert (view.stale, dict(view.inboxes)) == (False, {})
    assert [request.request_id for request in view.requests] == ["plan-1"]
