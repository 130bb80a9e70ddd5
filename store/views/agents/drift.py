"""Where the latest roster and what is known of creations, destructions and settings do not agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from team_console.store.model.problem import Problem
from team_console.store.protocol.checks.team_rules import expected_on_roster, roster_gaps
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.relations.membership import Membership
from team_console.store.settings.team_config import TeamConfig


def drift(config: TeamConfig, team: Membership, facts: Iterable[Entry]) -> Iterator[Problem]:
    """`ROSTER_DRIFT` for each agent the latest roster wrongly leaves out or still lists."""
    roster = team.roster
    if roster is None:
        return
    expected = expected_on_roster(config, (entry for entry in facts if entry.order < roster.order))
    for name, wrong in roster_gaps(roster.read, expected):
        hint = "The next complete roster repairs it; the lead sends it with: team-console roster --send"
        text = f"{name} {wrong} in the latest roster"
        yield Problem("ROSTER_DRIFT", "warning", f"{roster.message.message_id} {name}", text, hint)
