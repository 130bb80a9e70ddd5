"""Several workers on one inbox: every message goes to exactly one, whoever is killed over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sql.claimers import work_off

pytestmark = pytest.mark.slow

MESSAGES = 200
"""Enough for all that can go wrong; `python -m tests.sql` does it with 20,000."""


def test_six_claimers_on_many_messages_lose_none_and_do_none_twice(empty_place: str, tmp_path: Path) -> None:
    assert work_off(empty_place, tmp_path, MESSAGES) == (0, 0, True)
