"""A rehearsal of a write: everything is checked under the lock as for the write itself, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from msgspec.structs import replace
from team_console.store.contract.team import Team
from team_console.store.contract.transaction import Transaction
from team_console.store.service.caller import Caller


class _RehearsedError(Exception):
    """Ends the first transaction of a rehearsal before it is committed."""


class _RehearsalTeam:
    """A team whose transactions are never committed; all else is the team's own."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def __getattr__(self, name: str) -> Any:
        return getattr(self._team, name)

    @contextmanager
    def transaction(self, *, actor: str, action: str, wait: float) -> Iterator[Transaction]:
        with self._team.transaction(actor=actor, action=action, wait=wait) as tx:
            yield tx
            raise _RehearsedError


def rehearse(caller: Caller, act: Callable[[Caller], object]) -> None:
    """Do `act` up to the moment at which its first transaction would be written.

    What an act does outside of transactions before the first one ends is really done; those of the desk do nothing.

    Raises:
        TeamError: Whatever would refuse the write now.
    """
    team = cast(Team, _RehearsalTeam(caller.team))
    try:
        act(replace(caller, team=team, tell=_stop))
    except _RehearsedError:
        return


def _stop(words: str, give_up: Callable[[], None]) -> None:
    """A human's key is asked for only by the write itself."""
    raise _RehearsedError
