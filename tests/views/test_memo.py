"""What is kept of groups is what working it out of their members would give, whatever came and went since."""

from __future__ import annotations

from random import Random

import pytest
from team_console.store.model.reuse import Memo, Multimap, Tally


def digits(number: int) -> tuple[int, ...]:
    """Every digit once, none of 0."""
    return tuple({int(digit) for digit in str(number)} - {0})


@pytest.mark.parametrize("seed", range(10))
def test_values_are_those_of_the_members_and_only_touched_keys_are_made_again(seed: int) -> None:
    dice, there = Random(seed), list[int]()
    members, totals, counts = Multimap(digits), Memo[int, int](), Tally[int]()
    for _ in range(120):
        if there and dice.random() < 0.45:
            number = there.pop(dice.randrange(len(there)))
            keys, step = members.drop(number), -1
        else:
            number = dice.randrange(200)
            there.append(number)
            keys, step = members.put(number), 1
        totals.touch(*keys)
        for key in keys:
            counts.count(key, step)
        if dice.random() < 0.4:
            made = list[int]()

            def total(key: int, made: list[int] = made) -> int | None:
                made.append(key)
                return sum(members.of(key)) or None

            before, touched = {key: totals.get(key) for key in range(10)}, totals.touched
            assert all((was, now) == (before[key], totals.get(key)) for key, was, now in totals.renew(total))
            assert sorted(made) == sorted(touched)
            expected = {key: [item for item in there if key in digits(item)] for key in range(1, 10)}
            assert {key: totals.get(key) for key in expected} == {k: sum(some) or None for k, some in expected.items()}
            assert {key: sorted(members.of(key)) for key in members.keys} == {
                key: sorted(some) for key, some in expected.items() if some
            }
            assert counts == {key: len(some) for key, some in expected.items() if some}
