"""A dry run: a write action runs up to the commit of its first transaction, to learn what would refuse it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

from msgspec.structs import replace
from team_console.store.contract.team import Team
from team_console.store.contract.transaction import Transaction
from team_console.store.service.caller import Caller


class _DryRunEndError(Exception):
    """Ends a dry run before its first transaction is committed."""


class _DryRunTeam:
    """A team whose transactions are never committed; everything else is the real team."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def __getattr__(self, name: str) -> Any:
        return getattr(self._team, name)

    @contextmanager
    def transaction(self, *, actor: str, action: str, wait: float) -> Iterator[Transaction]:
        with self._team.transaction(actor=actor, action=action, wait=wait) as tx:
            yield tx
            raise _DryRunEndError


def dry_run(caller: Caller, write: Callable[[Caller], object]) -> None:
    """Run `write` up to the commit of its first transaction.

    Effects outside of transactions before that commit are real; write actions of the service have none.

    Raises:
        TeamError: What would refuse the write now.
    """

    def stop(words: str, give_up: Callable[[], None]) -> None:
        raise _DryRunEndError  # only the real write may ask for a key to sign with

    with suppress(_DryRunEndError):
        write(replace(caller, team=cast(Team, _DryRunTeam(caller.team)), tell=stop))
