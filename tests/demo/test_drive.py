"""Random keys in every mode at every size leave the console whole; `python -m tests.drive` does it for longer."""

from __future__ import annotations

import pytest

from tests.drive import SIZES, run

pytestmark = pytest.mark.slow


def test_random_keys_leave_the_console_whole() -> None:
    assert run(4, lambda number: number < len(SIZES)) == ""
