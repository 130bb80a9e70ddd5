"""`serve`: the console in a browser, on loopback, behind a token, read-only unless asked otherwise."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.equipment.cases import cases, constant
from tests.equipment.command_line import CommandLine, clean_environment, next_line, started

aiohttp = pytest.importorskip("aiohttp", reason="the extra `serve` is not installed")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a team that is served read-only."""
    team = CommandLine(tmp_path_factory.mktemp("served"))
    team.ok("init", ".", "--name", "sprint-42")
    with team.running("--json", "serve", "--port", "0") as process:
        yield str(json.loads(next_line(process.stdout))["url"])


async def status_of(url: str, *, websocket: bool = False) -> int:
    """What an address answers with; 101 for a websocket that opens."""
    async with aiohttp.ClientSession() as session:
        if not websocket:
            async with session.get(url) as answer:
                return int(answer.status)
        try:
            await (await session.ws_connect(url)).close()
        except aiohttp.WSServerHandshakeError as error:
            return int(error.status)
        return 101


async def screen_of(url: str, *wanted: str) -> str:
    """Everything that a page is sent until all of `wanted` was in it."""
    sent = b""
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}ws?width=100&height=30") as page:
        while not all(words.encode() in sent for words in wanted):
            message = await asyncio.wait_for(page.receive(), 60)
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), sent[-2000:]
            sent += message.data if isinstance(message.data, bytes) else b""
    return sent.decode(errors="replace")


def test_every_address_without_the_token_is_forbidden(url: str) -> None:
    root = url.rstrip("/").rpartition("/")[0]
    for path in ("", "x/", "../ws", "ws", "static/js/textual.js", "x/ws"):
        assert asyncio.run(status_of(f"{root}/{path}", websocket=path.endswith("ws"))) == 403


def test_with_the_token_there_is_a_page_and_nothing_of_it_comes_from_elsewhere(url: str) -> None:
    async def page() -> tuple[str, str, str]:
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return await answer.text(), answer.headers["Content-Security-Policy"], answer.headers["Referrer-Policy"]

    text, policy, referrer = asyncio.run(page())
    assert url.replace("http:", "ws:") + "ws" in text
    assert ("default-src 'self'" in policy, referrer) == (True, "no-referrer")
    assert asyncio.run(status_of(f"{url}static/js/textual.js")) == 200


RAW = constant(__file__, "RAW", tuple[str, ...])
"""Beginnings of requests that name no address below the token."""
FRAMES = (
    *("[]", "{}", "7", "null", "{", '["stdin"]', '["stdin", 5]', '["resize", 7]', '["resize", {}]', "[" * 50_000),
)
"""Frames that no page sends."""


def test_whatever_is_sent_without_the_token_is_refused_and_leaves_no_word(team: CommandLine) -> None:
    async def answered(port: int, line: str) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{line}\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        return answer

    with team.running("--json serve --port 0") as process:
        found = str(json.loads(next_line(process.stdout))["url"])
        port = int(found.split(":")[2].split("/")[0])
        for line in RAW:
            answer = asyncio.run(answered(port, line))
            assert answer.split(b" ")[1][:1] == b"4", (line, answer)
            assert b"Traceback" not in answer
        assert asyncio.run(status_of(f"{found}ws")) == 400
        process.terminate()
        assert process.stderr is not None
        assert process.stderr.read() in (b"", "")


def test_a_page_that_sends_odd_frames_is_closed_and_leaves_no_word(team: CommandLine, tmp_path: Path) -> None:
    """Nor does its console, which is told to end while it starts."""

    async def closed_by(url: str, frame: str) -> int | None:
        async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}ws?width=80&height=24") as page:
            await page.send_str(frame)
            async for _ in page:
                pass
            return int(page.close_code or 0)

    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with team.running("--json serve --port 0", env=environment) as process:
        found = str(json.loads(next_line(process.stdout))["url"])
        assert {asyncio.run(closed_by(found, frame)) for frame in FRAMES} == {1008}
        process.terminate()
        assert process.stderr is not None
        assert process.stderr.read() in (b"", "")
    assert list((tmp_path / "state").rglob("defects.log")) == []


def test_a_page_shows_the_team_read_only(url: str) -> None:
    asyncio.run(screen_of(url, "sprint-42", "READ-ONLY", "Needs "))


def test_with_write_the_console_can_write(team: CommandLine) -> None:
    with team.running("--json serve --port 0 --write") as process:
        found = json.loads(next_line(process.stdout))
        assert found["write"] is True
        assert "READ-ONLY" not in asyncio.run(screen_of(found["url"], "sprint-42", "●"))


def console_of_a_page(folder: Path, state: Path) -> subprocess.Popen[bytes]:
    """A console as `serve` starts one for a page, read-only."""
    driver = "textual.drivers.web_driver:WebDriver"
    environment = clean_environment(XDG_STATE_HOME=str(state), TEXTUAL_DRIVER=driver)
    pipe = subprocess.PIPE
    return started("--read-only", folder=folder, environment=environment, stdin=pipe, stdout=pipe, stderr=pipe)


def test_a_console_whose_page_is_gone_while_it_starts_leaves_no_word(team: CommandLine, tmp_path: Path) -> None:
    with console_of_a_page(team.folder, tmp_path) as console:
        assert console.stdout is not None
        assert console.stderr is not None
        console.stdout.close()
        assert console.stderr.read() == b""
    assert list(tmp_path.rglob("defects.log")) == []


def test_a_page_whose_team_is_gone_offers_no_other(tmp_path: Path) -> None:
    CommandLine(tmp_path).ok("init", "another", "--name", "not-given-away")
    told = json.dumps({"type": "quit"}).encode()
    with console_of_a_page(tmp_path, tmp_path / "state") as console:
        shown, said = console.communicate(b"M" + len(told).to_bytes(4, "big") + told)
    assert (console.returncode, b"another" in shown + said) == (1, False)


@cases
def test_a_console_that_is_told_to_end_while_it_starts_leaves_no_word(
    team: CommandLine, tmp_path: Path, sent: int
) -> None:
    told = json.dumps({"type": "quit"}).encode()
    with console_of_a_page(team.folder, tmp_path) as console:
        assert console.stdout is not None
        console.stdout.read(sent)
        _, said = console.communicate(b"M" + len(told).to_bytes(4, "big") + told)
    assert said == b""
    assert list(tmp_path.rglob("defects.log")) == []
