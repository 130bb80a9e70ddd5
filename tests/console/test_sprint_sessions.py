"""Mode 5 tells sessions apart, and mode 3 says at every width what kind of request a row is."""

from __future__ import annotations

import pytest
from team_console.store.service import sending
from team_console.store.service.caller import Caller

from tests.console.conftest import LEAD, opened
from tests.equipment.chronicle import task
from tests.equipment.memory_team import MemoryTeam

SESSIONS = ("sprint-xxx", "sprint-yyy")
pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_each_of_two_sessions_has_a_head_with_its_own_count(team: MemoryTeam) -> None:
    for session in SESSIONS:
        batches = [{"batch_id": 1, "stories": ["3-1", "3-2"]}, {"batch_id": 2, "stories": ["4-1"]}]
        plan: dict[str, object] = {
            "session_id": session,
            "total_stories": 3,
            "batches": batches,
            "dependency_graph": {},
        }
        sending.send(Caller(team, "task-manager"), to=LEAD, type="BATCH_PLAN_READY", payload=plan)
    report = {"batch_id": 2, "session_id": "sprint-xxx", "stories_completed": ["4-1"], "stories_failed": []}
    sending.send(
        Caller(team, "task-manager"), to=LEAD, type="SLAVE_BATCH_COMPLETE", payload={**report, "batch_report": ""}
    )
    work: dict[str, object] = {**task("3-1", "task-manager"), "session_id": "sprint-yyy"}
    sending.send(Caller(team, "task-manager"), to="file-manager", type="TASK_ASSIGNMENT", payload=work)
    ended: dict[str, object] = {"status": "failed", "results": {}}
    sending.send(Caller(team, "file-manager"), to="task-manager", type="AGENT_COMPLETE", payload=ended)
    async with opened(team) as desk:
        await desk.press("5")
        await desk.shows("session sprint-xxx  1/3", "session sprint-yyy  0/3")
        assert [("1 failed" in desk.text.partition(name)[2].partition("\n")[0]) for name in SESSIONS] == [False, True]
        first, second = ([f"session:{name}", *(f"batch:{name}/{number}" for number in (1, 2))] for name in SESSIONS)
        assert desk.rows == [*first, *second[:2], "life:file-manager", second[2]]
