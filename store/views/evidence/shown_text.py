"""A request and its evidence as one text, so that what changed can be told as a diff."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from team_console.store.model.message import Message
from team_console.store.views.evidence.facts import Evidence


def shown_text(question: Message, evidence: Evidence | None, content: str | None = None) -> str:
    """Everything that a human decides on, one thing a line; other things give another text.

    Args:
        content: The whole content where the question holds only its beginning.
    """
    lines = [f"type: {question.type}", f"from: {question.sender}", f"to: {', '.join(question.recipients)}"]
    lines += _fields(question.payload)
    if content is not None:
        lines += ["whole content:", *_indented(content)]
    for piece in evidence.lines if evidence is not None else ():
        lines += ["evidence:", *_indented(piece)]
    return "\n".join(lines) + "\n"


def _fields(payload: Mapping[str, Any]) -> Iterator[str]:
    for key, value in payload.items():
        text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False, default=str)
        if "\n" in text:
            yield f"{key}:"
            yield from _indented(text)
        else:
            yield f"{key}: {text}"


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in text.split("\n"))
