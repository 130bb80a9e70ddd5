"""The end of a process: an output that takes nothing is told of."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import COMMAND, clean_environment


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_output_that_takes_nothing_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "help", "json", "send"], stdout=full, stderr=subprocess.PIPE, text=True, env=clean_environment()
        )
    assert done.returncode == 1
    assert "could not be printed" in done.stderr
