"""A client is greeted before the SDK is there, and whatever it asked is answered before the server ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from team_console.console.mcp.start import ANSWERS

from tests.equipment.cases import cases, constant
from tests.equipment.command_line import COMMAND, ROOT, clean_environment, next_line
from tests.mcp.answers import INITIALIZED, LISTS, VERSIONS, answers_of_the_sdk, asked, greeting, request
from tests.mcp.conftest import AGENT, OTHER, Place

pytestmark = pytest.mark.slow


def send(number: int | str) -> dict[str, Any]:
    """A message to another agent."""
    arguments = {"to": OTHER, "summary": "one two three four five", "content": f"number {number}"}
    return request(number, "tools/call", name="send", arguments=arguments)


def piped(place: Place, *lines: object, end: str = "\n", **environment: str) -> tuple[int, list[dict[str, Any]], str]:
    """Status, answers and words of a server that a script pipes lines into."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + end
    done = subprocess.run(
        [*COMMAND, "mcp"],
        input=text.encode("utf-8", "surrogateescape"),
        env=clean_environment(**{"TEAM_CONSOLE_AS": AGENT, "TEAM_CONSOLE_TEAM": place.location, **environment}),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def without_sdk(folder: Path) -> dict[str, str]:
    """The environment of a server that cannot import the SDK."""
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['mcp.server.mcpserver'] = None\n")
    return {"PYTHONPATH": f"{folder}:{ROOT}"}


def test_the_kept_answers_are_those_of_the_sdk(tmp_path: Path) -> None:
    assert json.loads(Path(ANSWERS).read_text(encoding="utf-8")) == answers_of_the_sdk(tmp_path), (
        "write them anew with: python -m tests.mcp.answers"
    )


@pytest.mark.parametrize("version", VERSIONS)
@cases
def test_greeting_and_tools_are_answered_while_the_sdk_cannot_even_be_imported(
    version: str, before: list[dict[str, Any]], place: Place, tmp_path: Path
) -> None:
    """The import waits for a file that comes only once both answers are there."""
    (tmp_path / "sitecustomize.py").write_text(constant(__file__, "LATE", str))
    gate = tmp_path / "gate"
    subprocess.run(["mkfifo", str(gate)], check=True)
    environment = clean_environment(
        TEAM_CONSOLE_AS=AGENT, TEAM_CONSOLE_TEAM=place.location, PYTHONPATH=f"{tmp_path}:{ROOT}", GATE=str(gate)
    )
    with subprocess.Popen([*COMMAND, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdin is not None
        frames = [*before, greeting(version, "a"), INITIALIZED, request("b", "tools/list"), request(3, "ping")]
        server.stdin.write("".join(f"{json.dumps(frame)}\n" for frame in frames).encode())
        server.stdin.flush()
        hello, tools = (json.loads(next_line(server.stdout)) for _ in range(2))
        assert (hello["id"], hello["result"]["protocolVersion"]) == ("a", version)
        assert (tools["id"], len(tools["result"]["tools"])) == ("b", 10)
        gate.write_text("x")
        assert json.loads(next_line(server.stdout)) == {"jsonrpc": "2.0", "id": 3, "result": {}}
        server.stdin.close()
        assert server.wait(60) == 0


LISTEN = asked("listen:0", "subscriptions/listen", notifications={"toolsListChanged": True})


@pytest.mark.parametrize(
    "frames",
    [
        [greeting("2025-11-25"), INITIALIZED, *(request(name, name) for name in LISTS)],
        [asked(1, "server/discover"), LISTEN, *(asked(name, name) for name in LISTS)],
    ],
    ids=["greeting", "discovery"],
)
def test_a_client_that_calls_nothing_starts_no_server(
    frames: list[dict[str, Any]], place: Place, tmp_path: Path
) -> None:
    status, answers, said = piped(place, *frames, **without_sdk(tmp_path))
    assert (status, said) == (0, "")
    assert {answer["id"] for answer in answers if "result" in answer} == {1, *LISTS}
    told = [answer["params"]["_meta"] for answer in answers if "method" in answer]
    assert told == [{"io.modelcontextprotocol/subscriptionId": "listen:0"} for frame in frames if frame is LISTEN]


@cases
def test_what_is_piped_in_is_answered_before_the_server_ends(end: str, place: Place) -> None:
    sent = [send(name) for name in ("q", 2, "r")]
    status, answers, said = piped(place, greeting("2025-06-18"), INITIALIZED, *sent, end=end)
    assert (status, said) == (0, "")
    assert answers[0]["id"] == 1
    assert {answer["id"] for answer in answers} == {1, "q", 2, "r"}
    assert all("error" not in answer for answer in answers)
    assert len(place.verb("inbox", OTHER)["messages"]) == 3
    call = asked("s", "tools/call", **send("s")["params"])
    status, answers, said = piped(place, asked(1, "server/discover"), call, end=end)
    assert (status, said, [answer["id"] for answer in answers], "error" in answers[1]) == (0, "", [1, "s"], False)


ODD = (*constant(__file__, "ODD", tuple[tuple[str, int | str | None], ...]), ("[" * 5_000, None))
"""Lines that the SDK leaves without an answer, and the id under which they have one."""


def test_a_line_that_cannot_be_handed_on_is_answered(place: Place) -> None:
    status, answers, _ = piped(
        place, greeting("2025-06-18", "first"), INITIALIZED, *(line for line, _ in ODD), send("last")
    )
    assert status == 0
    failed = [answer["id"] for answer in answers if "error" in answer]
    assert failed == [identity for _, identity in ODD]
    assert [answer["id"] for answer in answers if "result" in answer] == ["first", "last"]


def test_a_server_that_cannot_start_says_why_in_each_call(place: Place, tmp_path: Path) -> None:
    calls = [send("q"), request("r", "resources/read", uri="team-console://roster")]
    status, answers, said = piped(place, greeting("2025-06-18"), INITIALIZED, *calls, **without_sdk(tmp_path))
    assert status != 0
    assert "Install it with" in said
    found = {answer["id"]: answer for answer in answers}
    assert found.keys() == {1, "q", "r"}
    for identity in ("q", "r"):
        assert "Install it with" in found[identity]["error"]["message"]
    assert place.verb("inbox", OTHER)["messages"] == []


def test_a_start_imports_nothing_heavy_before_the_greeting() -> None:
    code = "import sys; from team_console.console.mcp import start; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True, env=clean_environment())
    assert set(done.stdout.decode().split()) & {"mcp", "pydantic", "msgspec", "asyncio", "argparse", "typing"} == set()
