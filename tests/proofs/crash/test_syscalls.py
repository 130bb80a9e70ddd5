"""A real process, killed or failed at every one of its system calls, keeps the promises."""

from __future__ import annotations

import pytest

from tests.equipment.cases import cases
from tests.proofs.crash.syscalls import has_strace, judge_point, points

pytestmark = [pytest.mark.skipif(not has_strace(), reason="strace is not here or may not trace"), pytest.mark.slow]


@cases
def test_a_fault_at_any_system_call_leaves_the_state_before_or_after(story: str, fault: str) -> None:
    # Each fourth call of two of 36 pairs; `python -m tests.proofs syscalls` judges them all.
    found = points(story)[::4]
    assert len(found) > 5
    wrong = {point: what for point in found if (what := judge_point(story, point, fault)) is not None}
    assert not wrong


def test_a_drop_file_that_the_system_refuses_is_neither_lost_nor_kept_in_silence() -> None:
    # Each third of them, and the calls that take the file away.
    found = [point for point in points("drop folder") if point.name in ("openat", "unlink")]
    found = [point for number, point in enumerate(found) if point.name == "unlink" or number % 3 == 0]
    assert {point.name for point in found} == {"openat", "unlink"}
    wrong = {point: what for point in found if (what := judge_point("drop folder", point, "EIO")) is not None}
    assert not wrong
