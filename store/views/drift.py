"""Where the latest roster and what is known of creations, destructions and settings do not agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from store.config import TeamConfig
from store.protocol.entries import Entry
from store.protocol.members import CREATED, DESTROYED, Membership, is_master
from store.team import Problem


def drift(config: TeamConfig, team: Membership, facts: Iterable[Entry]) -> Iterator[Problem]:
    """`ROSTER_DRIFT` for each agent the latest roster wrongly leaves out or still lists."""
    roster = team.roster
    if roster is None:
        return
    known: dict[str, bool] = {name: True for name, one in config.agents.items() if one.role == "resident"}
    for entry in facts:
        name, kind = entry.read.body.get("agent_name"), entry.read.name
        counts = kind in (CREATED, DESTROYED) and is_master(config, entry.message.sender)
        if isinstance(name, str) and counts and entry.order < roster.order:
            known[name] = kind == CREATED
    listed = _listed(roster)
    for name, there in known.items():
        if there is not (name in listed):
            why = "is left out of the latest roster" if there else "was destroyed and is still on the latest roster"
            hint = "The next complete roster repairs it; ask the Master to send one."
            yield Problem("ROSTER_DRIFT", "warning", f"{roster.message.message_id} {name}", f"{name} {why}", hint)


def _listed(roster: Entry) -> frozenset[str]:
    lists = roster.read.body.get("roster")
    values = lists.values() if isinstance(lists, Mapping) else ()
    return frozenset(name for one in values if isinstance(one, list) for name in one if isinstance(name, str))
