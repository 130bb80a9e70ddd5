"""Messages and requests from Python: written, taken once, waited for, answered, found again after a restart."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from team_console.store.api import AgentClient, Code, Receipt, TeamError, join_team
from team_console.store.backends.open import open_team
from team_console.store.model.clock import utc_now
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import clear
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.verdicts import FollowedVerdict

from tests.api.conftest import Join
from tests.equipment.asking import refusal
from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock

SUMMARY = "State of the export job please"


def test_a_look_takes_nothing(join: Join) -> None:
    join("ceo").send("task-manager", "?", summary=SUMMARY)
    agent = join("task-manager", read_only=True)
    assert [message.content for message in agent.peek().messages] == ["?"]
    assert refusal(agent.receive).code is Code.READ_ONLY
    assert len(join("task-manager").receive().messages) == 1


def test_a_lease_that_ended_cannot_be_acknowledged_with_the_old_message(team: CommandLine) -> None:
    clock = FakeClock()
    with AgentClient(open_team(str(team.folder), clock=clock), "task-manager") as agent:
        with AgentClient(open_team(str(team.folder), clock=clock), "ceo") as lead:
            lead.send("task-manager", "?", summary=SUMMARY)
        (first,) = agent.receive(lease=60).messages
        clock.advance(61)
        (second,) = agent.receive(lease=60).messages
        assert refusal(agent.acknowledge, first).code is Code.NOT_PERMITTED
        assert agent.acknowledge(second).messages[0].status == "read"


def test_an_event_loop_is_not_stopped_by_a_wait(team: CommandLine) -> None:
    with join_team(team.folder, "task-manager") as agent:

        async def waits_here() -> None:
            agent.receive(wait=1)

        refused = refusal(lambda: asyncio.run(waits_here()))
    assert (refused.code, "event loop" in refused.message, "to_thread" in refused.hint) == (Code.USAGE, True, True)


def test_a_large_content_is_whole_and_an_altered_one_is_refused(team: CommandLine) -> None:
    text = "line of a long report\n" * 6000
    with join_team(team.folder, "ceo") as lead, join_team(team.folder, "task-manager") as agent:
        lead.send("task-manager", text, summary="Report of all exports of February")
        (message,) = agent.receive().messages
        assert len(message.content) < len(text)
        assert agent.content_of(message) == text
        attachment = team.folder / message.payload["attachment"]["path"]
        attachment.write_text("something else", encoding="utf-8")
        assert refusal(agent.content_of, message).code is Code.INVALID_FIELD


def test_joining_names_what_is_wrong(tmp_path: Path) -> None:
    told = [refusal(join_team, tmp_path, name).code for name in ("ceo", "../ceo")]
    assert told == [Code.TEAM_NOT_FOUND, Code.INVALID_NAME]


PATIENCE = 60.0
PLAN = "1. Split loader and renderer"


def test_a_plan_is_waited_for_until_the_lead_approves_it(join: Join, aside: ThreadPoolExecutor) -> None:
    agent, lead = join("task-manager"), join("ceo")

    def lead_answers() -> Receipt:
        (question,) = lead.receive(wait=PATIENCE, type="plan_approval_request").messages
        return lead.approve(question, note="Go ahead")

    assert refusal(agent.request("plan_approval-1@nobody").wait, timeout=PATIENCE).code is Code.INVALID_REQUEST_ID
    answering = aside.submit(lead_answers)
    answer = agent.submit_plan(PLAN).wait(timeout=PATIENCE)
    assert answer is not None
    assert (answer.is_approved, answer.reason, answer.answered_by) == (True, "Go ahead", "ceo")
    assert answering.result(PATIENCE).request_id == answer.request_id
    (row,) = lead.requests()
    refused = refusal(lead.reject, row, reason="No")
    assert (refused.code, refused.facts["answered_by"]) == (Code.ALREADY_ANSWERED, "ceo")


def test_an_answer_is_found_after_a_restart_when_everything_is_archived(team: CommandLine) -> None:
    with join_team(team.folder, "task-manager") as agent:
        request_id = agent.submit_plan(PLAN).request_id
    team.ok("approve", request_id, "--note", "Go ahead")
    team.ok("receive --agent task-manager")
    team.ok("clear --older-than-days 0")
    with join_team(team.folder, "task-manager") as agent:
        assert agent.status()["messages"].get("read", 0) == 0
        answer = agent.request(request_id).wait(timeout=PATIENCE)
    assert answer is not None
    assert (answer.is_approved, answer.reason) == (True, "Go ahead")


def test_an_answer_that_came_and_was_archived_between_two_looks_is_seen() -> None:
    """In a store without an audit trail of requests, where only the archive can tell."""
    clock = FakeClock()
    team = MemoryTeam(config=TeamConfig(name="sprint-42", lead="ceo"), clock=clock)
    lead, agent = AgentClient(team, "ceo"), AgentClient(team, "task-manager")
    plan = agent.submit_plan(PLAN)
    follower = FollowedVerdict(team, plan.request_id, me="task-manager")
    assert follower.look().is_open
    lead.approve(plan.request_id)
    assert len(agent.receive().messages) == 1
    clock.advance(60)
    assert clear(Caller(team, "ceo"), older_than_days=0).deleted == 2
    assert follower.look().is_approved


def test_a_queue_that_cannot_be_read_is_what_a_wait_ends_with_and_a_status(team: CommandLine) -> None:
    with join_team(team.folder, "task-manager") as agent:
        plan = agent.submit_plan(PLAN)
        (team.folder / "message-queue.yaml").write_bytes(b"\x00\xff\xfe no yaml")
        assert refusal(plan.wait, timeout=0.1).code is Code.STORE_UNREADABLE
        status = agent.status()
    assert (status["condition"], status["messages"]) == ("unreadable", None)


@cases
def test_an_argument_of_another_type_is_refused(join: Join, method: str, given: dict[str, Any]) -> None:
    client = join("task-manager")
    with pytest.raises(TeamError) as refused:
        getattr(client, method)(**given)
    assert refused.value.code is Code.INVALID_FIELD
    assert client.requests() == ()
    assert join("file-manager").peek().messages == ()


def test_every_argument_of_every_method_is_looked_at(join: Join) -> None:
    client = join("task-manager")
    methods = inspect.getmembers(client, inspect.ismethod)
    found = [
        (name, each) for name, method in methods for each in inspect.signature(method).parameters if name[0] != "_"
    ]
    assert len(found) > 30
    for name, each in found:
        assert refusal(getattr(client, name), **{each: object()}).code is Code.INVALID_FIELD, (name, each)


def test_a_closed_client_does_nothing(join: Join) -> None:
    agent, lead = join("task-manager"), join("ceo")
    lead.send("task-manager", "?", summary=SUMMARY)
    plan = agent.submit_plan("1. Export the rows")
    agent.close()
    agent.close()
    acts: list[Callable[[], object]] = [
        *(agent.receive, agent.peek, agent.roster, agent.status, agent.requests, plan.look, plan.wait),
        partial(agent.receive, wait=0),
        partial(agent.send, "ceo", "Done.", summary=SUMMARY),
        partial(agent.ask_question, "Which format?"),
        partial(agent.withdraw, plan, reason="not needed"),
    ]
    assert {refusal(act).code for act in acts} == {Code.USAGE}
    assert [message.content for message in join("task-manager").receive().messages] == ["?"]


def test_a_wait_of_a_client_that_is_closed_meanwhile_takes_nothing(join: Join, aside: ThreadPoolExecutor) -> None:
    agent = join("task-manager")
    waiting = aside.submit(refusal, partial(agent.receive, wait=60))
    agent.close()
    join("ceo").send("task-manager", "?", summary=SUMMARY)
    assert waiting.result().code is Code.USAGE
    assert len(join("task-manager").receive().messages) == 1


def test_a_client_works_in_a_process_that_was_forked_in_the_middle_of_a_look(location: str) -> None:
    begun, over = threading.Event(), threading.Event()

    def clock() -> datetime:
        if threading.current_thread() is looking:
            begun.set()
            over.wait(60)
        return utc_now()

    team = open_team(location, clock=clock)
    looking = threading.Thread(target=team.snapshot, daemon=True)
    with AgentClient(team, "ceo", reopen=partial(open_team, location)) as lead:
        looking.start()
        assert begun.wait(60)
        child = os.fork()
        if not child:
            signal.alarm(10)  # for whoever waits for ever
            os._exit(_sent(lead) and not lead.requests())
        over.set()
        looking.join()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        is_sent = not location.endswith(".db")  # SQLite does not bear it, so it is refused
        assert status == is_sent
        lead.send("task-manager", "!", summary=SUMMARY)
        with join_team(location, "task-manager") as agent:
            assert {message.content for message in agent.receive().messages} == {"!", *(["?"] if is_sent else [])}


def _sent(lead: AgentClient) -> bool:
    try:
        return len(lead.send("task-manager", "?", summary=SUMMARY).messages) == 1
    except TeamError as error:
        if error.code is Code.STORE_FAILED and "was forked" in error.message:
            return False
        os._exit(3)
