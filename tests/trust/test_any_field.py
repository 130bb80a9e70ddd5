"""The console stands on foreign queues with any value in any field, whatever keys are pressed at whatever size."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trust.any_field import trouble_of

pytestmark = pytest.mark.slow


def test_random_keys_on_a_random_foreign_queue_end_in_order(tmp_path: Path) -> None:
    assert trouble_of(1, tmp_path) == ""
