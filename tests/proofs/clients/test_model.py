"""The scripted model: what it reads of each client's requests, and what it answers, without any client."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from tests.proofs.clients.model import ScriptedModel
from tests.proofs.clients.turns import Call, Conversation, Say, Turn

TOOLS = [{"name": "Bash"}]
CODEX_TOOLS = [
    {"type": "function", "name": "exec_command"},
    {"type": "namespace", "name": "n", "tools": [{"name": "t"}]},
]


def ask(model: ScriptedModel, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of an answer."""
    request = urllib.request.Request(f"{model.address}{path}", json.dumps(body).encode())
    with urllib.request.urlopen(request) as answer:
        lines = answer.read().decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_claude_code_is_answered_by_the_turn_its_conversation_has_come_to() -> None:
    first = {"role": "user", "content": [{"type": "text", "text": "Do it"}]}
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "one"}]}
    added = {"role": "system", "content": "Mail for you"}
    with ScriptedModel({"": [(Call("Bash", {"command": "echo one"}),), (Say("Done."),)]}) as model:
        events = ask(model, "/v1/messages?beta=true", {"messages": [first], "tools": TOOLS})
        start = next(event for event in events if event["type"] == "content_block_start")
        assert start["content_block"]["name"] == "Bash"
        assert events[-2]["delta"]["stop_reason"] == "tool_use"
        for _ in range(2):  # a call that is made again gets the same answer
            events = ask(model, "/v1/messages", {"messages": [first, call, result, added], "tools": TOOLS})
            assert "Done." in json.dumps(events)
        assert model.results == ["one"]
        assert "Mail for you" in model.told


def test_codex_is_answered_in_its_own_protocol() -> None:
    def look(conversation: Conversation) -> Turn:
        assert conversation.tools == {"exec_command", "n.t"}
        return (Call("n.t", {"a": 1}),)

    items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Work for Codex"}]}]
    with ScriptedModel({"Work for Codex": [look, (Say("Done."),)]}) as model:
        events = ask(model, "/v1/responses", {"input": items, "tools": CODEX_TOOLS})
        item = events[1]["item"]
        assert (item["type"], item["namespace"], item["name"]) == ("function_call", "n", "t")
        output = {"type": "function_call_output", "call_id": item["call_id"], "output": "one"}
        events = ask(model, "/v1/responses", {"input": [*items, item, output], "tools": CODEX_TOOLS})
        assert "Done." in json.dumps(events)
        assert events[-1]["type"] == "response.completed"


def test_what_is_no_conversation_uses_up_no_turn() -> None:
    with ScriptedModel({"": [(Say("The first turn."),)]}) as model:
        title = ask(model, "/v1/messages", {"messages": [{"role": "user", "content": "A title"}]})
        assert "The first turn." not in json.dumps(title)
