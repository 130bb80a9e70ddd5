"""Makes the view that looking verbs print, with as much of the archive as their question needs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from store.team import Snapshot, Team
    from store.views.rows import View

ARCHIVED = 2_000
"""How many archived messages, newest first, count for requests answered long ago and for when agents were seen."""
_PAUSE = 0.05


def watched(team: Team) -> Snapshot:
    """The team as it is now. A lock that is held is watched for a second, to tell one that blocks from a write."""
    from store.views.truth import LONG_WRITE, held_for

    snapshot = team.snapshot()
    first, until = snapshot.holder, time.monotonic() + LONG_WRITE
    while (holder := snapshot.holder) is not None and first is not None and time.monotonic() < until:
        is_same = (holder.pid, holder.since) == (first.pid, first.since)
        if not is_same or (held_for(holder, team.clock()) or 0.0) >= LONG_WRITE:
            break
        time.sleep(_PAUSE)
        snapshot = team.snapshot()
    return snapshot


def view_of_team(team: Team, snapshot: Snapshot, *, me: str, archived: int = ARCHIVED, thorough: bool = False) -> View:
    """The view of `me`. A request that is open is in the queue with everything said about it, so `archived=0`
    is enough for what waits. A `thorough` look has a finding when it did not reach back to the beginning.
    """
    from store.views.board import view_of
    from store.views.history import past, unseen

    known = past(team, limit=archived)
    rest = (unseen(known),) if thorough and known.more else ()
    seen = replace(snapshot, problems=tuple(dict.fromkeys((*snapshot.problems, *known.problems, *rest))))
    return view_of(seen, me=me, now=team.clock(), history=known.messages, complete=known.complete)
