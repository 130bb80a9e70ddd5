"""The ledger: asked, seen, answered, ended, and everything that can be odd about it."""

from __future__ import annotations

from team_console.store.views.rows import Flag, RequestState

from tests.views.chronicle import LEAD, Chronicle, row


def test_a_request_is_overdue_from_the_moment_its_kind_allows() -> None:
    story = Chronicle()
    story.stop()
    assert row(story.view(after=14.9), "stop-1").state is RequestState.OPEN
    late = row(story.view(after=15), "stop-1")
    assert (late.state, late.flags, late.is_open) == (RequestState.OVERDUE, (Flag.OVERDUE,), True)


def test_a_verdict_of_anyone_but_whom_it_was_put_to_decides_nothing() -> None:
    story = Chronicle()
    story.plan()
    forged = story.verdict(approve=True, sender="file-manager")
    story.stop()
    story.stopped("task-manager")
    view = story.view()
    plan = row(view, "plan-1")
    assert (plan.state, plan.verdict, plan.flags) == (RequestState.OPEN, None, (Flag.UNAUTHORISED,))
    assert plan.answers == (forged,)
    assert row(view, "stop-1").flags == (Flag.UNAUTHORISED,)


def test_the_first_of_two_contradictory_verdicts_stands_wherever_the_file_lists_it() -> None:
    story = Chronicle()
    story.plan()
    first = story.verdict(approve=True)
    story.verdict(approve=False, content="No")
    story.messages.append(first.with_changes(status="read"))  # a second copy of it is no second answer
    for _ in range(2):
        plan = row(story.view(), "plan-1")
        assert plan.verdict is not None
        assert (plan.state, plan.verdict.message_id) == (RequestState.APPROVED, first.message_id)
        assert set(plan.flags) == {Flag.CONTRADICTORY, Flag.ANSWERED_TWICE}
        assert len(plan.answers) == 2
        story.messages.append(story.messages.pop(1))


def test_verdicts_of_the_same_millisecond_keep_the_order_of_the_file() -> None:
    story = Chronicle()
    plan = story.plan()
    first = story.verdict(approve=False, content="No", created=plan.created)
    story.verdict(approve=True, created=plan.created)
    assert row(story.view(), "plan-1").verdict is first


def test_a_rejected_plan_knows_its_revision_and_an_approved_one_has_none() -> None:
    story = Chronicle()
    story.plan()
    story.verdict(approve=False, content="Add tests")
    story.plan(request_id="plan-2")
    story.verdict("plan-2", approve=True)
    story.plan(request_id="plan-3")
    view = story.view()
    assert (row(view, "plan-1").state, row(view, "plan-1").superseded_by) == (RequestState.REJECTED, "plan-2")
    assert (row(view, "plan-2").supersedes, row(view, "plan-2").superseded_by) == ("plan-1", None)
    assert row(view, "plan-3").supersedes is None


def test_a_plan_taken_back_and_a_copy_supersede_nothing() -> None:
    story = Chronicle()
    story.plan()
    story.plan(id="copy")
    story.change(story.plan(request_id="plan-2"), status="recalled")
    story.plan(request_id="plan-3")
    story.say("task-manager", LEAD, "request_withdrawn", request_id="plan-3", reason="wrong file")
    view = story.view()
    assert [row(view, item).state for item in ("plan-2", "plan-3")] == [RequestState.WITHDRAWN] * 2
    plan = row(view, "plan-1")
    assert (plan.state, plan.question.message_id) == (RequestState.OPEN, "m1")


def test_seen_is_told_apart_from_asked() -> None:
    story = Chronicle()
    plan = story.plan()
    assert row(story.view(), "plan-1").seen_at is None
    story.change(plan, status="read", read_at="2026-02-24T10:05:00Z")
    seen = row(story.view(), "plan-1").seen_at
    assert seen is not None
    assert seen.isoformat() == "2026-02-24T10:05:00+00:00"


def test_an_agent_that_writes_after_agreeing_is_still_alive_until_it_is_asked_again() -> None:
    story = Chronicle()
    story.stop()
    story.stopped()
    story.say("file-manager", LEAD)
    stop = row(story.view(), "stop-1")
    assert (stop.state, stop.ended, stop.flags) == (RequestState.APPROVED, False, (Flag.STILL_ALIVE,))
    story.stop(request_id="stop-2")
    story.stopped(request_id="stop-2")
    view = story.view()
    assert row(view, "stop-1").flags == ()
    assert row(view, "stop-2").ended


def test_an_agent_created_again_is_not_still_alive() -> None:
    story = Chronicle()
    story.stop("dev-1")
    story.stopped("dev-1")
    _made(story, "dev-1")
    story.say("dev-1", "slave-batch-1")
    assert row(story.view(), "stop-1").flags == ()


def test_saying_more_about_a_question_is_no_second_answer() -> None:
    story = Chronicle()
    ask = story.say("file-manager", LEAD, "clarify", question="Which year?", context="Report")
    story.say(LEAD, "file-manager", in_reply_to=ask.message_id, content="2026")
    story.say(LEAD, "file-manager", in_reply_to=ask.message_id, content="And 2025")
    assert row(story.view(), ask.message_id).flags == ()


def _wish(story: Chronicle, kind: str = "dev-runner", slave: str = "slave-batch-1") -> str:
    body = {"agent_type": kind, "role_hint": "Dev", "requested_by": slave}
    return story.sprint(slave, LEAD, "AGENT_CREATE_REQUEST", **body).message_id


def _made(story: Chronicle, name: str, kind: str = "dev-runner", slave: str = "slave-batch-1", **more: str) -> None:
    story.sprint(LEAD, slave, "AGENT_CREATED", agent_name=name, agent_type=kind, **more)


def test_creations_without_ids_are_paired_in_order_by_asker_and_agent_type() -> None:
    story = Chronicle()
    first, other, second = _wish(story), _wish(story, "reviewer"), _wish(story)
    _made(story, "dev-runner-3-1")
    view = story.view()
    assert [row(view, item).state for item in (first, other, second)] == ["approved", "open", "open"]
    _made(story, "dev-runner-3-2")
    assert row(story.view(), second).reason == "dev-runner-3-2"


def test_a_creation_that_quotes_its_request_is_paired_with_that_one() -> None:
    story = Chronicle()
    first, second = _wish(story), _wish(story)
    _made(story, "dev-runner-3-2", in_reply_to=second)
    _made(story, "dev-runner-3-1")
    view = story.view()
    assert (row(view, first).reason, row(view, second).reason) == ("dev-runner-3-1", "dev-runner-3-2")


def test_a_creation_announced_by_anyone_but_the_lead_takes_no_request_away() -> None:
    story = Chronicle()
    first, second = _wish(story), _wish(story)
    story.sprint("debugger", "slave-batch-1", "AGENT_CREATED", agent_name="x", agent_type="dev-runner")
    assert row(story.view(), first).flags == (Flag.UNAUTHORISED,)
    _made(story, "dev-runner-3-1")
    view = story.view()
    assert (row(view, first).reason, row(view, first).answered_by) == ("dev-runner-3-1", LEAD)
    assert row(view, second).state is RequestState.OPEN


def test_a_refused_creation_is_rejected_with_its_reason_and_the_next_one_is_another() -> None:
    story = Chronicle()
    wish = _wish(story)
    story.say(LEAD, "slave-batch-1", request_id=wish, in_reply_to=wish, approve=False, content="Too many")
    later = _wish(story)
    _made(story, "dev-runner-3-1")
    view = story.view()
    assert (row(view, wish).state, row(view, wish).reason) == (RequestState.REJECTED, "Too many")
    assert row(view, later).state is RequestState.APPROVED


def test_an_end_is_paired_by_the_name_of_the_agent() -> None:
    story = Chronicle()
    first = story.sprint("slave-batch-1", LEAD, "AGENT_DESTROY_REQUEST", agent_name="dev-1").message_id
    second = story.sprint("slave-batch-1", LEAD, "AGENT_DESTROY_REQUEST", agent_name="dev-2").message_id
    story.sprint(LEAD, "slave-batch-1", "AGENT_DESTROYED", agent_name="dev-2")
    view = story.view()
    assert (row(view, first).state, row(view, second).state) == ("open", "approved")
    assert row(view, second).ended


def test_debug_ids_used_again_by_another_asker_are_two_requests() -> None:
    story = Chronicle()
    body = {"debug_id": "DBG-001", "story_key": "3-1", "error_summary": "Failure"}
    for name in ("task-manager", "file-manager"):
        story.sprint(name, "debugger", "DEBUG_REQUEST", **body)
    story.sprint("debugger", "file-manager", "DEBUG_RESULT", debug_id="DBG-001", root_cause="A missing check")
    rows = {request.asker: request for request in story.view().requests}
    assert {request.request_id for request in rows.values()} == {"DBG-001"}
    assert len({request.key for request in rows.values()}) == 2
    assert rows["task-manager"].state is RequestState.OPEN
    assert (rows["file-manager"].state, rows["file-manager"].reason) == (RequestState.ANSWERED, "A missing check")


def test_browser_results_are_paired_by_the_id_of_the_request() -> None:
    story = Chronicle()
    for number in (1, 2):
        story.sprint("task-manager", "e2e-live", "BROWSER_REQUEST", request_id=f"BR-00{number}", operation="navigate")
    story.sprint("e2e-live", "task-manager", "BROWSER_RESULT", request_id="BR-002", status="success")
    view = story.view()
    assert (row(view, "BR-001").state, row(view, "BR-002").state) == ("open", "answered")


def test_research_is_paired_by_asker_and_story_in_order() -> None:
    story = Chronicle()
    asked = [
        story.sprint("task-manager", "kr", "RESEARCH_REQUEST", story_key=key, queries=[{"query": "Why?"}]).message_id
        for key in ("3-1", "3-2")
    ]
    story.sprint("kr", "task-manager", "RESEARCH_RESULT", story_key="3-2", results=[{"summary": "So"}])
    view = story.view()
    assert [row(view, question).state for question in asked] == ["open", "answered"]
    assert row(view, asked[1]).reason == "So"


def test_open_requests_come_first_oldest_on_top_then_the_answered_ones_newest_on_top() -> None:
    story = Chronicle()
    for number in range(1, 5):
        story.plan(f"agent-{number}", request_id=f"plan-{number}")
    story.verdict("plan-1", approve=True)
    story.verdict("plan-3", approve=True)
    assert [request.request_id for request in story.view().requests] == ["plan-2", "plan-4", "plan-3", "plan-1"]
