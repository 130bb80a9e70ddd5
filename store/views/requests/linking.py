"""Links between requests: a later plan replaces an open one, and a yes to a stop is held against what came after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from store.protocol.entries import Order
from store.protocol.registry import SUPERSEDING
from store.views.requests.judging import Case
from store.views.rows import Flag, RequestRow, RequestState

Chain = tuple[str, str]
"""What links requests: the kind and its author, or `stop` and the agent that is to fall silent."""
_STOP = "stop"


class Link(Struct, frozen=True):
    """What other requests and messages make of a request.

    Attributes:
        ended, alive: For a stop that was agreed to: whether the agent is silent since, or writes all the same.
    """

    supersedes: str | None = None
    superseded_by: str | None = None
    ended: bool = False
    alive: bool = False


class Heard(Struct, frozen=True):
    """When an agent last said that it is alive, and when its creation was announced."""

    spoke: Order | None = None
    arrived: Order | None = None


def chain_of(case: Case) -> Chain | None:
    """The chain a request belongs to, None when it stands alone."""
    if case.row.kind in SUPERSEDING:
        return str(case.row.kind), case.row.asker
    return (_STOP, case.stops) if case.stops is not None and case.verdict is not None else None


def stop_chain(agent: str) -> Chain:
    """The chain of the stops of this agent."""
    return _STOP, agent


def links(chain: Chain, cases: Sequence[Case], heard: Heard) -> list[Link]:
    """The link of each of the `cases` of one chain, which are in the order of events."""
    return list(_endings(cases, heard)) if chain[0] == _STOP else _succession(cases)


def linked(case: Case, link: Link) -> RequestRow:
    """The row with its link; an open request that was superseded is open no more."""
    row = case.row
    if case.stops is not None:
        flags = (*row.flags, Flag.STILL_ALIVE) if link.alive else row.flags
        return replace(row, ended=link.ended, flags=flags)
    row = replace(row, supersedes=link.supersedes, superseded_by=link.superseded_by)
    if link.superseded_by is not None and row.state is RequestState.OPEN:
        return replace(row, state=RequestState.SUPERSEDED, flags=(*row.flags, Flag.SUPERSEDED))
    return row


def _succession(cases: Sequence[Case]) -> list[Link]:
    """Each replaces the one before unless that was approved or taken back; what was taken back replaces nothing."""
    found: list[Link] = []
    newer: str | None = None
    for place in range(len(cases) - 1, -1, -1):
        row, older = cases[place].row, cases[place - 1].row if place else None
        replaced = older is not None and older.state not in (RequestState.APPROVED, RequestState.WITHDRAWN)
        unsettled = row.state in (RequestState.OPEN, RequestState.REJECTED)
        found.append(Link(older.request_id if older and replaced else None, newer if unsettled else None))
        if row.state is not RequestState.WITHDRAWN:
            newer = row.request_id
    return found[::-1]


def _endings(cases: Iterable[Case], heard: Heard) -> Iterable[Link]:
    """After a yes to a stop: silent, or alive all the same; a later creation is another agent."""
    ends = [case.verdict.order for case in cases if case.verdict is not None]
    latest, spoke, arrived = max(ends), heard.spoke, heard.arrived
    for end in ends:
        alive = spoke is not None and spoke > end and not (arrived is not None and arrived > end)
        yield Link(ended=not alive, alive=alive and end >= latest)
