"""What scenarios with real clients need: those clients, a network of their own, and a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.proofs.clients import network, packages
from tests.proofs.clients.model import Script, ScriptedModel
from tests.proofs.clients.scenario import Scenario

SetUp = Callable[[Script], Scenario]


@pytest.fixture
def own_network() -> None:
    """Only where nothing can leave the machine."""
    if not network.is_own():
        pytest.skip("outside of a network of its own: run python -m tests.proofs.clients")


@pytest.fixture
def claude(own_network: None) -> None:
    """Claude Code is there."""
    if packages.claude() is None:
        pytest.skip("Claude Code is not installed: make clients")


@pytest.fixture
def codex(own_network: None) -> None:
    """Codex is there."""
    if packages.codex() is None:
        pytest.skip("Codex is not installed: make clients")


@pytest.fixture
def qwen(own_network: None) -> None:
    """Qwen Code is there."""
    if packages.qwen() is None:
        pytest.skip("Qwen Code is not installed: make clients")


@pytest.fixture
def set_up(tmp_path: Path) -> Iterator[SetUp]:
    """Sets a scenario for a script."""
    with ExitStack() as ending:

        def make(script: Script) -> Scenario:
            model = ending.enter_context(ScriptedModel(script))
            return ending.enter_context(Scenario(tmp_path, model))

        yield make
