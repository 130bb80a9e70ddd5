"""Sprint messages on the command line: what is odd is said to their sender, and what is wrong is refused clearly."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.equipment.command_line import CommandLine


@pytest.fixture
def sprint(make_team: Callable[..., CommandLine]) -> CommandLine:
    """A team with the roles of a sprint."""
    return make_team("scrum-master:resident", "debugger:resident", "slave-batch-1:slave", "dev-runner-3-1:temp")


def carried(name: str, body: dict[str, object]) -> str:
    content = f"{name}: {json.dumps({'msg_type': name, **body})}"
    return json.dumps({"type": "message", "recipient": "ceo", "content": content, "summary": "six words or so go here"})


def test_a_mistyped_kind_is_sent_with_a_warning_that_names_the_nearest(sprint: CommandLine) -> None:
    document = carried("AGENT_CREATE_REQEST", {"agent_type": "x"})
    (told,) = sprint.ok("--as", "slave-batch-1", "sendmessage", stdin=document).json["warnings"]
    assert "AGENT_CREATE_REQEST is no kind that is known here" in told
    assert "AGENT_CREATE_REQUEST" in told


def test_an_end_asked_for_in_the_wrong_direction_is_not_granted(sprint: CommandLine) -> None:
    content = 'AGENT_DESTROY_REQUEST: {"msg_type": "AGENT_DESTROY_REQUEST", "agent_name": "dev-runner-3-1"}'
    record = {"message_id": "D1", "type": "message", "from": "debugger", "to": "ceo", "payload": {"content": content}}
    (sprint.folder / "message-queue.yaml").write_text(json.dumps({"messages": [record]}))
    for look in ((), ("--dry-run",)):
        refused = sprint("approve", "D1", "--as", "ceo", "--json", *look)
        assert (refused.status, refused.json["error"]) == (1, "NOT_PERMITTED")
        assert "debugger is not a slave" in refused.json["message"]
    sprint.ok("reject", "D1", "--as", "ceo", "--reason", "ask its slave")
