"""Shared by all tests: settings of this process, and a fresh team on disk."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from tests.equipment.command_line import CommandLine, leave_home


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same examples in every run, whatever the time; and let programs under test hear SIGINT.

    A shell that starts the tests in the background has it ignored. Local times are those of UTC everywhere.
    """
    config.add_cleanup(functools.partial(shutil.rmtree, leave_home(), ignore_errors=True))
    os.environ["TZ"] = "UTC"
    time.tzset()
    hypothesis.settings.register_profile("same every time", derandomize=True, deadline=None, database=None)
    hypothesis.settings.load_profile("same every time")
    # It would draw from the constants of whatever modules a worker happens to have loaded, and search them for 8 s.
    setattr(providers, "_get_local_constants", lambda: getattr(providers, "_local_constants"))  # noqa: B009, B010
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep the collector from walking all modules and tests again and again: a fifth of the processor's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture
def elsewhere(tmp_path: Path) -> CommandLine:
    """The command line in a folder without a team."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return CommandLine(folder)


@pytest.fixture
def make_team(tmp_path: Path) -> Callable[..., CommandLine]:
    """Makes a team with `ceo` as lead and the members given, and hands out the command line in its folder."""

    def make(*agents: str, name: str = "sprint-42", folder: str = "team") -> CommandLine:
        place = tmp_path / folder
        place.mkdir()
        members = [word for agent in agents for word in ("--agent", agent)]
        command_line = CommandLine(place)
        command_line.ok("init", ".", "--name", name, "--lead", "ceo", *members)
        return command_line

    return make


@pytest.fixture
def team(make_team: Callable[..., CommandLine]) -> CommandLine:
    """A team of four under `ceo`; `task-manager` works in plan mode."""
    return make_team("task-manager:plan", "schedule-manager", "file-manager", "knowledge-manager")
