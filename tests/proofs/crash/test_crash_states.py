"""No crash and no disk error at any step leaves a team that lost, doubled or half did something."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from itertools import chain, product

import pytest

from tests.equipment.cases import cases
from tests.equipment.samples import EXHAUSTIVE, rotated
from tests.proofs.crash.judge import judge_errors, judge_interrupts, judge_story
from tests.proofs.crash.models import MODELS
from tests.proofs.crash.stories import STORIES

pytestmark = pytest.mark.slow

_LOSSY = [model for model in MODELS if model != "process"]
_ERRORS = list(product((errno.ENOSPC, errno.EIO), (False, True)))
"""Number of the error, and whether every later step fails too."""


def _check(*judged: Iterator[str]) -> None:
    told = [*chain(*judged)]
    failures = [*filter(None, told)]
    assert told
    assert not failures, f"{len(failures)} bad:\n" + "\n".join(failures[:5])


@pytest.mark.parametrize(("name", "can_exchange"), rotated(STORIES, (True, False)))
def test_a_killed_process_leaves_the_state_before_or_after(name: str, can_exchange: bool) -> None:
    _check(judge_story(STORIES[name], "process", can_exchange=can_exchange))


@pytest.mark.parametrize("name", STORIES)
def test_a_power_cut_leaves_the_state_before_or_after_and_all_that_was_acknowledged(name: str) -> None:
    # Each 240th of some 26,000 disks; `python -m tests.proofs crash` judges them all.
    _check(*(judge_story(STORIES[name], model, every=1 if EXHAUSTIVE else 240) for model in _LOSSY))


@cases
def test_a_crash_of_the_recovery_is_recovered_from(name: str) -> None:
    _check(judge_story(STORIES[name], "process", again="process", every=1 if EXHAUSTIVE else 10))


@pytest.mark.parametrize(("name", "error"), rotated(STORIES, _ERRORS))
def test_a_disk_error_at_any_step_is_reported_and_changes_nothing(name: str, error: tuple[int, bool]) -> None:
    number, lasting = error
    _check(judge_errors(STORIES[name], number, lasting=lasting))


@pytest.mark.parametrize("name", STORIES)
def test_ctrl_c_at_any_step_frees_the_lock_and_leaves_the_state_before_or_after(name: str) -> None:
    _check(judge_interrupts(STORIES[name]))
