"""The console and the hooks of a session, side by side: what is asked appears, what needs no answer any more goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.equipment.command_line import CommandLine
from tests.equipment.terminal import Terminal, console
from tests.hook.conftest import Client, Heard, Human

pytestmark = pytest.mark.slow

BASH = "claude: PermissionRequest"
SHOWN = "touch plug-was-here"


@pytest.fixture
def screen(office: CommandLine) -> Iterator[Terminal]:
    """A console that may write."""
    with console(office.folder) as terminal:
        terminal.wait_for("Needs you")
        yield terminal


def test_a_console_is_a_human_who_is_there(screen: Terminal, client: Client, human: Human, office: CommandLine) -> None:
    hook = client.begin(BASH)
    screen.wait_for(SHOWN)
    office.ok("approve", human.asked()[0]["request_id"])
    assert client.end(hook).decision == {"behavior": "allow"}
    _left_behind(screen, "✓ approved by ceo")
    screen.send("q")
    screen.wait_exit()
    assert client.tell(BASH) == Heard(0, "")


def test_what_a_killed_hook_asked_leaves_the_list(screen: Terminal, client: Client, human: Human) -> None:
    hook = client.begin(BASH)
    screen.wait_for(SHOWN)
    hook.kill()
    hook.wait()
    _left_behind(screen, "session ended · n next")
    assert (human.ended()["state"], human.ended()["reason"]) == ("withdrawn", "session ended")


def _left_behind(screen: Terminal, words: str) -> None:
    """What is being read stays with `words` of how it ended, and goes when the next is read."""
    screen.wait_for(words, SHOWN)
    screen.send("n")
    screen.wait_gone(SHOWN)


@pytest.mark.parametrize("flags", [("--read-only",), ("--as", "ben")])
def test_who_may_not_answer_is_nobody_to_wait_for(flags: tuple[str, ...], client: Client, office: CommandLine) -> None:
    with console(office.folder, *flags) as terminal:
        terminal.wait_for("Needs you")
        assert client.tell(BASH) == Heard(0, "")
