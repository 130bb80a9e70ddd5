"""A sequence in parts is the sequence of its items, whatever was exchanged in it, and shares what was not."""

from __future__ import annotations

from random import Random

import pytest
from team_console.store.model import chunked
from team_console.store.model.chunked import Chunked, common_head, common_tail


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
