"""What scenarios with real clients need: those clients, a network of their own, and a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from tests.proofs.clients import network, packages
from tests.proofs.clients.kinds import KINDS, Kind
from tests.proofs.clients.model import Script, ScriptedModel
from tests.proofs.clients.scenario import Scenario
from tests.proofs.clients.turns import Play

_PROGRAMS = {"claude": packages.claude, "codex": packages.codex, "qwen": packages.qwen}


class SetUp(Protocol):
    """Sets a scenario for the turns of the model, and for those of conversations that begin with other words."""

    def __call__(self, *turns: Play, others: Script | None = None) -> Scenario: ...


def _wanted(name: str) -> Kind:
    """Skip the test unless the client is here and nothing can leave the machine."""
    if not network.is_own():
        pytest.skip("outside of a network of its own: run python -m tests.proofs.clients")
    if _PROGRAMS[name]() is None:
        pytest.skip(f"{name} is not installed: make clients")
    return KINDS[name]


@pytest.fixture
def claude() -> Kind:
    """Claude Code is there."""
    return _wanted("claude")


@pytest.fixture
def codex() -> Kind:
    """Codex is there."""
    return _wanted("codex")


@pytest.fixture
def qwen() -> Kind:
    """Qwen Code is there."""
    return _wanted("qwen")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each client in turn."""
    return _wanted(request.param)


@pytest.fixture
def set_up(tmp_path: Path) -> Iterator[SetUp]:
    """Sets a scenario, once for a test."""
    with ExitStack() as ending:

        def make(*turns: Play, others: Script | None = None) -> Scenario:
            model = ending.enter_context(ScriptedModel({**(others or {}), "": turns}))
            return ending.enter_context(Scenario(tmp_path, model))

        yield make
