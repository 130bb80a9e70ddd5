"""Links between requests: a later plan replaces an open one, and a yes to a stop is held against what came after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.protocol.entries import Order
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.kinds.registry import SUPERSEDING
from team_console.store.views.requests.judging import Case
from team_console.store.views.rows import Flag, RequestRow, RequestState

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


LinkedCases = dict[str, tuple[Case, Link]]
"""The requests of a chain by row key, in the order of events, each with its link."""


def chains_of(case: Case) -> tuple[Chain, ...]:
    """The chain a request belongs to, none when it stands alone."""
    if case.row.kind is RequestKind.SHUTDOWN:
        return (stop_chain(case.row.addressee),)
    if case.row.kind in SUPERSEDING:
        return ((str(case.row.kind), case.row.asker),)
    return (stop_chain(case.stops),) if case.stops is not None and case.verdict is not None else ()


def plan_chain(author: str) -> Chain:
    """The chain of the plans of this agent."""
    return str(RequestKind.PLAN), author


def stop_chain(agent: str) -> Chain:
    """The chain of the stops of this agent."""
    return _STOP, agent


def links(chain: Chain, cases: Iterable[Case], heard: Heard) -> LinkedCases | None:
    """The cases of one chain, each with its link; None when there are none."""
    ordered = sorted(cases, key=lambda case: case.order)
    made = _stops(ordered, heard) if chain[0] == _STOP else _succession(ordered)
    return {case.row.key: (case, link) for case, link in zip(ordered, made, strict=True)} or None


def linked_row(case: Case, link: Link) -> RequestRow:
    """The row with its link; an open request that was superseded is open no more."""
    row = replace(case.row, supersedes=link.supersedes, superseded_by=link.superseded_by)
    if case.stops is not None:
        flags = (*row.flags, Flag.STILL_ALIVE) if link.alive else row.flags
        return replace(row, ended=link.ended, flags=flags)
    if link.superseded_by is not None and row.state is RequestState.OPEN:
        return replace(row, state=RequestState.SUPERSEDED, flags=(*row.flags, Flag.SUPERSEDED))
    return row


def _stops(cases: Sequence[Case], heard: Heard) -> list[Link]:
    """Stops of one agent: whoever asks again replaces an open question; each yes is held against what came after."""
    made = {case.row.key: Link() for case in cases}
    asked = [case for case in cases if case.row.kind is RequestKind.SHUTDOWN]
    for asker in {case.row.asker for case in asked}:
        same = [case for case in asked if case.row.asker == asker]
        # A stop that was refused is history, and the next one a new matter; a rejected plan is revised.
        made.update(zip((case.row.key for case in same), _succession(same, RequestState.REJECTED), strict=True))
    agreed = [case for case in cases if case.stops is not None and case.verdict is not None]
    for case, ending in zip(agreed, _endings(agreed, heard), strict=True):
        made[case.row.key] = replace(made[case.row.key], ended=ending.ended, alive=ending.alive)
    return list(made.values())


def _succession(cases: Sequence[Case], *final: RequestState) -> list[Link]:
    """Each replaces the one before unless that was approved or taken back; what was taken back replaces nothing.

    Args:
        final: Further states in which a request is neither replaced nor points to a later one.
    """
    found: list[Link] = []
    newer: str | None = None
    for place in range(len(cases) - 1, -1, -1):
        row, older = cases[place].row, cases[place - 1].row if place else None
        replaced = older is not None and older.state not in (RequestState.APPROVED, RequestState.WITHDRAWN, *final)
        replaceable = row.state in {RequestState.OPEN, RequestState.REJECTED}.difference(final)
        found.append(Link(older.request_id if older and replaced else None, newer if replaceable else None))
        if row.state is not RequestState.WITHDRAWN:
            newer = row.request_id
    return found[::-1]


def _endings(cases: Iterable[Case], heard: Heard) -> Iterable[Link]:
    """After a yes to a stop: silent, or alive all the same; a later creation is another agent."""
    ends = [case.verdict.order for case in cases if case.verdict is not None]
    latest, spoke, arrived = max(ends, default=None), heard.spoke, heard.arrived
    for end in ends:
        alive = spoke is not None and spoke > end and not (arrived is not None and arrived > end)
        yield Link(ended=not alive, alive=alive and end == latest)
