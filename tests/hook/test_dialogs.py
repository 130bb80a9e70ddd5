"""The client's own dialog beside a hook: answered there, the request leaves the list while the tool still runs."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from team_console.console.clients.asking import Dialog
from team_console.console.clients.claude import Claude

from tests.hook.conftest import Client, Heard, Human

pytestmark = pytest.mark.usefixtures("own_config")
SESSION = "11111111-2222-3333-4444-555555555555"


@pytest.fixture
def own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions say what they do in files of this folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))


def say(folder: Path, status: object, session: str = SESSION, name: str = "4711") -> None:
    """Write what a session is doing, as the client does."""
    folder = folder / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    staged = folder / "staged"
    staged.write_text(json.dumps({"pid": 4711, "sessionId": session, "status": status}))
    staged.rename(folder / f"{name}.json")


def seen(folder: Path, *statuses: object) -> list[bool]:
    """What each look says while the session does one after the other."""
    dialog, looks = Dialog(Claude(), SESSION), []
    for status in statuses:
        say(folder, status)
        looks.append(dialog.is_closed())
    return looks


def test_a_dialog_that_was_open_and_is_not_any_more_was_answered(tmp_path: Path) -> None:
    assert seen(tmp_path, "busy", "waiting", "busy", "busy", "busy") == [False, False, False, True, True]


def test_a_moment_between_two_dialogs_is_no_answer(tmp_path: Path) -> None:
    assert not any(seen(tmp_path, "waiting", "busy", "waiting", "busy", "waiting"))


def test_what_cannot_be_read_tells_nothing(tmp_path: Path) -> None:
    dialog = Dialog(Claude(), SESSION)
    say(tmp_path, "waiting")
    assert not dialog.is_closed()
    for text in ("", "{", "[1]", "[" * 100_000):
        (tmp_path / "sessions" / "4711.json").write_text(text)
        assert not dialog.is_closed()


@pytest.mark.slow
def test_what_was_answered_in_the_terminal_ends_while_the_tool_runs(
    client: Client, human: Human, tmp_path: Path
) -> None:
    folder = tmp_path / "claude"
    client.extra = {"CLAUDE_CONFIG_DIR": str(folder)}
    with human.at_console():
        hook = client.begin("claude: PermissionRequest")
        human.asked()

        def goes_on() -> bool:
            """The dialog opens and is answered, until the hook has seen both."""
            for status in ("waiting", "busy"):
                say(folder, status)
                with suppress(subprocess.TimeoutExpired):
                    hook.wait(2.0)
            return hook.poll() is not None

        Human.until(goes_on, bool)
        assert client.end(hook) == Heard(0, "")
        assert (human.ended()["state"], human.ended()["reason"]) == ("withdrawn", "answered in the session")
