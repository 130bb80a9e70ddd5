"""Shared by tests of widgets: they run on asyncio, without animations."""

from __future__ import annotations

import pytest
from team_console.console.tui.textual_fixes import mend_textual


@pytest.fixture
def anyio_backend() -> str:
    """The loop of asynchronous tests."""
    return "asyncio"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same theme and the same clock everywhere."""
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture(autouse=True)
def mended() -> None:
    """Textual as the console has it."""
    mend_textual()
