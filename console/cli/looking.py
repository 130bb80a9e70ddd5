"""Looks at a team long enough to tell a lock that blocks from one that is only being used."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from team_console.store.contract.team import Snapshot, Team

_PAUSE = 0.05


def watched(team: Team) -> Snapshot:
    """The team as it is now. A lock that is held is watched for a second, to tell one that blocks from a write."""
    from team_console.store.views.truth import LONG_WRITE, held_for

    snapshot = team.snapshot()
    first, until = snapshot.holder, time.monotonic() + LONG_WRITE
    while (holder := snapshot.holder) is not None and first is not None and time.monotonic() < until:
        is_same = (holder.pid, holder.since) == (first.pid, first.since)
        if not is_same or (held_for(holder, team.clock()) or 0.0) >= LONG_WRITE:
            break
        time.sleep(_PAUSE)
        snapshot = team.snapshot()
    return snapshot
