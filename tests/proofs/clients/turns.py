"""What a scripted model says and what was said to it, in words that both clients' protocols are put into."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Say:
    """Words of the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool the model calls; Codex keeps those of a server in a namespace, written as `namespace.tool`."""

    tool: str
    input: Mapping[str, Any]
    flagged: str | None = ""
    """Why the vendor's check of auto mode denies it; empty where it lets it pass, None behind a gateway without it."""


Turn = Sequence[Say | Call]
"""What the model does before it is told anything new: it says something, calls tools, or both."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a client asks the model to go on with.

    Attributes:
        opening: The words a human or a lead began it with.
        texts: Everything put before the model, the system's words first.
        results: What its tool calls gave, oldest first.
        turns: How many turns the model has had in it.
        tools: Names of the tools the model may call; without any it is asked for a title or the like.
    """

    opening: str
    texts: tuple[str, ...]
    results: tuple[str, ...]
    turns: int
    tools: frozenset[str]


Step = Turn | Callable[[Conversation], Turn]
"""One turn of a script, or what makes it of what the model was told."""
Play = Say | Call | Turn | Callable[[Conversation], "Say | Call | Turn"]
"""The same, where a turn of one thing need not be put into a list."""
