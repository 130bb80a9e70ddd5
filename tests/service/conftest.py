"""The clock of a team."""

from __future__ import annotations

import pytest

from tests.equipment.teams import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
