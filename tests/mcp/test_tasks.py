"""Clients with the Tasks extension: an open request is a task, others get the ticket."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, Result
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel
from team_console.store.service import requests

from tests.mcp.conftest import AGENT, LEAD, OTHER, Place, told

pytestmark = pytest.mark.slow


class Task(Result):
    """A task as it is created."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")
    result_type: Literal["task"] = "task"
    task_id: str
    status: str


class Follows(ClientExtension):
    """A client that follows tasks, and keeps those it was given."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self) -> None:
        self.tasks: list[str] = []

    def claims(self) -> list[ResultClaim[Any]]:
        """Every task is kept, and its end waited for elsewhere."""

        async def keep(task: Task, context: ClaimContext) -> CallToolResult:
            self.tasks.append(task.task_id)
            return CallToolResult(content=[], structured_content={"status": task.status}, is_error=True)

        return [ResultClaim(result_type="task", model=Task, resolve=keep)]


async def ask(session: ClientSession, method: str, task: str) -> dict[str, Any]:
    """A method of the extension on a task."""
    from mcp_types import Request, RequestParams

    class Params(RequestParams):
        model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
        task_id: str

    class Answer(Result):
        model_config = ConfigDict(extra="allow")

    request = Request[Params, str](method=method, params=Params(task_id=task))
    answer = await session.send_request(request, Answer)
    return answer.model_dump(by_alias=True)


async def task_of(client: Client, follows: Follows) -> str:
    """The task of a plan that was waited for in vain."""
    await client.call_tool("hand_in_plan", {"plan": "1. Go", "wait_seconds": 0.01})
    return follows.tasks[-1]


def test_an_open_plan_is_a_task_that_ends_with_the_verdict(place: Place) -> None:
    async def follow() -> None:
        follows = Follows()
        async with place.outside(extensions=[follows]) as client:
            task = await task_of(client, follows)
            waiting = asyncio.create_task(ask(client.session, "tasks/get", task))
            await asyncio.to_thread(place.verb, "approve", task, "--note", "Mind the tests")
            ended = await waiting
            assert (ended["status"], ended["taskId"]) == ("completed", task)
            assert ended["result"]["structuredContent"]["state"] == "approved"
            assert ended["result"]["structuredContent"]["reason"] == "Mind the tests"

    asyncio.run(asyncio.wait_for(follow(), timeout=60))


def test_who_wants_no_wait_gets_the_ticket(place: Place) -> None:
    async def look() -> None:
        follows = Follows()
        async with place.inside(extensions=[follows]) as client:
            assert (await told(client, "hand_in_plan", plan="1. Go", wait_seconds=0))["state"] == "open"
        assert follows.tasks == []

    asyncio.run(look())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_who_follows_no_tasks_gets_the_ticket(place: Place, mode: str) -> None:
    async def look() -> None:
        async with place.inside(mode=mode) as client:
            assert (await told(client, "hand_in_plan", plan="1. Go", wait_seconds=0.01))["state"] == "open"

    asyncio.run(look())


def test_a_task_that_is_cancelled_takes_its_request_back(place: Place) -> None:
    async def cancel() -> str:
        follows = Follows()
        async with place.inside(extensions=[follows]) as client:
            task = await task_of(client, follows)
            await ask(client.session, "tasks/cancel", task)
            assert (await ask(client.session, "tasks/get", task))["status"] == "cancelled"
            return task

    task = asyncio.run(cancel())
    (row,) = place.verb("requests")["requests"]
    assert (row["request_id"], row["state"]) == (task, "withdrawn")


def test_to_cancel_does_not_undo_an_answer(place: Place) -> None:
    async def cancel() -> None:
        follows = Follows()
        async with place.inside(extensions=[follows]) as client:
            task = await task_of(client, follows)
            requests.approve(place.caller(LEAD), request_id=task)
            await ask(client.session, "tasks/cancel", task)
            assert (await ask(client.session, "tasks/get", task))["status"] == "completed"

    asyncio.run(cancel())


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_request_of_another_agent_is_no_task_of_this_one(place: Place, method: str) -> None:
    plan = requests.submit_plan(place.caller(OTHER), content="1. Go").request_id or ""

    async def look() -> None:
        async with place.inside(AGENT, extensions=[Follows()]) as client:
            for task in (plan, "no-such-task"):
                with pytest.raises(MCPError, match=task):
                    await ask(client.session, method, task)

    asyncio.run(look())
    assert [row["state"] for row in place.verb("requests")["requests"]] == ["open"]
