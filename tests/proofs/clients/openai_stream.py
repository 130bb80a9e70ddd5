"""OpenAI's Responses as Codex speaks them: a request read, a turn written as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.proofs.clients.turns import Call, Conversation, Say, Turn

_USAGE = {
    "input_tokens": 1,
    "input_tokens_details": None,
    "output_tokens": 1,
    "output_tokens_details": None,
    "total_tokens": 2,
}


def conversation(body: Mapping[str, Any]) -> Conversation:
    """What the request asks the model to go on with."""
    items = body.get("input", ())
    spoken = [(item.get("role"), _text(item)) for item in items if item.get("type", "message") == "message"]
    said = tuple(text for role, text in spoken if role != "assistant")
    return Conversation(
        opening="\n".join(text for role, text in spoken if role == "user"),
        texts=(body.get("instructions", ""), *said),
        results=tuple(_result(item) for item in items if item.get("type") == "function_call_output"),
        turns=_turns(items),
        tools=frozenset(_tools(body.get("tools", ()))),
    )


def events(turn: Turn, number: str) -> Iterator[str]:
    """The turn as a stream; `number` makes its ids unique."""
    response = {"id": f"resp_{number}"}
    yield _event("response.created", response=response)
    for index, block in enumerate(turn):
        yield _event("response.output_item.done", output_index=index, item=_item(block, f"{number}_{index}"))
    yield _event("response.completed", response={**response, "usage": _USAGE})


def _tools(tools: Any) -> Iterator[str]:
    """Names of functions, those in a namespace with it before them."""
    for tool in tools:
        name = tool.get("name", tool.get("type", ""))
        yield from (f"{name}.{inner['name']}" for inner in tool["tools"]) if "tools" in tool else (name,)


def _turns(items: Any) -> int:
    """How often the model had its turn: a run of its own items is one."""
    own = [item.get("type") == "function_call" or item.get("role") == "assistant" for item in items]
    return sum(mine and not before for before, mine in zip([False, *own], own, strict=False))


def _item(block: Say | Call, number: str) -> dict[str, Any]:
    if isinstance(block, Say):
        content = [{"type": "output_text", "text": block.text, "annotations": []}]
        return {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}
    namespace, _, tool = block.tool.rpartition(".")
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": tool,
        "arguments": json.dumps(block.input),
        **({"namespace": namespace} if namespace else {}),
    }


def _event(name: str, **fields: Any) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n"


def _text(item: Mapping[str, Any]) -> str:
    content = item.get("content", "")
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _result(item: Mapping[str, Any]) -> str:
    output = item.get("output", "")
    return output if isinstance(output, str) else json.dumps(output)
