"""`sendmessage`: documents as seed 001 has them, several in one input, and repeated under the sender's own id."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from team_console.console.cli.streams import json_documents

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

BLOCKS = (Path(__file__).parents[1] / "protocol" / "sendmessage_blocks.txt").read_text("utf-8").split("%%\n")
"""Every JSON block of seed 001, as it stands there."""


def test_a_text_with_a_line_separator_is_part_of_its_document() -> None:
    documents = [{"content": "one\u2028two\u2029\x85"}, {"content": "three"}]
    text = "".join(json.dumps(document, ensure_ascii=False) + "\r\n" for document in documents)
    assert json_documents(text, hint="") == documents


def ask(team: CommandLine, request_id: str, kind: str) -> None:
    """A request of another program, between ceo and task-manager."""
    sender, to = ("ceo", "task-manager") if kind == "shutdown_request" else ("task-manager", "ceo")
    record = {"message_id": f"M-{request_id}", "type": kind, "from": sender, "to": to, "status": "pending"}
    more = {
        "priority": "high",
        "created": "2026-02-24T10:30:00Z",
        "payload": {"request_id": request_id, "content": "c"},
    }
    text = f"messages:\n- {json.dumps({**record, **more})}\n"
    (team.folder / "message-queue.yaml").write_text(text, "utf-8")


def replies(team: CommandLine, actor: str, text: str) -> list[dict[str, Any]]:
    """What `sendmessage` says to each document."""
    return [json.loads(line) for line in team("--as", actor, "sendmessage", stdin=text).out.splitlines()]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_every_block_of_the_source_goes_in_as_it_stands(team: CommandLine, block: str) -> None:
    kinds = re.findall(r'"type": "(\w+)"', block)
    for request_id in re.findall(r'"request_id": "(\S+)"', block)[:1]:
        ask(team, request_id, "shutdown_request" if "shutdown" in kinds[0] else "plan_approval_request")
    actor = "task-manager" if kinds[0] == "shutdown_response" else "ceo"
    said = replies(team, actor, block)
    # The one block that holds the words of several agents: whoever hands it in cannot answer for the others.
    mine = [kind != "shutdown_response" or actor != "ceo" for kind in kinds]
    assert [row["success"] for row in said] == mine


def test_a_text_in_which_nobody_can_tell_where_a_document_ends_sends_nothing(team: CommandLine) -> None:
    text = BLOCKS[0] + BLOCKS[0].replace("}", "") + BLOCKS[0]
    [refusal] = replies(team, "ceo", text)
    assert refusal["error"] == "INVALID_FIELD"
    assert team.ok("history --json").json["count"] == 0


@pytest.mark.parametrize("number", [0, 4, 9], ids=str)
def test_a_document_repeated_under_its_own_id_is_written_once(team: CommandLine, number: int) -> None:
    document = json.loads(BLOCKS[number])
    if "request_id" in document:
        kind = "plan_approval_request" if document["type"].startswith("plan") else "shutdown_request"
        ask(team, document["request_id"], kind)
    actor = "task-manager" if document["type"] == "shutdown_response" else "ceo"
    text = json.dumps({**document, "message_id": "own-1"})
    [first], [again] = replies(team, actor, text), replies(team, actor, text)
    count = team.ok("history --json").json["count"]
    assert (first.get("repeated"), again["repeated"], again["message_id"]) == (None, True, first["message_id"])
    [other] = replies(team, actor, json.dumps({**document, "message_id": "own-1", "content": "something else"}))
    assert other["error"] == "DUPLICATE_ID"
    assert team.ok("history --json").json["count"] == count
    assert first["message_id"] in ("own-1", "own-1.file-manager", "own-1.task-manager")
