"""Entries by age: oldest, newest, number and order are those of a list that is sorted at every step."""

from __future__ import annotations

from random import Random

import pytest
from team_console.store.protocol.entries import Entry
from team_console.store.views.ordered import ByAge

from tests.store.contract import make_message


@pytest.mark.parametrize("seed", range(20))
def test_entries_are_as_if_they_were_sorted_at_every_step(seed: int) -> None:
    dice = Random(seed)
    entries, there = ByAge(), list[Entry]()
    for place in range(60):
        if there and dice.random() < 0.4:
            gone = there.pop(dice.randrange(len(there)))
            entries.drop(gone)
        else:
            created = f"2026-02-24T08:00:{dice.randrange(6):02}.000Z"
            entry = Entry.of(make_message(place).with_changes(created=created), float(place))
            there.append(entry)
            entries.add(entry)
        ordered = sorted(there, key=lambda entry: entry.order)
        assert len(entries) == len(ordered)
        assert entries.first is (ordered[0] if ordered else None)
        assert entries.last is (ordered[-1] if ordered else None)
        if dice.random() < 0.3:
            assert entries.rows == tuple(ordered)
