"""Plans of a sprint: which stories each batch of a session has, by plan, correction and dispatch (seed 002)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from team_console.store.model.message import Fields, nonempty
from team_console.store.protocol.foreign_fields import as_key, ids_listed, key_in
from team_console.store.protocol.parsing import ParsedMessage

PLAN, CORRECTION, BATCH_REPORT = "BATCH_PLAN_READY", "COURSE_CORRECTION", "SLAVE_BATCH_COMPLETE"
"""Kinds that say which stories each batch has, that change it, and that report a batch as done."""
DISPATCH = "AGENT_DISPATCH_REQUEST"
"""The kind that asks for an agent together with its task: it stands for the first five steps of a sprint, and the
residents are told nothing."""
COMPLETE = "AGENT_COMPLETE"
"""The kind by which an agent reports that its story is done."""
Batches = dict[str, list[str]]
"""Batch id -> its stories."""
Plan = tuple[tuple[str, tuple[str, ...]], ...]
"""Batch id and stories of each batch of a session."""


def plans_of(reads: Iterable[ParsedMessage]) -> dict[str, Plan]:
    """Return session -> its batches by all plans and corrections; what a batch was first planned with counts."""
    sessions: dict[str, Batches] = {}
    for read in reads:
        session = key_in(read.body, "session_id")
        if read.name == PLAN:
            sessions[session] = planned(read.body.get("batches"))
        elif read.name == CORRECTION:
            sessions[session] = replanned(sessions.get(session, {}), read.body, ())
    return {session: _frozen(batches) for session, batches in sessions.items()}


def _frozen(batches: Batches) -> Plan:
    """Return batches as a value that can be compared and kept."""
    return tuple((batch, tuple(stories)) for batch, stories in batches.items())


def planned(batches: Any) -> Batches:
    """Return batch id -> stories, as a plan lists them; of batches that share an id the stories of all."""
    found: dict[str, dict[str, None]] = {}
    for item in batches if isinstance(batches, list) else ():
        if isinstance(item, Mapping) and batch_key(item.get("batch_id")):
            stories = ids_listed(item.get("stories") or item.get("story_keys"))
            found.setdefault(batch_key(item.get("batch_id")), {}).update(dict.fromkeys(stories))
    return {key: list(stories) for key, stories in found.items()}


def replanned(now: Mapping[str, list[str]], body: Fields, begun: Collection[str]) -> Batches:
    """Return the batches after a correction: new ones take their stories over, and only what is dropped is dropped.

    Args:
        now: The batches before it.
        body: The JSON of the correction.
        begun: Stories that somebody works on; they stay in their batch.
    """
    new = planned(body.get("new_batches") or body.get("new_batch_plan"))
    dropped = {story for story in ids_listed(body.get("dropped_stories")) if story not in begun}
    moved = {story for stories in new.values() for story in stories}

    def stays(batch: str, story: str) -> bool:
        """Return whether a batch keeps a story; a new batch of the same id lists its stories anew."""
        return story in begun or not (story in dropped or story in moved or batch in new)

    kept = {batch: [story for story in stories if stays(batch, story)] for batch, stories in now.items()}
    there = {story for stories in kept.values() for story in stories}
    for key, stories in new.items():
        kept[key] = kept.get(key, []) + [story for story in stories if story not in there]
    return nonempty(kept)


def dispatched_name(read: ParsedMessage) -> str:
    """Return the name of the agent that a dispatch asks for: its type and its story, as the protocol names agents."""
    body = read.body
    return f"{key_in(body, 'agent_type')}-{key_in(body, 'story_key')}"


def batch_key(value: Any) -> str:
    """Return a batch id, `1` or `batch-1`, as text."""
    return as_key(value).removeprefix("batch-")
