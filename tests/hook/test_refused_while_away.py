"""What a client refused by itself while nobody was there is told to the human who comes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client, Human

pytestmark = pytest.mark.slow
ASKS, RAN, STOP = "claude: PermissionRequest", "claude: PostToolUse Bash", "claude: Stop"
COMMAND = {"command": "git push origin main"}


def told(office: CommandLine) -> list[Any]:
    """What the digest says of denied calls."""
    happened = office.ok("digest --since 1h --json").json["happened"]
    return [item for item in happened if item["group"] == "denied by its client"]


@pytest.mark.parametrize("end", [STOP, "claude: SessionEnd"])
def test_a_headless_run_that_was_refused_something_is_in_the_digest(
    end: str, client: Client, human: Human, office: CommandLine
) -> None:
    client.extra = {"CLAUDE_CODE_SESSION_ATTENDED": "0"}
    client.tell("claude: SessionStart")
    assert client.tell(ASKS, tool_input=COMMAND).out == ""
    assert client.tell(ASKS, tool_input={"command": "ls"}).out == ""
    client.tell(RAN, tool_input={"command": "ls"})  # something else let it pass
    client.tell(end)
    (item,) = told(office)
    assert item["who"] == "alice"
    assert "git push origin main" in item["what"]
    assert "nobody was at its terminal" in item["what"]
    assert [row["state"] for row in human.requests()] == ["withdrawn"]


def test_a_session_with_somebody_at_its_terminal_was_refused_nothing(client: Client, office: CommandLine) -> None:
    client.extra = {"CLAUDE_CODE_SESSION_ATTENDED": "1"}
    client.tell("claude: SessionStart")
    client.tell(ASKS, tool_input=COMMAND)
    client.tell(STOP)
    assert told(office) == []
