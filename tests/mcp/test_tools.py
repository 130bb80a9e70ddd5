"""What each tool does and refuses, and what nobody can do with them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from team_console.console.mcp.acting import ActingAgent
from team_console.console.mcp.server import make_server
from team_console.store.service import requests

from tests.equipment.cases import cases, constant
from tests.mcp.conftest import AGENT, LEAD, OTHER, Place, refused, told

TOOLS = constant(__file__, "TOOLS", set[str])
QUESTION = constant(__file__, "QUESTION", dict[str, Any])
CALLS = constant(__file__, "CALLS", tuple[tuple[str, dict[str, Any], str], ...])
"""Calls that are refused, and words of the hint."""


def run(place: Place, act: Callable[[Client], Awaitable[Any]], name: str = AGENT) -> Any:
    """What `act` gives with a client of `name`."""

    async def inside() -> Any:
        async with place.inside(name) as client:
            return await act(client)

    return asyncio.run(asyncio.wait_for(inside(), timeout=60))


def mail(place: Place, *more: str) -> None:
    """The lead writes to the agent."""
    place.verb("send", "--to", AGENT, "--summary", "Please look at the export", "--content", "Now", *more)


def test_no_tool_takes_a_name_to_act_under_and_none_answers_for_the_lead(place: Place) -> None:
    async def look(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = run(place, look)
    assert {tool.name for tool in tools} == TOOLS
    taken = {name for tool in tools for name in tool.input_schema["properties"]}
    assert not taken & {"as", "from", "sender", "actor", "agent", "name", "team", "location"}
    assert all(tool.description and tool.output_schema for tool in tools)


def test_every_wait_ends_before_clients_give_up(place: Place) -> None:
    async def look(client: Client) -> Any:
        return (await client.list_tools()).tools

    waits = [tool.input_schema["properties"].get("wait_seconds") for tool in run(place, look)]
    assert {wait["maximum"] for wait in waits if wait} == {45.0}
    error = run(place, lambda client: refused(client, "inbox", wait_seconds=50))
    assert (error["error"], "wait_seconds" in error["message"]) == ("INVALID_FIELD", True)


def test_a_hint_names_what_an_agent_has_here(place: Place) -> None:
    async def ask(client: Client) -> list[str]:
        return [(await refused(client, name, **arguments))["hint"] for name, arguments, _ in CALLS]

    hints = run(place, ask)
    assert [hint for hint in hints if "--" in hint or "team-console " in hint] == []
    assert [hint for hint, (*_, words) in zip(hints, CALLS, strict=True) if words not in hint] == []


def test_a_defect_is_told_without_its_words(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def broken(self: ActingAgent, act: Any) -> Any:
        raise ValueError("the password is hunter2")

    monkeypatch.setattr(ActingAgent, "run", broken)
    error = run(place, lambda client: refused(client, "roster"))
    assert error["error"] == "INTERNAL_ERROR"
    assert "hunter2" not in str(error)


def test_mail_of_a_call_that_dies_with_its_server_is_not_lost(place: Place) -> None:
    """The server ends before the call is acknowledged: mail stays claimed, and comes back when its lease ends."""
    mail(place)

    async def take() -> None:
        server = make_server(ActingAgent(AGENT, place.location), settled=3600.0)
        async with Client(server) as client:
            await told(client, "inbox")
            (message,) = await asyncio.to_thread(lambda: place.verb("inbox", AGENT)["messages"])
            assert message["status"] == "claimed"

    asyncio.run(take())


@pytest.mark.parametrize("tool", ["verdict", "inbox"])
def test_any_number_of_waiting_calls_keeps_no_other_call_from_its_answer(place: Place, tool: str) -> None:
    plan = requests.submit_plan(place.caller(AGENT), content="1. Go").request_id or ""
    arguments = {"wait_seconds": 45, **({"request_id": plan} if tool == "verdict" else {})}
    begun: set[int] = set()

    async def wait(client: Client) -> None:
        every = asyncio.Event()

        def signs(number: int) -> ProgressFnT:
            async def sign(progress: float, total: float | None, message: str | None) -> None:
                begun.add(number)
                if len(begun) == 60:
                    every.set()

            return sign

        calls = [client.call_tool(tool, arguments, progress_callback=signs(number)) for number in range(60)]
        waiting = [asyncio.create_task(call) for call in calls]
        await every.wait()
        assert (await told(client, "whoami"))["name"] == AGENT
        assert not any(call.done() for call in waiting)  # each had a thread, and the call above waited for one to end
        await asyncio.to_thread(requests.approve, place.caller(LEAD), request_id=plan)
        (first, *_), others = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        told_first = (await first).structured_content or {}
        assert told_first["messages"] if tool == "inbox" else told_first["state"] == "approved"
        for call in others:
            call.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    run(place, wait)


@pytest.mark.parametrize("name", [b"worktree", b"caf\xe9"])
def test_an_agent_whose_folder_was_removed_or_is_not_utf_8_can_still_ask(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: bytes
) -> None:
    folder = tmp_path / os.fsdecode(name)
    folder.mkdir()
    monkeypatch.chdir(folder)
    if name == b"worktree":
        folder.rmdir()

    async def ask(client: Client) -> list[dict[str, Any]]:
        plan = await told(client, "hand_in_plan", plan="Split it", wait_seconds=0)
        return [plan, await told(client, "ask_human", questions=[QUESTION], wait_seconds=0)]

    assert [asked["state"] for asked in run(place, ask)] == ["open", "open"]


def test_the_resources_show_and_change_nothing(place: Place) -> None:
    mail(place)
    plan = requests.submit_plan(place.caller(AGENT), content="1. Go").request_id

    async def read(client: Client) -> list[str]:
        paths = ("roster", "inbox", f"request/{plan}")
        return [(await client.read_resource(f"team-console://{path}")).contents[0].text for path in paths]  # type: ignore[union-attr]

    roster, inbox, request = run(place, read)
    assert f'"name": "{OTHER}"' in roster
    assert '"content": "Now"' in inbox
    assert '"state": "open"' in request
    assert [message["status"] for message in place.verb("inbox", AGENT)["messages"]] == ["pending"]


@cases
def test_what_is_not_there_is_refused_as_the_clients_mistake_or_with_the_desks_error(
    method: str, asked: list[Any], is_mistake: bool, words: str, place: Place
) -> None:
    async def ask(client: Client) -> MCPError:
        with pytest.raises(MCPError, match=words) as caught:
            await getattr(client, method)(*asked)
        return caught.value

    error = run(place, ask).error
    assert (error.code == INVALID_PARAMS) is is_mistake
    assert "defect" not in error.message


def test_the_prompt_has_a_model_take_its_place(place: Place) -> None:
    async def join(client: Client) -> Any:
        return (await client.get_prompt("join")).messages[0].content

    words = run(place, join).text
    assert AGENT in words
    assert all(f"{tool}" in words for tool in ("whoami", "inbox", "hand_in_plan", "ask_human", "verdict"))
