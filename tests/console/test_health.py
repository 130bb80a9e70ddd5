"""Health says what is known of the store and of every departure, even when nothing can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import open_team

from tests.console.conftest import opened
from tests.proofs.benchmarks.data import letters, write_team

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_settings_that_are_wrong_are_no_fault_of_the_watch(tmp_path: Path) -> None:
    write_team(tmp_path, letters(3))
    (tmp_path / "messenger-config.yaml").write_text("name: [", encoding="utf-8")
    async with opened(open_team(str(tmp_path)), size=(120, 40)) as desk:
        await desk.press("4")
        await desk.until(lambda: "✓ settings" not in desk.text and "this is not YAML" in desk.text, "the settings")
        await desk.shows("● watch")
