"""OpenAI's Chat Completions as Qwen Code and many others speak them: a request read, a turn as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.proofs.clients.turns import Call, Conversation, Say, Turn


def conversation(body: Mapping[str, Any]) -> Conversation:
    """What the request asks the model to go on with."""
    messages = body.get("messages", ())
    spoken = [(message.get("role"), _text(message)) for message in messages]
    return Conversation(
        opening="\n".join(text for role, text in spoken if role == "user"),
        texts=tuple(text for role, text in spoken if role in ("system", "user")),
        results=tuple(text for role, text in spoken if role == "tool"),
        turns=sum(role == "assistant" and not text.startswith("Got it. Thanks") for role, text in spoken),
        tools=frozenset(tool["function"]["name"] for tool in body.get("tools", ())),
    )


def events(turn: Turn, number: str) -> Iterator[str]:
    """The turn as a stream; `number` makes its ids unique."""
    calls = 0
    for block in turn:
        if isinstance(block, Say):
            yield _event(number, {"role": "assistant", "content": block.text})
        else:
            yield _event(number, {"role": "assistant", "tool_calls": [_call(block, f"{number}_{calls}", calls)]})
            calls += 1
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield _event(number, {}, finish_reason="tool_calls" if calls else "stop", usage=usage)
    yield "data: [DONE]\n\n"


def _call(call: Call, number: str, index: int) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": json.dumps(call.input)}
    return {"index": index, "id": f"call_{number}", "type": "function", "function": function}


def _event(number: str, delta: Mapping[str, Any], *, finish_reason: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    whole = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    return f"data: {json.dumps({**whole, 'choices': [choice], **more})}\n\n"


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
