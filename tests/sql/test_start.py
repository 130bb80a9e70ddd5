"""What a process on a team in a database loads: the driver of this database and nothing that it does not use."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.sql.open import create_database

from tests.test_architecture import HEAVY, RUNS, is_within, loaded_by

pytestmark = pytest.mark.slow

LOADED = {
    "sqlite": {"sqlite3"},
    "postgresql": {"psycopg", "asyncio", "importlib.metadata"},
}
"""Kind of database -> what its driver cannot do without."""


@pytest.mark.parametrize("verb", ["send", "receive"])
def test_a_verb_of_agents_loads_the_one_driver_and_nothing_heavy(verb: str, empty_place: str, tmp_path: Path) -> None:
    create_database(empty_place, "team: sprint-42\nlead: ceo\nagents:\n- ceo\n- task-manager\n")
    words = ["-t", empty_place, *RUNS[verb]]
    loaded = loaded_by(f"from team_console.console.cli.main import run\nassert run({words!r}) == 0", tmp_path)
    driver = LOADED["postgresql" if "://" in empty_place else "sqlite"]
    assert {name for name in loaded if is_within(name, HEAVY - driver)} == set()
    assert driver <= loaded
