"""A fixed team with something of everything, at fixed times: for pictures and tests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from team_console.console.demo.past import carried
from team_console.console.demo.story import STORY
from team_console.store.protocol.client_requests import Permission, headline_of
from team_console.store.settings.team_config import Agent

from tests.equipment.past import GivenPast, make_team, revised, story_body, write

NOW = datetime(2026, 2, 24, 10, 34, 20, tzinfo=UTC)
"""The present moment of the showcase; open the team with this clock to see the ages as they are meant."""

LEAD = STORY.lead

AGENTS = (
    Agent(LEAD, role="master"),
    Agent("task-manager", plan_mode_required=True),
    Agent("schedule-manager"),
    Agent("file-manager"),
    Agent("knowledge-manager"),
    Agent("architect"),
    Agent("scrum-master", role="resident"),
    Agent("knowledge-researcher", role="resident"),
    Agent("debugger", role="resident"),
    Agent("slave-batch-1", role="slave"),
    Agent("slave-batch-2", role="slave"),
)

_PLANNED = 4 + 5 / 60
"""Minutes since the plan that waits was handed in."""
_TEMPS = {
    "dev-runner-3-1": (89.5, 79.8),
    "dev-runner-3-2": (72.5, 0.0),
    "dev-runner-3-3": (55.5, 45.8),
    "dev-runner-4-1": (29.5, 19.8),
    "dev-runner-4-2": (20.5, 0.0),
}
"""Since when and until when each temporary agent lived, in minutes ago."""


def build(root: Path) -> None:
    """Make the showcase team in the folder `root`, which must not hold a team yet.

    Raises:
        FileExistsError: There are settings in `root` already.
    """
    make_team(root, name=STORY.team, lead=LEAD, agents=AGENTS)
    past = GivenPast(NOW, AGENTS, _TEMPS)
    past.archived_talk(days=3)
    _batches(past)
    _answered(past)
    _talk(past)
    _waiting(past)
    _deliveries(past)
    _asked_by_clients(past)
    write(root, past)


def _batches(past: GivenPast) -> None:
    planned = {"summary": "Nine stories in three batches", "read": 94}
    past.sprint(95, "scrum-master", LEAD, "BATCH_PLAN_READY", story_body("BATCH_PLAN_READY"), **planned)
    for number, key in enumerate(("3-1", "3-2", "3-3")):
        _lifecycle(past, 90 - number * 17, "slave-batch-1", key, is_done=key != "3-2", is_ended=key != "3-2")
    for number, key in enumerate(("4-1", "4-2")):
        _lifecycle(past, 30 - number * 9, "slave-batch-2", key, is_done=True, is_ended=key == "4-1")


def _lifecycle(past: GivenPast, start: float, slave: str, key: str, *, is_done: bool, is_ended: bool) -> None:
    agent = f"dev-runner-{key}"
    past.begin_story(start, slave, agent, key, "knowledge-researcher", "debugger")
    if not is_done:
        return
    done = {
        "status": "success",
        "story_key": key,
        "session_id": STORY.values["session"],
        "results": {"tests": "142 passed"},
    }
    past.sprint(start - 9, agent, slave, "AGENT_COMPLETE", done, summary=f"Story {key} is done", read=start - 9.2)
    if not is_ended:
        return
    end = past.sprint(start - 9.5, slave, LEAD, "AGENT_DESTROY_REQUEST", {"agent_name": agent}, read=start - 10)
    stop = past.request_id("shutdown", start - 10.1, agent)
    past.say(
        start - 10.1, LEAD, agent, "shutdown_request", payload={"request_id": stop}, priority="high", read=start - 10.2
    )
    answer = {"request_id": stop, "approve": True}
    past.say(start - 10.3, agent, LEAD, "shutdown_response", payload=answer, priority="high", read=start - 10.4)
    gone = {"agent_name": agent, "in_reply_to": end.message_id}
    past.sprint(start - 10.2, LEAD, slave, "AGENT_DESTROYED", gone, read=start - 10.5)
    past.roster(start - 10.2)


def _answered(past: GivenPast) -> None:
    _rejected_plan(past)
    _refused_stop(past)
    _debugged(past)


def _rejected_plan(past: GivenPast) -> None:
    request_id = past.plan(25, "task-manager", STORY.lists["plans"][1], read=23, priority="high")
    refusal = {"reason": "Add error handling: what happens when a month fails?", "priority": "high"}
    past.verdict(22, "task-manager", request_id, False, read=21.8, **refusal)


def _refused_stop(past: GivenPast) -> None:
    stop = past.request_id("shutdown", 7, "file-manager")
    reason = {"request_id": stop, "content": "The export is done. Close your files, then stop."}
    past.say(7, LEAD, "file-manager", "shutdown_request", payload=reason, priority="high", read=6.9)
    refusal = {"request_id": stop, "approve": False, "content": STORY.values["refusal"]}
    past.say(6.5, "file-manager", LEAD, "shutdown_response", payload=refusal, priority="high")


def _debugged(past: GivenPast) -> None:
    debug = story_body("DEBUG_REQUEST", "3-2")
    past.sprint(
        14,
        "dev-runner-3-2",
        "debugger",
        "DEBUG_REQUEST",
        debug,
        summary="DBG-001: peer dependency conflict",
        read=13.8,
    )
    past.sprint(
        11,
        "debugger",
        "dev-runner-3-2",
        "DEBUG_RESULT",
        story_body("DEBUG_RESULT", "3-2"),
        summary="DBG-001: chart-kit pins React 17",
        read=10.8,
    )


def _talk(past: GivenPast) -> None:
    for number, line in enumerate(STORY.lists["chatter"]):
        minutes = 60 - number * 8
        sender, to, summary = line["sender"], line["to"], line["summary"]
        past.note(minutes, sender, to, summary, line["content"], read=minutes - 1)
        if number % 2 == 0:
            reply = STORY.fitting("replies", to)[0]["words"]
            past.note(minutes - 3, to, sender, f"Re: {summary}"[:80], reply, read=minutes - 4)
    notice = {
        "summary": "Code freeze starts today at four",
        "content": "Merge what is reviewed before 16:00. Fixes for the release go through me.",
    }
    group = "MSG-20260224-freeze42"
    for agent in AGENTS[1:]:
        read = None if agent.name in ("architect", "slave-batch-2") else 17.5
        past.say(18, LEAD, agent.name, "broadcast", payload=notice, priority="high", read=read, broadcast_id=group)
    past.note(
        3,
        "knowledge-manager",
        LEAD,
        "Decision page for the freeze is ready",
        "The page lists what may still be merged: `kb/decisions/D-131.md`.\n\n"
        "Two open pull requests do not fit it: **#418** and **#423**.",
    )
    past.note(
        2,
        "schedule-manager",
        "task-manager",
        "Export slot on Thursday moves to 15:00",
        "The rehearsal takes the 14:00 slot. Please confirm that the export can start an hour later.",
    )
    past.note(
        1.5,
        "schedule-manager",
        "file-manager",
        "请为周四的导出预留空间",
        "请在导出卷上预留 40 GB，并在测试运行结束后通知我。",
    )


def _waiting(past: GivenPast) -> None:
    plan = revised(STORY.lists["plans"][1], "Add error handling: what happens when a month fails?")
    past.plan(_PLANNED, "task-manager", plan, priority="high")
    issue = {
        "issue": "React 18 conflicts with the chart library: upgrade it, or stay on 17?",
        "severity": "blocker",
        "recommendation": "Upgrade chart-kit to 3.1; 14 files change, half a day with tests.",
        "impact": "Story 3-2 stands still; 4-2 needs the new charts.",
        "summary": "React 18 conflicts with the chart library",
    }
    past.say(2, "dev-runner-3-2", "user", "escalate", payload=issue, priority="critical")
    wish = {"agent_type": "story-creator", "role_hint": "Story creator", "requested_by": "slave-batch-2"}
    past.sprint(
        0.7,
        "slave-batch-2",
        LEAD,
        "AGENT_CREATE_REQUEST",
        wish,
        summary="Wants a story-creator",
        priority="high",
    )
    first = STORY.lists["clarifications"][0]
    ask = {**first, "summary": first["question"]}
    past.say(9, "schedule-manager", LEAD, "clarify", payload=ask, priority="high")


def _asked_by_clients(past: GivenPast) -> None:
    call = STORY.lists["calls"][1]
    origin = {"directory": STORY.values["folder"], "client": "claude-code"}
    past.say(
        *(0.5, "file-manager", LEAD, "permission_request"),
        payload={
            "request_id": past.request_id("permission", 0.5, "file-manager", STORY.team),
            "summary": headline_of(Permission(call["tool"], call["input"]), STORY.values["folder"]),
            "tool": call["tool"],
            "input": call["input"],
            "before": call["before"],
            "suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
            **origin,
        },
        priority="high",
    )
    (question,) = STORY.lists["questions"][0]["question"]
    past.say(
        *(1.2, "knowledge-manager", LEAD, "question_request"),
        payload={
            "request_id": past.request_id("question", 1.2, "knowledge-manager", STORY.team),
            "summary": question["question"],
            "questions": [question],
            **origin,
        },
        priority="high",
    )


def _deliveries(past: GivenPast) -> None:
    spec = {
        "artifact_path": "specs/SPEC-031-audit-log.md",
        "review_type": "specification",
        "summary": "SPEC-031 is ready for review",
    }
    past.say(
        *(8, "scrum-master", "architect", "review"),
        payload=spec,
        priority="high",
        status="failed",
        retry_count=3,
        max_retries=3,
        error_message="delivery_timeout: architect did not take it within 30 s",
    )
    past.say(
        *(1, "schedule-manager", "knowledge-researcher", "task_assignment"),
        payload={
            "task_id": "TASK-31-2",
            "spec_id": "SPEC-031",
            "priority": "medium",
            "summary": "Collect the audit rules of three customers",
        },
        status="retry",
        retry_count=1,
        max_retries=3,
        error_message="exit status 75: mailbox busy",
        next_attempt_at="2026-02-24T10:34:50.000Z",
    )
    content = carried(
        "RESEARCH_REQUEST",
        {
            "story_key": "4-2",
            "requesting_agent": "dev-runner-4-2",
            "queries": [
                {
                    "query": "ECB reference rates, licence for display",
                    "topic": "currencies",
                    "tags": ["rates"],
                    "priority": "high",
                }
            ],
        },
    )
    past.note(5, "dev-runner-4-2", "knowledge-researcher", "Research: licence of the ECB rates", content)
