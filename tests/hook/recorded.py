"""Sessions of the real clients that were recorded when they asked, and what must be read of each, to the word.

`python -m tests.proofs.clients.record` plays them anew and writes `transcripts/NAME.jsonl`: the transcript as it was at
the moment of the hook, without what the vendor's instructions and the machine put into it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.proofs.clients.turns import Call, Say, Turn

TRANSCRIPTS = Path(__file__).parent / "transcripts"
ASKED = "mkfifo made"
Seen = tuple[str, str, str]
"""Tool, subject and state of a call, as it is read."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A session.

    Attributes:
        prompts: What the user says; each begins the model's next turns, but the last turn asks.
        turns: What the model does, prompt after prompt.
        user, agent, calls: What must be read.
        is_subagent: Whether a subagent asks.
    """

    prompts: Sequence[str]
    turns: Sequence[Turn]
    user: str
    agent: str
    calls: Sequence[Seen] = ()
    is_subagent: bool = False


def _turns(told: Sequence[Sequence[Mapping[str, Any]]]) -> list[Turn]:
    """What the model does, as the file has it."""
    return [
        tuple(Say(one["say"]) if "say" in one else Call(one["tool"], one["input"]) for one in turn) for turn in told
    ]


_SESSIONS = json.loads((TRANSCRIPTS / "sessions.json").read_text(encoding="utf-8"))
"""Every session by its name; `subagent` has what the model does in a conversation that begins with `SUB`."""
RECORDINGS: dict[str, Recording] = {
    name: Recording(
        told["prompts"],
        _turns(told["turns"]),
        told["user"],
        told["agent"],
        [(tool, subject, state) for tool, subject, state in told["calls"]],
        "subagent" in told,
    )
    for name, told in _SESSIONS.items()
}
SUBAGENT: Sequence[Turn] = _turns(_SESSIONS["claude-subagent"]["subagent"])
