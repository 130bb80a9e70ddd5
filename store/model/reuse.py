"""Results that are kept: of pure functions, of groups, of patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

# The result of a pure function kept for the object it was last asked about, told by identity and not by content.

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


# Memo tables: what is known of a group is a pure function of its members, and made again only when one changed.

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Multimap(Generic[KeyT, ValueT]):
    """Members by key; a member may have several keys, or none.

    Args:
        keys: The keys of a member, always the same ones.
    """

    def __init__(self, keys: Callable[[ValueT], Iterable[KeyT]]) -> None:
        self._keys_of = keys
        self._members: dict[KeyT, list[ValueT]] = {}

    @property
    def keys(self) -> Iterable[KeyT]:
        """The keys that have members."""
        return self._members.keys()

    def of(self, key: KeyT) -> Sequence[ValueT]:
        """The members with this key, in no order."""
        return self._members.get(key, ())

    def put(self, value: ValueT) -> Iterable[KeyT]:
        """A member came; returns its keys."""
        keys = tuple(self._keys_of(value))
        for key in keys:
            self._members.setdefault(key, []).append(value)
        return keys

    def drop(self, value: ValueT) -> Iterable[KeyT]:
        """A member went; returns its keys."""
        keys = tuple(self._keys_of(value))
        for key in keys:
            members = self._members[key]
            members.remove(value)
            if not members:
                del self._members[key]
        return keys


class Memo(Generic[KeyT, ValueT]):
    """Values by key. Say which keys were touched, then `renew` them; what a key rests on must not change unsaid."""

    def __init__(self) -> None:
        self._values: dict[KeyT, ValueT] = {}
        self._touched: set[KeyT] = set()

    @property
    def touched(self) -> frozenset[KeyT]:
        """The keys whose values are made again at the next `renew`."""
        return frozenset(self._touched)

    @property
    def values(self) -> Iterable[ValueT]:
        """What was made last, of every key that has a value."""
        return self._values.values()

    def get(self, key: KeyT) -> ValueT | None:
        """The value of a key as it was made last, None when it has none."""
        return self._values.get(key)

    def touch(self, *keys: KeyT) -> None:
        """What these keys rest on changed."""
        self._touched.update(keys)

    def renew(self, make: Callable[[KeyT], ValueT | None]) -> list[tuple[KeyT, ValueT | None, ValueT | None]]:
        """Make the values of all touched keys; gives each of these keys with its value before and after.

        Args:
            make: The value of a key, a pure function of what the key rests on; None when it has none.
        """
        renewed = []
        for key in self._touched:
            before, after = self._values.pop(key, None), make(key)
            if after is not None:
                self._values[key] = after
            renewed.append((key, before, after))
        self._touched.clear()
        return renewed


# Tally of what comes and goes.


class Tally(Counter[KeyT]):
    """How often each key is there; one that is there no more is not kept."""

    def count(self, key: KeyT, step: int) -> int:
        """It came or went as many times as `step` says; returns how often it is there now."""
        number = self.get(key, 0) + step
        if number:
            self[key] = number
        else:
            self.pop(key, None)
        return number
