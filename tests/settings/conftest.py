"""A team of `ceo` and `a1`, in a folder and in a database."""

from __future__ import annotations

import pytest

from tests.equipment.command_line import CommandLine


@pytest.fixture(params=["crew", "crew.db"], ids=["folder", "database"])
def crew(request: pytest.FixtureRequest, elsewhere: CommandLine) -> tuple[str, ...]:
    """How to reach the team."""
    elsewhere.ok("init", request.param, "--agent", "a1")
    return ("-t", request.param)
