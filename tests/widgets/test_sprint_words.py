"""The steps that a temporary agent lacks or made twice, in words."""

from __future__ import annotations

from team_console.console.tui.modes.sprint import trouble_of
from team_console.store.views.rows import Lifecycle


def test_steps_are_listed_as_people_write_lists() -> None:
    life = Lifecycle("1", "inspector-1", "slave-1", (), missing=(1, 3, 4), out_of_order=(6,), doubled=(5, 7))
    assert trouble_of(life) == "steps 1, 3 and 4 missing, step 6 out of order, steps 5 and 7 twice"
    assert trouble_of(Lifecycle("1", "inspector-1", "slave-1", ())) == ""
