"""Outage of a store that somebody waits at: borne with while the wait lasts, said once, never taken for nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from team_console.store.contract.team import OUTCOME_UNKNOWN, PROCESS_LOST, SERVER_READ_ONLY
from team_console.store.model.errors import Code, TeamError

T = TypeVar("T")
Tell = Callable[[str], None]
"""Is told, as a sentence for whoever waits, that the store cannot be used and the wait goes on, and that it is over."""
_PASSING = frozenset({Code.STORE_UNREADABLE, Code.STORE_FAILED, Code.TEAM_NOT_FOUND})
_CERTAIN = frozenset({"changed", OUTCOME_UNKNOWN, PROCESS_LOST})
"""Facts of an error that no later look takes back."""
_SAID_AFTER = 1.0
"""Seconds after which an outage is worth a word: most that editors, git and busy writers cause are over by then."""
_LONGEST_UNKNOWN = 10.0
"""Seconds for which a store that can be read may lack what is waited for, as while git writes its files."""


def untold(words: str) -> None:
    """Tell nobody."""


def may_pass(error: TeamError) -> bool:
    """Whether a store that was of use before may be again without anybody doing something about the caller.

    No error passes after which it is not known what was written, that says that what was asked is something else, or
    that only another process will not have.
    """
    if error.facts.keys() & _CERTAIN:
        return False
    return error.code in _PASSING or (error.code is Code.READ_ONLY and bool(error.facts.get(SERVER_READ_ONLY)))


class Outage:
    """Bears with a store that was of use before and for a while is not: a server away, half of a file, a full disk.

    A lock that is held is borne with from the first look on.

    Args:
        tell: Is told of an outage that lasts longer than a moment, and of its end.
        known: Whether the store counts as one that was of use before the first look.

    Attributes:
        error: What the last look ran into; None when it found the store in order.
    """

    def __init__(self, tell: Tell = untold, *, known: bool = False) -> None:
        self.error: TeamError | None = None
        self._tell, self._was_read = tell, known
        self._since = 0.0
        self._is_told = False

    def look(self, act: Callable[[], T]) -> T | None:
        """What `act` finds; None while that can be expected to pass.

        Raises:
            TeamError: What `act` raises for another reason, or the first time.
        """
        try:
            found = act()
        except TeamError as error:
            if not self._bears(error):
                raise
            self.begin(error)
            return None
        self._end()
        return found

    def begin(self, error: TeamError) -> None:
        """Count it as an outage that a look ran into this error, whatever it says."""
        moment = time.monotonic()
        if self.error is None or _is_unknown(error) != _is_unknown(self.error):
            self._since = moment
        self.error, self._was_read = error, True
        if not self._is_told and moment - self._since >= _SAID_AFTER:
            self._is_told = True
            self._tell(f"{error.message} ({error.code}); the wait goes on")

    def _bears(self, error: TeamError) -> bool:
        if not self._was_read:
            return error.code is Code.STORE_LOCKED
        if _is_unknown(error):
            lasts = self.error is not None and _is_unknown(self.error)
            return not lasts or time.monotonic() - self._since < _LONGEST_UNKNOWN
        return error.code is Code.STORE_LOCKED or may_pass(error)

    def _end(self) -> None:
        was_told, self._is_told = self._is_told, False
        self.error, self._was_read = None, True
        if was_told:
            self._tell("the team can be used again; the wait goes on")


def _is_unknown(error: TeamError) -> bool:
    """Whether a store that could be read lacks what is waited for."""
    return error.code is Code.INVALID_REQUEST_ID and not error.facts.keys() & _CERTAIN
