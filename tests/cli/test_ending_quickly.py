"""The end of a process: quick, and nothing that was to be done before it is left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import atexit, sys, threading
from team_console.console.__main__ import command
atexit.register(lambda: print("registered"))
def late():
    threading.main_thread().join()
    print("thread")
if sys.argv.pop(1) == "thread":
    threading.Thread(target=late).start()
sys.exit(command())
"""


def _run(*words: str, output: str | None = None) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with Path(output or os.devnull).open("w") as stream:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *words],
            stdout=stream if output else subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
    return done.returncode, done.stdout or "", done.stderr


@pytest.mark.parametrize("first", ["alone", "thread"])
def test_all_that_was_printed_and_registered_is_there(first: str) -> None:
    status, out, err = _run(first, "help", "json", "send")
    assert (status, err) == (0, "")
    assert out.startswith("{")
    assert out.endswith("thread\nregistered\n" if first == "thread" else "}\nregistered\n")


def test_a_wrong_command_line_ends_with_its_status() -> None:
    status, out, err = _run("alone", "send", "--no-such-flag")
    assert (status, out) == (2, "registered\n")
    assert "--no-such-flag" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_output_that_takes_nothing_is_told() -> None:
    status, _, err = _run("alone", "help", "json", "send", output="/dev/full")
    assert status == 1
    assert "could not be printed" in err
