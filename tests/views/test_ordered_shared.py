"""The rows of a list in parts are the rows of the list, however many came, went or changed since somebody looked."""

from __future__ import annotations

from random import Random

import pytest
from team_console.store.views.ordered import Joined, Ordered


@pytest.mark.parametrize("seed", range(15))
def test_what_is_shared_is_what_is_there(seed: int) -> None:
    dice = Random(seed)
    rows: Ordered[int] = Ordered()
    known: dict[tuple[int], int] = {}
    for number in range(200):
        key = (dice.randrange(60),)
        match dice.choice(("put", "put", "drop", "replace")):
            case "put":
                rows.put(key, number)
                known[key] = number
            case "drop":
                rows.drop(key)
                known.pop(key, None)
            case _ if known:
                place = dice.randrange(len(known))
                rows.replace_at(place, number)
                known[sorted(known)[place]] = number
        if dice.random() < 0.3:
            expected = tuple(known[key] for key in sorted(known))
            assert rows.shared == expected
            assert rows.rows == expected
            assert rows.shared is rows.shared


def test_lists_that_did_not_change_are_the_same_object() -> None:
    first, second = Ordered[int](), Ordered[int]()
    joined = Joined(first, second)
    first.put((1,), 1)
    second.put((1,), 2)
    before = joined.shared
    assert before == (1, 2)
    assert joined.shared is before
    second.put((2,), 3)
    assert joined.shared == (1, 2, 3)
    assert before == (1, 2)
