"""Sprint messages on the command line: what is odd is said to their sender, and what is wrong is refused clearly."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.conftest import CommandLine


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


@pytest.mark.parametrize("batch_id", [None, [], ""])
def test_a_batch_id_that_is_none_is_refused_in_words_that_fit(sprint: CommandLine, batch_id: object) -> None:
    body = {"batch_id": batch_id, "session_id": "s", "stories_completed": [], "stories_failed": [], "batch_report": ""}
    refused = sprint("--as", "slave-batch-1", "sendmessage", stdin=carried("SLAVE_BATCH_COMPLETE", body))
    assert "batch_id: must be a number or a text" in refused.json["message"]


def test_a_course_correction_may_be_triggered_without_words(sprint: CommandLine) -> None:
    sprint.ok("send", "--as", "ceo", "--to", "scrum-master", "--type", "CC_TRIGGER", "--payload", "{}")


def test_an_end_asked_for_in_the_wrong_direction_is_not_granted(sprint: CommandLine) -> None:
    content = 'AGENT_DESTROY_REQUEST: {"msg_type": "AGENT_DESTROY_REQUEST", "agent_name": "dev-runner-3-1"}'
    record = {"message_id": "D1", "type": "message", "from": "debugger", "to": "ceo", "payload": {"content": content}}
    (sprint.folder / "message-queue.yaml").write_text(json.dumps({"messages": [record]}))
    for look in ((), ("--dry-run",)):
        refused = sprint("approve", "D1", "--as", "ceo", "--json", *look)
        assert (refused.status, refused.json["error"]) == (1, "NOT_PERMITTED")
        assert "debugger is not a slave" in refused.json["message"]
    sprint.ok("reject", "D1", "--as", "ceo", "--reason", "ask its slave")
