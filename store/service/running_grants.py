"""Grants as they stand, and how they end: by the word of their human, or with the agent that they were made for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace
from team_console.store.contract.snapshot import TeamState
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message, Status
from team_console.store.model.recorded_facts import RECALL_GRANT
from team_console.store.protocol.grants import GRANTED, RECALLED, RunningGrant, grants_among, scope_in
from team_console.store.protocol.trust import grant_objection
from team_console.store.service.writing import Draft, write_drafts


def all_grants(state: TeamState) -> Iterator[RunningGrant]:
    """Yield every grant as it stands; one that is not the lead's own words, on record as ours, is over."""
    for one in grants_among(state.everything(), state.now, state.recorded):
        why = "" if one.over else grant_objection(state.config, one.grant, state.recorded)
        yield replace(one, over=f"it gives no answer: {why}") if why else one


def in_force(state: TeamState) -> list[RunningGrant]:
    """Return the grants that give answers."""
    return [one for one in all_grants(state) if not one.over]


def grants_for(state: TeamState, agent: str) -> list[str]:
    """Return the ids of the grants that give answers to this agent."""
    return [one.grant.message_id for one in in_force(state) if scope_in(one.grant).agent == agent]


def end_grants_for(tx: Transaction, agent: str, actor: str) -> None:
    """Recall the grants of an agent whose life in the team begins or ends without a change of the settings (D34).

    Whoever has that name next is not the one whose permissions were decided. For an agent that is taken out of the
    settings nothing has to be written: the trail has that, and `RecordedFacts` ends its grants.
    """
    # guard: grant-ends-with-its-life
    for grant_id in grants_for(tx, agent):
        write_recall(tx, actor, grant_id)


def write_recall(tx: Transaction, actor: str, grant_id: str) -> Message:
    """Write that a grant is recalled, and put it on record."""
    payload = {GRANTED: grant_id, "summary": f"Grant recalled: {grant_id}"}
    message = write_to_self(tx, RECALLED, actor, payload)
    tx.archive(actor, message)
    tx.record(RECALL_GRANT, ids=[message.message_id], grant=grant_id)
    return message


def write_to_self(tx: Transaction, type: str, actor: str, payload: Mapping[str, Any]) -> Message:
    """Write a message of the actor to itself, read already."""
    draft = Draft(type, actor, (actor,), payload)
    (message,) = write_drafts(tx, draft, status=Status.READ.value, read_at=to_text(tx.now))
    return message
