"""A whole working day of an agent over stdio, and how the process begins and ends."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess

import pytest

from tests.equipment.command_line import COMMAND, clean_environment, next_line
from tests.mcp.conftest import AGENT, LEAD, OTHER, Place, told

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("place", ["yaml", "sqlite"], indirect=True)
def test_an_agent_works_a_day_in_the_team(place: Place) -> None:
    async def day() -> None:
        async with place.outside(OTHER) as client:
            me = await told(client, "whoami")
            assert (me["name"], me["lead"], me["plan_first"], me["unread"]) == (OTHER, LEAD, True, 0)
            ticket = await told(client, "hand_in_plan", plan="1. Move the export\n2. Test it", wait_seconds=0)
            assert (ticket["state"], ticket["decided"]) == ("open", False)
            waiting = asyncio.create_task(told(client, "verdict", request_id=ticket["request_id"], wait_seconds=45))
            await asyncio.to_thread(place.verb, "approve", ticket["request_id"], "--note", "Mind the tests")
            verdict = await waiting
            assert (verdict["state"], verdict["reason"], verdict["answered_by"]) == ("approved", "Mind the tests", LEAD)
            await told(
                client, "send", to=AGENT, summary="The export has moved to its own file", content="See loader.py"
            )
            await told(client, "report_done", summary="The export is moved and tested", details="12 tests")
            stop = await asyncio.to_thread(place.verb, "shutdown", OTHER)
            mail = (await told(client, "inbox", wait_seconds=45))["messages"]
            assert [(message["type"], message["request_id"]) for message in mail] == [
                ("shutdown_request", stop["request_id"])
            ]
            assert stop["request_id"] in mail[0]["answer_with"]
            await told(client, "answer_shutdown", request_id=stop["request_id"], agree=True)

    asyncio.run(day())
    rows = {row["name"]: row for row in place.verb("roster")["agents"]}
    assert rows[OTHER]["state"] in ("stopping", "stopped")
    assert rows[OTHER]["reported"] == "The export is moved and tested"
    assert place.verb("requests", "--open")["requests"] == []
    senders = {message["from"] for message in place.verb("inbox", LEAD)["messages"]}
    assert senders == {OTHER}


def test_the_server_ends_with_its_client_even_while_a_call_waits(place: Place) -> None:
    async def leave() -> None:
        async with place.outside() as client:
            ticket = await told(client, "hand_in_plan", plan="1. Wait", wait_seconds=0)
            waiting = asyncio.create_task(client.call_tool("verdict", {**_by(ticket), "wait_seconds": 45}))
            await told(client, "whoami")
            waiting.cancel()

    asyncio.run(asyncio.wait_for(leave(), timeout=30))
    assert [row["state"] for row in place.verb("requests")["requests"]] == ["open"]


def test_an_interrupt_ends_the_server_at_once_and_what_it_told_is_read(place: Place) -> None:
    place.verb("send", "--to", AGENT, "--summary", "Please look at the export", "--content", "Now")
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    take = {"name": "inbox", "arguments": {}}
    calls = [("initialize", hello), ("tools/call", take), ("tools/call", {**take, "arguments": {"wait_seconds": 45}})]
    environment = clean_environment(TEAM_CONSOLE_AS=AGENT)
    command = [*COMMAND, "-t", place.location, "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdin is not None
        for number, (method, params) in enumerate(calls):
            frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(frame).encode() + b"\n")
            server.stdin.flush()
            assert number == 2 or json.loads(next_line(server.stdout))["id"] == number
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 130  # although standard input is still open
    assert [message["status"] for message in place.verb("inbox", AGENT)["messages"]] == ["read"]


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_with_a_closed_end_it_says_who_starts_it(closed: str, place: Place) -> None:
    script = ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, "-t", place.location, "mcp"]
    result = subprocess.run(script, capture_output=True, env=clean_environment(TEAM_CONSOLE_AS=AGENT), check=False)
    assert result.returncode == 2
    assert b"join NAME --for mcp" in result.stderr


def _by(ticket: dict[str, object]) -> dict[str, object]:
    return {"request_id": ticket["request_id"]}
