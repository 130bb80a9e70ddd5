"""View of a team as it is now, with as much of the archive as a question needs."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace
from team_console.store.attachments import attachment_problems
from team_console.store.contract.team import Snapshot, Team
from team_console.store.model.problem import Problem
from team_console.store.views.board import Board, view_of
from team_console.store.views.history import past, unseen
from team_console.store.views.rows import RequestRow, View

ARCHIVED = 2_000
"""How many archived messages, newest first, count for requests answered long ago and for when agents were seen."""


def view_of_team(
    team: Team,
    snapshot: Snapshot,
    *,
    me: str,
    archived: int = ARCHIVED,
    thorough: bool = False,
    lists: bool = True,
) -> View:
    """The view of `me`. A request that is open is in the queue with everything said about it, so `archived=0`
    is enough for what waits. A `thorough` look reads the attachments, too, and has a finding when it did not reach
    back to the beginning. Without `lists` those of deliveries and inboxes are empty, and it takes half the time.
    """
    known = past(team, limit=archived)
    rest: tuple[Problem, ...] = (unseen(known),) if thorough and known.more else ()
    if thorough:
        rest += tuple(attachment_problems(team, (*snapshot.messages, *known.messages)))
    seen = replace(snapshot, problems=tuple(dict.fromkeys((*snapshot.problems, *known.problems, *rest))))
    return view_of(seen, me=me, now=team.clock(), history=known.messages, complete=known.complete, lists=lists)


def requests_of_team(
    team: Team, snapshot: Snapshot, *, archived: int = ARCHIVED
) -> tuple[datetime, tuple[RequestRow, ...]]:
    """The moment of the look, and the requests that `view_of_team` has; half the work where nothing else is asked."""
    known, now = past(team, limit=archived), team.clock()
    board = Board("", requests_only=True)
    return now, board.requests(snapshot, now, known.messages, complete=known.complete)
