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


def test_a_verdict_of_anyone_but_the_lead_decides_nothing() -> None:
    story = Chronicle()
    story.plan()
    forged = story.verdict(approve=True, sender="file-manager")
    plan = row(story.view(), "plan-1")
    assert (plan.state, plan.verdict, plan.flags) == (RequestState.OPEN, None, (Flag.UNAUTHORISED,))
    assert plan.answers == (forged,)


def test_the_first_of_two_contradictory_verdicts_stands() -> None:
    story = Chronicle()
    story.plan()
    first = story.verdict(approve=True)
    story.verdict(approve=False, content="No")
    plan = row(story.view(), "plan-1")
    assert (plan.state, plan.verdict) == (RequestState.APPROVED, first)
    assert set(plan.flags) == {Flag.CONTRADICTORY, Flag.ANSWERED_TWICE}


def test_first_means_written_first_even_when_the_file_lists_it_later() -> None:
    story = Chronicle()
    story.plan()
    first = story.verdict(approve=True)
    story.verdict(approve=False, content="No")
    story.messages.append(story.messages.pop(1))
    assert row(story.view(), "plan-1").verdict is first


def test_verdicts_of_the_same_millisecond_keep_the_order_of_the_file() -> None:
    story = Chronicle()
    plan = story.plan()
    first = story.verdict(approve=False, content="No", created=plan.created)
    story.verdict(approve=True, created=plan.created)
    assert row(story.view(), "plan-1").verdict is first


def test_two_copies_of_one_answer_in_the_queue_are_one_answer() -> None:
    story = Chronicle()
    story.plan()
    verdict = story.verdict(approve=True)
    story.messages.append(verdict.with_changes(status="read"))
    plan = row(story.view(), "plan-1")
    assert (plan.answers, plan.flags) == ((verdict,), ())


def test_a_rejected_plan_stays_rejected_and_knows_its_revision() -> None:
    story = Chronicle()
    story.plan()
    story.verdict(approve=False, content="Add tests")
    story.plan(request_id="plan-2")
    view = story.view()
    assert (row(view, "plan-1").state, row(view, "plan-1").superseded_by) == (RequestState.REJECTED, "plan-2")
    assert row(view, "plan-2").supersedes == "plan-1"


def test_a_plan_after_an_approved_one_is_a_new_plan() -> None:
    story = Chronicle()
    story.plan()
    story.verdict(approve=True)
    story.plan(request_id="plan-2")
    view = story.view()
    assert row(view, "plan-2").supersedes is None
    assert row(view, "plan-1").superseded_by is None


def test_a_recalled_plan_is_withdrawn_and_supersedes_nothing() -> None:
    story = Chronicle()
    story.plan()
    story.change(story.plan(request_id="plan-2"), status="recalled")
    view = story.view()
    assert row(view, "plan-2").state is RequestState.WITHDRAWN
    assert row(view, "plan-1").state is RequestState.OPEN


def test_a_copy_of_a_plan_under_its_own_id_does_not_supersede_it() -> None:
    story = Chronicle()
    story.plan()
    story.plan(id="copy")
    plan = row(story.view(), "plan-1")
    assert (plan.state, plan.question.message_id) == (RequestState.OPEN, "m1")


def test_seen_is_told_apart_from_asked() -> None:
    story = Chronicle()
    plan = story.plan()
    assert row(story.view(), "plan-1").seen_at is None
    story.change(plan, status="read", read_at="2026-02-24T10:05:00Z")
    seen = row(story.view(), "plan-1").seen_at
    assert seen is not None
    assert seen.isoformat() == "2026-02-24T10:05:00+00:00"


def test_an_agent_that_writes_after_agreeing_is_approved_but_still_alive() -> None:
    story = Chronicle()
    story.stop()
    story.stopped()
    story.say("file-manager", LEAD)
    stop = row(story.view(), "stop-1")
    assert (stop.state, stop.ended, stop.flags) == (RequestState.APPROVED, False, (Flag.STILL_ALIVE,))


def test_only_the_latest_stop_of_an_agent_is_held_against_it() -> None:
    story = Chronicle()
    story.stop()
    story.stopped()
    story.say("file-manager", LEAD)
    story.stop(request_id="stop-2")
    story.stopped(request_id="stop-2")
    view = story.view()
    assert row(view, "stop-1").flags == ()
    assert row(view, "stop-2").ended


def test_an_agent_created_again_is_not_still_alive() -> None:
    story = Chronicle()
    story.stop("dev-1")
    story.stopped("dev-1")
    story.sprint(LEAD, "slave-batch-1", "AGENT_CREATED", agent_name="dev-1", agent_type="dev")
    story.say("dev-1", "slave-batch-1")
    assert row(story.view(), "stop-1").flags == ()


def test_only_the_agent_itself_answers_its_stop() -> None:
    story = Chronicle()
    story.stop()
    story.stopped("task-manager")
    assert row(story.view(), "stop-1").flags == (Flag.UNAUTHORISED,)


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
    wish = _wish(story)
    story.sprint("debugger", "slave-batch-1", "AGENT_CREATED", agent_name="x", agent_type="dev-runner")
    assert row(story.view(), wish).flags == (Flag.UNAUTHORISED,)
    _made(story, "dev-runner-3-1")
    request = row(story.view(), wish)
    assert (request.state, request.answered_by) == (RequestState.APPROVED, LEAD)


def test_a_forged_creation_does_not_move_the_real_one_to_the_next_request() -> None:
    story = Chronicle()
    first, second = _wish(story), _wish(story)
    story.sprint("debugger", "slave-batch-1", "AGENT_CREATED", agent_name="x", agent_type="dev-runner")
    _made(story, "dev-runner-3-1")
    view = story.view()
    assert (row(view, first).reason, row(view, second).state) == ("dev-runner-3-1", RequestState.OPEN)


def test_a_refused_creation_is_rejected_with_its_reason() -> None:
    story = Chronicle()
    wish = _wish(story)
    story.say(LEAD, "slave-batch-1", request_id=wish, in_reply_to=wish, approve=False, content="Too many")
    request = row(story.view(), wish)
    assert (request.state, request.reason) == (RequestState.REJECTED, "Too many")
    later = _wish(story)
    _made(story, "dev-runner-3-1")
    assert row(story.view(), later).state is RequestState.APPROVED


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
