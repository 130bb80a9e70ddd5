"""Plans of a sprint: which stories each batch of a session has, by plan, correction and dispatch (seed 002)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from team_console.store.protocol.parsing import ParsedMessage

PLAN, CORRECTION, BATCH_REPORT = "BATCH_PLAN_READY", "COURSE_CORRECTION", "SLAVE_BATCH_COMPLETE"
DISPATCH, COMPLETE = "AGENT_DISPATCH_REQUEST", "AGENT_COMPLETE"
"""Asks for an agent together with its task: it stands for the first five steps, and the residents are told nothing."""
Plan = tuple[tuple[str, tuple[str, ...]], ...]
"""Batch id and stories of each batch of a session."""


def plans_of(reads: Iterable[ParsedMessage]) -> dict[str, Plan]:
    """Session -> its batches by all plans and corrections, in order; what a batch was first planned with counts."""
    sessions: dict[str, dict[str, list[str]]] = {}
    for read in reads:
        if read.name in (PLAN, CORRECTION):
            name = text_of_key(read.body.get("session_id"))
            now = sessions.setdefault(name, {})
            sessions[name] = planned(read.body.get("batches")) if read.name == PLAN else replanned(now, read.body, ())
    return {name: tuple((key, tuple(stories)) for key, stories in now.items()) for name, now in sessions.items()}


def planned(batches: Any) -> dict[str, list[str]]:
    """Batch id -> stories, as a plan lists them."""
    found: dict[str, list[str]] = {}
    for item in batches if isinstance(batches, list) else ():
        if isinstance(item, Mapping) and batch_key(item.get("batch_id")):
            stories = texts_of(item.get("stories") or item.get("story_keys"))
            found.setdefault(batch_key(item.get("batch_id")), list(dict.fromkeys(stories)))
    return found


def replanned(now: Mapping[str, list[str]], body: Mapping[str, Any], begun: Collection[str]) -> dict[str, list[str]]:
    """The batches after a correction: new ones take their stories over, and only what is dropped is dropped.

    Args:
        begun: Stories that somebody works on; they stay in their batch.
    """
    new = planned(body.get("new_batches") or body.get("new_batch_plan"))
    dropped = {story for story in texts_of(body.get("dropped_stories")) if story not in begun}
    moved = {story for stories in new.values() for story in stories}
    kept = {
        key: [
            story
            for story in stories
            if story not in dropped and (story in begun or (story not in moved and key not in new))
        ]
        for key, stories in now.items()
    }
    there = {story for stories in kept.values() for story in stories}
    for key, stories in new.items():
        kept[key] = kept.get(key, []) + [story for story in stories if story not in there]
    return {key: stories for key, stories in kept.items() if stories}


def dispatched_name(read: ParsedMessage) -> str:
    """The name of the agent that a dispatch asks for: its type and its story, as the protocol names agents."""
    body = read.body
    return f"{text_of_key(body.get('agent_type'))}-{text_of_key(body.get('story_key'))}"


def batch_key(value: Any) -> str:
    """A batch id, `1` or `batch-1`, as text."""
    return text_of_key(value).removeprefix("batch-")


def text_of_key(value: Any) -> str:
    """A key as text, empty where there is none."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def texts_of(value: Any) -> list[str]:
    """The texts of a list."""
    return [text for item in value if (text := text_of_key(item))] if isinstance(value, list) else []
