"""A sequence in parts is the sequence of its items, whatever was exchanged in it, and shares what was not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from random import Random
from threading import Event, Thread
from typing import Any

import pytest
from team_console.store.model import chunked
from team_console.store.model.chunked import Chunked, LazyChunked, common_head, common_tail


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked, "PART", 4)


def _common(items: list[int], others: list[int]) -> int:
    size = min(len(items), len(others))
    return next((place for place in range(size) if items[place] != others[place]), size)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_list_of_its_items(seed: int) -> None:
    dice = Random(seed)
    items: list[int] = list(range(dice.randrange(40)))
    shared = Chunked.of(items)
    for number in range(60):
        before, known = list(items), shared
        start, stop = sorted(dice.choices(range(len(items) + 1), k=2))
        stop = dice.choice((start, min(start + 2, len(items)), stop))
        fresh = [100 * number + place for place in range(dice.choice((0, 1, 1, 2, 9)))]
        items[start:stop] = fresh
        shared = shared.exchanged(start, stop, fresh)
        assert (list(shared), len(shared), list(reversed(shared))) == (items, len(items), items[::-1])
        assert [shared[place] for place in range(len(items))] == items
        assert [shared[place - len(items)] for place in range(len(items))] == items
        low, high = sorted(dice.choices(range(-3, len(items) + 3), k=2))
        assert shared[low:high] == tuple(items[low:high])
        assert shared[low:high:2] == tuple(items[low:high:2])
        assert shared[high:low:-1] == tuple(items[high:low:-1])
        assert (list(known), known == Chunked.of(before)) == (before, True)
        head = common_head(known, shared)
        most = min(len(before), len(items)) - head
        assert head == _common(before, items)
        assert common_tail(known, shared, most) == min(most, _common(before[::-1], items[::-1]))
        assert (shared == known) == (items == before)
        assert len(shared.parts) <= max(1, len(items))


def test_parts_that_did_not_change_are_shared() -> None:
    before = Chunked.of(range(40))
    after = before.exchanged(len(before), len(before), [40])
    assert sum(part in before.parts for part in after.parts) >= len(before.parts) - 1


def test_it_equals_the_tuple_of_its_items_and_no_other() -> None:
    assert Chunked.of([1, 2]) == (1, 2)
    assert Chunked.of([1, 2]) == (1, 2)
    assert Chunked.of([1, 2]) != (1, 3)
    assert Chunked.of(()) == ()


def test_a_place_that_is_not_there_is_an_error() -> None:
    with pytest.raises(IndexError):
        Chunked.of([1])[1]
    with pytest.raises(IndexError):
        Chunked.of([1])[-2]


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_list_of_its_items_after_changes_in_many_places(seed: int) -> None:
    dice = Random(seed)
    items = list(range(dice.randrange(1, 60)))
    shared = Chunked.of(items)
    for number in range(20):
        places = dice.sample(range(len(items)), dice.randrange(len(items) + 1))
        changes = {place: dice.choice((None, -place, 100 * number + place)) for place in places}
        shared = shared.changed(changes)
        items = [item for place, old in enumerate(items) if (item := changes.get(place, old)) is not None]
        assert (list(shared), len(shared)) == (items, len(items))
        assert [shared[place] for place in range(len(items))] == items
        assert len(shared.parts) <= max(1, len(items))


def test_parts_without_a_change_are_shared() -> None:
    before = Chunked.of(range(40))
    after = before.changed({1: 100, 2: None})
    assert [part in before.parts for part in after.parts] == [False] + [True] * (len(after.parts) - 1)


def _lazy(size: int, made: list[int]) -> LazyChunked[int]:
    def make() -> Chunked[int]:
        made.append(size)
        return Chunked.of(range(size))

    return LazyChunked(make, size - 1)


def test_what_is_asked_of_the_end_of_a_lazy_sequence_makes_nothing() -> None:
    made = list[int]()
    lazy = _lazy(9, made)
    longer = lazy.followed_by([9, 10]).followed_by([11])
    assert (bool(lazy), lazy[-1], longer[-1], lazy.followed_by([])[-1], made) == (True, 8, 11, 8, [])
    assert list(longer) == list(range(12))
    assert (list(lazy), made) == (list(range(9)), [9])


@pytest.mark.parametrize(
    "look", [len, list, lambda some: some[2], lambda some: some[-2:], lambda some: some == some[:]]
)
def test_a_lazy_sequence_tells_what_one_of_the_same_items_tells(look: Callable[[Sequence[int]], object]) -> None:
    assert look(_lazy(9, [])) == look(Chunked.of(range(9)))
    assert look(_lazy(9, []).followed_by([9])) == look(Chunked.of(range(10)))


def test_a_lazy_sequence_may_grow_as_often_as_it_likes_before_it_is_made() -> None:
    made = list[int]()
    lazy: Chunked[int] = _lazy(3, made)
    for number in range(3, 3_000):
        lazy = lazy.followed_by([number])
    assert (lazy[-1], made) == (2_999, [])
    assert list(lazy) == list(range(3_000))


def test_what_follows_a_lazy_sequence_that_was_made_shares_its_parts() -> None:
    lazy = _lazy(40, [])
    assert len(lazy) == 40
    longer = lazy.followed_by([40])
    assert not isinstance(longer, LazyChunked)
    assert sum(part in lazy.parts for part in longer.parts) >= len(lazy.parts) - 1
    assert list(longer) == list(range(41))


class _Told:
    """A lock that says when somebody asks for it."""

    def __init__(self, lock: AbstractContextManager[bool], asked: Event) -> None:
        self._lock, self._asked = lock, asked

    def __enter__(self) -> None:
        self._asked.set()
        self._lock.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._lock.__exit__(*error)


def test_a_lazy_sequence_is_made_once_when_two_threads_ask() -> None:
    asked, made, seen = Event(), list[object](), list[object]()

    def make() -> Chunked[object]:
        made.append(object())
        if len(made) == 1:
            asked.clear()
            other.start()
            assert asked.wait(60), "the other neither waits nor is through"
        return Chunked.of([made[-1], None])

    def look() -> None:
        seen.append(lazy[0])
        asked.set()

    lazy, other = LazyChunked(make, None), Thread(target=look)
    lazy._first._lock = _Told(lazy._first._lock, asked)  # type: ignore[assignment]
    seen.append(lazy[0])
    other.join()
    assert seen == made * 2
    with pytest.raises(AttributeError):
        _ = lazy.unknown
