"""Looks at a team long enough to tell a lock that blocks from one that is only being used."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from team_console.store.contract.team import Snapshot, Team

_PAUSE = 0.05


def watched(team: Team) -> Snapshot:
    """The team as it is now. A lock that is held is watched for a second, to tell one that blocks from a write.

    What counts is the moment of the last look, not now: a look on a busy machine is old when it is there.
    """
    from team_console.store.views.truth import LONG_WRITE, is_in_the_way

    snapshot = team.snapshot()
    first, until = snapshot.holder, time.monotonic() + 2 * LONG_WRITE
    while (holder := snapshot.holder) is not None and first is not None and time.monotonic() < until:
        is_same = (holder.pid, holder.since) == (first.pid, first.since)
        if not is_same or is_in_the_way(holder, snapshot.taken_at):
            break
        time.sleep(_PAUSE)
        snapshot = team.snapshot()
    return snapshot
