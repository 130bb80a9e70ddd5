"""What a hook waits for: a human who comes back, a session that rests, a client that is there and reads."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from team_console.console.clients import asking
from team_console.console.clients import session as session_of_client
from team_console.console.clients.asking import WaitEnd
from team_console.console.clients.client_process import is_alive
from team_console.console.clients.hook import RestWatch
from team_console.console.clients.hook_invocation import Invocation
from team_console.console.clients.hook_process import has_reader
from team_console.console.clients.session import ClientSession
from team_console.console.clients.session_files import STATE, SessionFiles, files_of
from team_console.store.service.caller import Receipt

from tests.equipment.command_line import COMMAND, CommandLine
from tests.hook.conftest import Client, Heard, Human

pytestmark = pytest.mark.slow


BASH = "claude: PermissionRequest"


def test_a_request_beside_a_dialog_waits_for_a_console_that_opens_again(
    client: Client, human: Human, office: CommandLine
) -> None:
    """The dialog of an attended session keeps nobody waiting; another call lets go, and by that shows the time."""
    other = Client(client.folder, client.state, session="99999999-2222-3333-4444-555555555555")
    client.extra, other.extra = {"CLAUDE_CODE_SESSION_ATTENDED": "1"}, {"CLAUDE_CODE_SESSION_ATTENDED": "0"}
    with human.at_console():
        beside, alone = client.begin(BASH), other.begin(BASH)
        human.asked(2)
    assert other.end(alone) == Heard(0, "")
    gone = time.monotonic() + 3.0  # twice the looks after which any other lets go
    while time.monotonic() < gone:
        assert len(human.requests("--open")) == 1
    with human.at_console():
        (request,) = human.asked()
        office.ok("approve", request["request_id"])
        assert client.end(beside).decision["behavior"] == "allow"


@pytest.mark.parametrize("is_read", [True, False])
def test_an_answer_of_the_last_moment_goes_back(
    client: Client, human: Human, is_read: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It came after the last look, and before the request was withdrawn; what nobody reads comes as mail."""
    for name, value in client.environment.items():
        monkeypatch.setenv(name, value)

    def wait(session: ClientSession, receipt: Receipt, **more: object) -> str:
        human.command.ok("reject", str(receipt.request_id), "--reason", "too late at night")
        return WaitEnd.TIMED_OUT

    monkeypatch.setattr(asking, "wait_in_hook", wait)
    if not is_read:
        monkeypatch.setattr(session_of_client, "write_line", lambda *_: False)
    event = client.event(BASH)
    session = ClientSession(Invocation({}, event), files_of(client.session, client.member, str(client.folder)))
    with human.at_console():
        asking.ask_human(session)
    session.team.close()
    said, waiting = capfd.readouterr().out, human.command.ok("receive", "--agent", "alice", "--json").json["messages"]
    assert (json.loads(said)["hookSpecificOutput"]["decision"]["behavior"] if said else "") == (
        "deny" if is_read else ""
    )
    assert len(waiting) == (0 if is_read else 1)


@pytest.mark.parametrize("given", [None, ["git", "push"], "git push"])
def test_a_call_that_cannot_be_read_is_no_request_and_passes_nobody(
    given: object, client: Client, human: Human, office: CommandLine
) -> None:
    """It would be shown as something else than what runs."""
    client.extra = {"CLAUDE_CODE_SESSION_ATTENDED": "0"}
    with human.at_console():
        assert client.tell(BASH, tool_input=given) == Heard(0, "")
        assert client.tell("claude: PreToolUse auto", tool_input={"command": "ls"}).out == ""
        answer = client.tell("claude: PreToolUse auto", tool_input=given).reply["hookSpecificOutput"]
    assert (answer["permissionDecision"], "cannot be shown" in answer["permissionDecisionReason"]) == ("deny", True)
    assert human.requests() == []


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b"\xff", b'{"hook_event_name": "PermissionRequest"}', b"[" * 100_000]
)
def test_no_input_and_no_option_makes_a_no(data: bytes, client: Client) -> None:
    done = subprocess.run(
        [*COMMAND, "hook", "--timeout", "x", "--from-the-future", "1"],
        input=data,
        capture_output=True,
        env=client.environment,
        cwd=client.folder,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_turn_that_has_just_begun_is_no_rest(tmp_path: Path) -> None:
    """The client's own record says so a moment later than its hooks."""
    files, record = SessionFiles(str(tmp_path / "session")), SimpleNamespace(doing="idle")
    client = SimpleNamespace(record_of=lambda session: record)
    session: Any = SimpleNamespace(
        files=files, client=client, event=SimpleNamespace(session="s"), note=lambda doing: None
    )
    rest = RestWatch(session)
    files.write(STATE, {"doing": "idle", "at": 1})
    assert [rest.look() for _ in range(3)] == [False, False, True]
    for moment in (2, 3):  # each look finds a turn that began after the look before
        files.write(STATE, {"doing": "working", "at": moment})
        assert [rest.look() for _ in range(2)] == [False, False]


def test_a_process_that_ended_and_was_not_reaped_is_gone() -> None:
    """So a waker of a client that was killed ends, whoever its parent is."""
    child = os.fork()
    if not child:
        os._exit(0)
    try:
        Human.until(lambda: is_alive(child), lambda lives: not lives)
    finally:
        os.waitpid(child, 0)
    assert is_alive(os.getpid())


def test_an_output_that_nobody_reads_any_more_is_known() -> None:
    """So a wait that is not ended yet takes no mail for it."""
    reader, writer = os.pipe()
    assert has_reader(writer)
    os.close(reader)
    assert not has_reader(writer)
    os.close(writer)
