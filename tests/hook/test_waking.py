"""Mail wakes a session that rests, whatever state it rests in; one process waits beside it, and ends with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.console.clients.client_process import has_waker, is_alive
from team_console.console.clients.hook_process import is_read
from team_console.console.clients.session_files import SessionFiles

from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client, Human, session_files
from tests.hook.test_dialogs import say
from tests.hook.test_mail import STOP, USED, statuses, write
from tests.hook.test_roster import rows

pytestmark = pytest.mark.slow
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
