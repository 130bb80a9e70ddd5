"""What programs import: light until it is used, complete, and without a screen."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import team_console
from team_console.store import api

from tests.test_architecture import HEAVY, is_within, loaded_by


def test_importing_the_package_loads_nothing_of_it(tmp_path: Path) -> None:
    loaded = loaded_by("import team_console; print(team_console.__version__)", tmp_path)
    assert "team_console" in loaded
    assert not {name for name in loaded if name.startswith(("store", "msgspec", "yaml"))}


def test_importing_the_api_loads_no_screen_and_nothing_heavy(tmp_path: Path) -> None:
    loaded = loaded_by("from team_console import join_team", tmp_path)
    assert "store.api" in loaded
    assert not {name for name in loaded if is_within(name, HEAVY | {"widgets", "console"})}


def test_the_package_hands_out_what_the_api_offers() -> None:
    assert {"TeamError", "__version__", "join_team"} <= set(dir(team_console))
    assert (team_console.join_team, team_console.TeamError) == (api.join_team, api.TeamError)
    assert not hasattr(team_console, "leave_team")


OURS = (api, api)


@pytest.mark.parametrize("name", [name for name in api.__all__ if inspect.getmodule(getattr(api, name)) in OURS])
def test_everything_public_says_what_it_does(name: str) -> None:
    value = getattr(api, name)
    bases = value.__mro__[:-1] if inspect.isclass(value) else ()
    members = [value, *(member for base in bases for member in vars(base).values())]
    public = [member for member in members if inspect.isclass(member) or inspect.isfunction(member)]
    assert [member for member in public if not member.__name__.startswith("_") and not member.__doc__] == []
