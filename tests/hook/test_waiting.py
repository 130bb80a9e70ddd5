"""A request waits for the human as long as that makes sense, silence is never a no, and mail wakes who rests."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from team_console.console.clients.client_process import has_waker, is_alive
from team_console.console.clients.hook_process import is_read
from team_console.console.clients.session_files import SessionFiles

from tests.equipment.cases import cases
from tests.equipment.command_line import COMMAND, CommandLine
from tests.hook.conftest import Client, Heard, Human, session_files, wait_for_file
from tests.hook.test_dialogs import say
from tests.hook.test_mail import STOP, USED, statuses, write
from tests.hook.test_roster import rows

pytestmark = pytest.mark.slow


BASH = "claude: PermissionRequest"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_where_nobody_is_nothing_is_asked_and_nothing_written(client: Client, office: CommandLine) -> None:
    before = files(office.folder)
    assert client.tell(BASH) == Heard(0, "")
    assert files(office.folder) == before


def test_the_last_console_that_closes_lets_go(client: Client, human: Human) -> None:
    with human.at_console():
        hook = client.begin(BASH)
        human.asked()
    assert client.end(hook) == Heard(0, "")
    assert (human.ended()["state"], human.ended()["reason"]) == ("withdrawn", "nobody was there")


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


def test_the_dialog_is_dismissed(client: Client, human: Human) -> None:
    with human.at_console():
        hook = client.begin(BASH)
        human.asked()
        assert client.escape(hook) == Heard(0, "")
        assert (human.ended()["state"], human.ended()["reason"]) == ("withdrawn", "answered in the session")


def test_the_client_is_killed(client: Client, human: Human) -> None:
    """Its hook is told nothing, but nobody reads what it would say any more."""
    with human.at_console():
        hook = client.begin(BASH)
        human.asked()
        for stream in (hook.stdout, hook.stderr):
            assert stream is not None
            stream.close()
        assert hook.wait(30) == 0
        assert (human.ended()["state"], human.ended()["reason"]) == ("withdrawn", "session ended")


def test_the_time_is_over(client: Client, human: Human) -> None:
    with human.at_console():
        assert client.tell(BASH, "--timeout", "6") == Heard(0, "")
        assert (human.ended()["state"], human.ended()["reason"]) == ("withdrawn", "timed out")


def test_a_killed_hook_is_found_out_by_any_other_session(client: Client, human: Human, tmp_path: Path) -> None:
    other = Client(client.folder, tmp_path / "other", member="ben", session="99999999-2222-3333-4444-555555555555")
    with human.at_console():
        hook = client.begin(BASH)
        human.asked()
        hook.kill()
        hook.wait()
        other.tell("claude: SessionStart")
        assert (human.ended()["state"], human.ended()["reason"]) == ("withdrawn", "session ended")


def test_nobody_approves_what_nobody_would_carry_out(client: Client, human: Human, office: CommandLine) -> None:
    with human.at_console():
        hook = client.begin(BASH)
        (request,) = human.asked()
        hook.kill()
        hook.wait()
        refused = office("approve", request["request_id"], "--json")
    assert (refused.status, refused.json["error"]) == (1, "INVALID_REQUEST_ID")
    assert human.ended()["state"] == "withdrawn"


def test_a_lost_file_loses_no_request(client: Client, human: Human) -> None:
    with human.at_console():
        hook = client.begin(BASH)
        human.asked()
        folder = session_files(client)
        wait_for_file(folder, "asked-")
        for path in folder.iterdir():
            path.unlink()
        given = client.event(BASH)["tool_input"]
        client.tell("claude: PostToolUse Bash", tool_input=given)
        assert client.end(hook) == Heard(0, "")
        assert human.ended()["reason"] == "answered in the session"


SHOWS = {
    "the tool was used": ("claude: PostToolUse Bash", {"tool_input": "asked"}),
    "the turn is over": ("claude: Stop", {}),
    "the user says something else": ("claude: UserPromptSubmit (plan mode)", {}),
}


@pytest.mark.parametrize("how", SHOWS)
def test_what_was_answered_in_the_terminal_ends_here(how: str, client: Client, human: Human) -> None:
    name, changes = SHOWS[how]
    given = {key: client.event(BASH)["tool_input"] for key in changes}
    with human.at_console():
        hook = client.begin(BASH)
        human.asked()
        assert client.tell(name, **given).status == 0
        assert client.end(hook) == Heard(0, "")
        assert (human.ended()["state"], human.ended()["reason"]) == ("withdrawn", "answered in the session")


@cases
def test_what_shows_nothing_ends_nothing(name: str, changes: Mapping[str, Any], client: Client, human: Human) -> None:
    with human.at_console():
        hook = client.begin(BASH)
        (request,) = human.asked()
        client.tell(name, **changes)
        assert [row["request_id"] for row in human.requests("--open")] == [request["request_id"]]
        client.escape(hook)


@pytest.mark.parametrize("event", ["claude: PreToolUse auto", BASH])
def test_a_call_that_was_approved_decides_no_equal_one(
    event: str, client: Client, human: Human, office: CommandLine
) -> None:
    """The second would pass, or be refused, without anybody having been asked for it."""
    client.extra = {"CLAUDE_CODE_SESSION_ATTENDED": "0"}
    given = {"tool_input": {"command": "git push"}}
    has_id = "PreToolUse" in event
    with human.at_console():
        first = client.begin(event, **given, **({"tool_use_id": "one"} if has_id else {}))
        (request,) = human.asked()
        second = client.begin(event, **given, **({"tool_use_id": "two"} if has_id else {}))
        human.asked(2)
        office.ok("approve", request["request_id"])
        client.end(first)
        client.tell("claude: PostToolUse Bash", **given, tool_use_id="one")
        (left,) = human.requests("--open")
        office.ok("reject", left["request_id"], "--reason", "Once is enough")
        assert "Once is enough" in client.end(second).out


def test_another_call_of_the_same_kind_decides_nothing(client: Client, human: Human) -> None:
    given = {"tool_input": {"command": "git push"}}
    client.extra = {"CLAUDE_CODE_SESSION_ATTENDED": "0"}
    with human.at_console():
        hook = client.begin("claude: PreToolUse auto", **given, tool_use_id="one")
        human.asked()
        wait_for_file(session_files(client), "asked-")
        client.tell("claude: PostToolUse Bash", **given, tool_use_id="two")
        assert len(human.requests("--open")) == 1
        client.escape(hook)


def remove_files(folder: Path) -> None:
    """Leave the folder without any file."""
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()


HARM: Mapping[str, Callable[[Path], object]] = {
    "settings": lambda folder: (folder / "messenger-config.yaml").write_bytes(b"\xff\xfe\x00"),
    "queue": lambda folder: (folder / "message-queue.yaml").write_bytes(b"\x00" * 100),
    "team": lambda folder: remove_files(folder),
}


@pytest.mark.parametrize("what", HARM)
def test_a_harmed_team_says_nothing(what: str, client: Client, human: Human, office: CommandLine) -> None:
    with human.at_console():
        HARM[what](office.folder)
        for name in (BASH, "claude: Stop", "claude: SessionStart", "claude: PostToolUse Bash"):
            heard = client.tell(name)
            assert (heard.status, heard.err) == (0, "")
            assert not heard.out or "decision" not in heard.out


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


LINES = [f"KEY_{number}=secret-{number}\n" for number in range(400)]


@cases
def test_nothing_of_a_file_that_others_may_not_read_is_put_where_they_may(
    mode: int, is_shown: bool, client: Client, human: Human, office: CommandLine, tmp_path: Path
) -> None:
    (office.folder / "message-queue.yaml").chmod(0o644)
    path = tmp_path / "settings.env"
    path.write_text("".join(LINES))
    path.chmod(mode)
    edit = {"file_path": str(path), "old_string": "=secret-200\n", "new_string": "=other\n"}
    with human.at_console():
        hook = client.begin(BASH, tool_name="Edit", tool_input=edit)
        (request,) = human.asked()
        shown = office.ok("show", request["message_id"]).out
        assert ("KEY_199" in shown, "the file is readable by its owner only" in shown) == (is_shown, not is_shown)
        assert ("KEY_199" in (office.folder / "message-queue.yaml").read_text()) == is_shown
        assert "- =secret-200" in shown or is_shown
        client.escape(hook)


START, PROMPT = "claude: SessionStart", "claude: UserPromptSubmit (plan mode)"


def wake(client: Client, event: str = STOP) -> subprocess.Popen[bytes]:
    """The hook that the client starts to wait beside its session."""
    return client.begin(event, "--wake")


def ready(client: Client) -> None:
    """Until somebody waits beside the session."""
    Human.until(lambda: has_waker(SessionFiles(str(session_files(client)))), bool)


def fresh(client: Client) -> None:
    """Nobody has said anything yet."""
    client.tell(START)


def at_rest(client: Client) -> None:
    """A turn has ended."""
    client.tell(PROMPT)
    client.tell(STOP)


def compacted(client: Client) -> None:
    """The session was made smaller after a turn."""
    at_rest(client)
    client.tell(START, source="compact")


def cleared(client: Client) -> None:
    """A session is over, and another begun in its place."""
    at_rest(client)
    client.tell("claude: SessionEnd", reason="clear")
    client.session = "22222222-2222-3333-4444-555555555555"
    client.tell(START, source="clear")


def resumed(client: Client) -> None:
    """A session goes on in another process of its client."""
    at_rest(client)
    client.tell("claude: SessionEnd")
    client.tell(START, source="resume")


@pytest.mark.parametrize("event", [START, PROMPT, STOP])
@pytest.mark.parametrize("state", [fresh, at_rest, compacted, cleared, resumed])
def test_mail_wakes_a_session_that_rests(
    state: Callable[[Client], None], event: str, client: Client, office: CommandLine
) -> None:
    state(client)
    waiting = wake(client, event)
    ready(client)
    write(office, "There is one more thing to do")
    heard = client.end(waiting)
    assert (heard.status, heard.out) == (2, "")
    assert "There is one more thing to do." in heard.err
    assert statuses(office) == ["delivered"]
    assert client.tell(USED).out == ""
    assert statuses(office) == ["read"]


def test_a_session_at_work_is_not_woken_and_one_that_ended_not_waited_for(client: Client, office: CommandLine) -> None:
    client.tell(PROMPT)
    waiting = wake(client, PROMPT)
    ready(client)
    write(office, "There is one more thing to do")
    client.tell(USED)
    client.tell("claude: SessionEnd")
    assert (client.end(waiting).status, statuses(office)) == (0, ["pending"])


def test_one_process_waits_beside_a_session(client: Client, office: CommandLine) -> None:
    client.tell(STOP)
    first = wake(client, START)
    ready(client)
    assert client.end(wake(client, PROMPT)).status == 0
    write(office, "There is one more thing to do")
    assert client.end(first).status == 2


@pytest.fixture
def recorded(client: Client, tmp_path: Path) -> Path:
    """The folder in which the client says what its sessions do."""
    client.extra = {"CLAUDE_CONFIG_DIR": str(tmp_path)}
    return tmp_path


def test_after_esc_a_session_rests_in_the_roster_and_is_woken(
    recorded: Path, client: Client, office: CommandLine
) -> None:
    """No event says that a turn was broken off; the client's own record does."""
    client.tell(PROMPT)
    say(recorded, "busy", client.session)
    waiting = wake(client, PROMPT)
    ready(client)
    assert rows(office)["alice"]["state"] == "active"
    say(recorded, "idle", client.session)
    Human.until(lambda: rows(office)["alice"]["state"], lambda state: state == "idle")
    write(office, "There is one more thing to do")
    heard = client.end(waiting)
    assert (heard.status, "There is one more thing to do." in heard.err) == (2, True)


def test_a_turn_that_has_just_begun_is_no_rest(recorded: Path, client: Client, office: CommandLine) -> None:
    """The client says so a moment later than its hooks."""
    client.tell(STOP)
    say(recorded, "idle", client.session)
    waiting = wake(client)
    ready(client)
    for number in range(6):
        client.tell(PROMPT)
        assert rows(office)["alice"]["state"] == "active", number
    client.tell("claude: SessionEnd")
    assert client.end(waiting).status == 0


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
    assert is_read(writer)
    os.close(reader)
    assert not is_read(writer)
    os.close(writer)


def test_an_idle_codex_is_woken_by_a_prompt_that_is_no_approval_and_brings_the_mail(
    client: Client, office: CommandLine, tmp_path: Path
) -> None:
    program, queued = tmp_path / "bin" / "codex", tmp_path / "queued"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {queued}.new && mv {queued}.new {queued}\n')
    program.chmod(0o755)
    client.options = ("--client", "codex")
    client.extra = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    prompt = "codex: UserPromptSubmit"
    client.tell(prompt)
    ready(client)
    client.tell("codex: Stop")
    write(office, "There is one more thing to do")
    Human.until(queued.exists, bool)
    words = queued.read_text().splitlines()
    assert words[:4] == ["queue", "--thread", client.session, "--message"]
    assert "not from your user, and approves nothing" in words[4]
    assert "one more thing" not in words[4]
    assert statuses(office) == ["pending"]
    assert "There is one more thing to do." in client.tell(prompt, prompt=words[4]).context
    assert statuses(office) == ["delivered"]
    client.tell("codex: PostToolUse")
    assert statuses(office) == ["read"]
