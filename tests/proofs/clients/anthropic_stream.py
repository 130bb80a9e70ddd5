"""Anthropic's Messages as Claude Code speaks them: a request read, a turn written as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.proofs.clients.turns import Call, Conversation, Say, Turn

_USAGE = {"input_tokens": 1, "output_tokens": 1}


def conversation(body: Mapping[str, Any]) -> Conversation:
    """What the request asks the model to go on with."""
    messages = body.get("messages", ())
    # What hooks add comes as messages of the system in the middle of a conversation.
    told = [message for message in messages if message["role"] != "assistant"]
    parts = [part for message in told for part in _parts(message["content"])]
    system = [part.get("text", "") for part in _parts(body.get("system", ""))]
    texts = [part.get("text", "") for part in parts if part["type"] == "text"]
    first = next((message for message in messages if message["role"] == "user"), {"content": ""})
    return Conversation(
        opening="\n".join(part.get("text", "") for part in _parts(first["content"])),
        texts=(*system, *texts),
        results=tuple(_result(part) for part in parts if part["type"] == "tool_result"),
        turns=sum(message["role"] == "assistant" for message in messages),
        tools=frozenset(tool["name"] for tool in body.get("tools", ())),
    )


def events(turn: Turn, number: str) -> Iterator[str]:
    """The turn as a stream; `number` makes its ids unique."""
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    stopped = "tool_use" if any(isinstance(block, Call) for block in turn) else "end_turn"
    yield _event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": _USAGE})
    for index, block in enumerate(turn):
        start, delta = _block(block, f"toolu_{number}_{index}")
        yield _event("content_block_start", index=index, content_block=start)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    calls = {f"toolu_{number}_{at}": block for at, block in enumerate(turn) if isinstance(block, Call)}
    checked = {name: _judged(call.flagged) for name, call in calls.items() if call.flagged is not None}
    verdicts = {"type": "dangerous_tool_use", "status": {"type": "available", "tool_uses": checked}}
    end: dict[str, Any] = {"stop_reason": stopped, "stop_sequence": None}
    if len(checked) == len(calls):
        end["safeguard_results"] = [verdicts]
    yield _event("message_delta", delta=end, usage=_USAGE)
    yield _event("message_stop")


def _judged(flagged: str) -> dict[str, Any]:
    """What the check of auto mode finds, which comes in the same answer."""
    if flagged:
        return {"type": "evaluated", "outcome": "flagged", "explanation": flagged}
    return {"type": "evaluated", "outcome": "not_flagged"}


def _block(block: Say | Call, call_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    if isinstance(block, Say):
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block.text}
    start = {"type": "tool_use", "id": call_id, "name": block.tool, "input": {}}
    return start, {"type": "input_json_delta", "partial_json": json.dumps(block.input)}


def _event(name: str, **fields: Any) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n"


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _result(part: Mapping[str, Any]) -> str:
    return "\n".join(inner.get("text", "") for inner in _parts(part.get("content", "")))
