"""Tasks extension: clients that have it are given a task in place of a ticket, and tell their model when it ends.

A task is an open request of the store and has its id, so nothing is kept here and it outlives the server. The shapes
are those of `io.modelcontextprotocol/tasks` of 2026-07-28; the SDK carries extensions and has none for tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, ClientCapabilities, RequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel
from team_console.console.mcp import results
from team_console.console.mcp.agent import LONGEST, ActingAgent, wait_for_verdict
from team_console.console.mcp.results import moment, told
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import asking
from team_console.store.service.caller import Caller
from team_console.store.views.rows import RequestRow, RequestState
from team_console.store.views.verdicts import RequestFollower, outcome_of

IDENTIFIER = "io.modelcontextprotocol/tasks"
CANCELLED = "cancelled in the session"
"""The reason of a request that was taken back because the call that made it was cancelled."""
_POLL_MILLISECONDS = 1000
_HELD = 20.0
"""Seconds for which a look at a task is held until there is something new: an answer is not waited for by polling."""
_WAITS = {"hand_in_plan": LONGEST, "ask_human": LONGEST, "verdict": 0}
"""Tools that may wait for an answer, and whether they do when the call does not say."""


class TaskParams(RequestParams):
    """Parameters of the methods that name a task."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")
    task_id: str


def keeps_tasks(capabilities: ClientCapabilities | None, version: str | None) -> bool:
    """Whether a client that declares these capabilities follows tasks."""
    extensions = capabilities.extensions if capabilities is not None else None
    return version in MODERN_PROTOCOL_VERSIONS and IDENTIFIER in (extensions or {})


class Tasks(Extension):
    """Open requests as tasks, for one agent."""

    identifier = IDENTIFIER

    def __init__(self, agent: ActingAgent) -> None:
        self._agent = agent

    def methods(self) -> Sequence[MethodBinding]:
        """Looking at a task, answering what it asks for (nothing), and giving it up."""
        versions = frozenset(MODERN_PROTOCOL_VERSIONS)
        handlers = {"tasks/get": self._get, "tasks/update": self._update, "tasks/cancel": self._cancel}
        return [MethodBinding(name, TaskParams, handler, versions) for name, handler in handlers.items()]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Give out a task where a tool has waited and its request is still open, to clients that follow tasks."""
        result = await call_next(ctx)
        if not _may_wait(params) or not keeps_tasks(ctx.session.client_capabilities, ctx.protocol_version):
            return result
        state = result.structured_content if isinstance(result, CallToolResult) else None
        if not isinstance(state, Mapping) or state.get("state") != "open":
            return result
        row = await self._look(state["request_id"])
        return {"resultType": "task", **_task(row)}

    async def _get(self, ctx: ServerRequestContext[Any, Any], params: TaskParams) -> dict[str, Any]:
        await self._look(params.task_id)
        await wait_for_verdict(self._agent, params.task_id, _HELD)
        return _task(await self._look(params.task_id))

    async def _update(self, ctx: ServerRequestContext[Any, Any], params: TaskParams) -> dict[str, Any]:
        """A task never asks its client for anything, so there is nothing that an update could answer."""
        await self._look(params.task_id)
        return {}

    async def _cancel(self, ctx: ServerRequestContext[Any, Any], params: TaskParams) -> dict[str, Any]:
        row = await self._look(params.task_id)
        if row.is_open:
            await self._agent.run(lambda caller: _withdrawn(caller, params.task_id))
        return {}

    async def _look(self, task_id: str) -> RequestRow:
        try:
            row = await self._agent.run(lambda caller: _row(caller, task_id))
        except TeamError as error:
            raise MCPError(INVALID_PARAMS, f"{error.code}: {error.message}", error.as_json()) from error
        if row.asker != self._agent.name:
            raise MCPError(
                INVALID_PARAMS, f"{task_id} was asked by {row.asker}, so it is no task of {self._agent.name}"
            )
        return row


def _may_wait(params: CallToolRequestParams) -> bool:
    usual = _WAITS.get(params.name)
    return usual is not None and bool((params.arguments or {}).get("wait_seconds", usual))


def _row(caller: Caller, task_id: str) -> RequestRow:
    return RequestFollower(caller.team, task_id, me=caller.actor).look()


def _withdrawn(caller: Caller, task_id: str) -> None:
    """An answer that came first stands: to cancel is a wish."""
    try:
        asking.withdraw(caller, request_id=task_id, reason=CANCELLED)
    except TeamError as error:
        if error.code is not Code.ALREADY_ANSWERED:
            raise


def _task(row: RequestRow) -> dict[str, Any]:
    asked = moment(row.asked_at) or row.question.created
    ended = row.answered_at or row.withdrawn_at
    task = {
        "taskId": row.request_id,
        "status": _status(row),
        "createdAt": asked,
        "lastUpdatedAt": moment(ended) or asked,
        "ttlMs": None,
        "pollIntervalMs": _POLL_MILLISECONDS,
    }
    if row.is_open:
        return {**task, "statusMessage": f"waiting for {row.addressee} to answer {row.request_id}"}
    if row.state is RequestState.WITHDRAWN and row.reason == CANCELLED:
        return {**task, "statusMessage": CANCELLED}
    result = told(results.verdict(outcome_of(row)))
    return {**task, "result": result.model_dump(mode="json", by_alias=True, exclude_none=True)}


def _status(row: RequestRow) -> str:
    if row.is_open:
        return "working"
    return "cancelled" if row.state is RequestState.WITHDRAWN and row.reason == CANCELLED else "completed"
