"""The steps that a temporary agent lacks or made out of order, in words."""

from __future__ import annotations

from team_console.console.tui.modes.sprint import trouble_of
from team_console.store.views.rows import Lifecycle


def test_steps_are_listed_as_people_write_lists() -> None:
    life = Lifecycle("1", "inspector-1", "slave-1", (), missing=(1, 3, 4), out_of_order=(5, 6))
    assert trouble_of(life) == "steps 1, 3 and 4 missing, steps 5 and 6 out of order"
    assert trouble_of(Lifecycle("1", "inspector-1", "slave-1", ())) == ""
