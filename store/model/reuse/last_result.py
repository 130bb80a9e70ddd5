"""The result of a pure function kept for the object it was last asked about, told by identity and not by content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")


class LastResult(Generic[ArgumentT, ResultT]):
    """Calls `function` only when it is asked about another object than the last time; the object must not change."""

    def __init__(self, function: Callable[[ArgumentT], ResultT]) -> None:
        self._function = function
        self._known: tuple[ArgumentT, ResultT] | None = None

    def __call__(self, argument: ArgumentT) -> ResultT:
        """What `function` says of `argument`."""
        known = self._known
        if known is None or known[0] is not argument:
            known = self._known = argument, self._function(argument)
        return known[1]
