"""Every mode looks as it was reviewed: a change of the look is a change of these texts (`python -m tests.goldens`)."""

from __future__ import annotations

import difflib

import pytest

from tests.goldens.draw import PICTURES, SIZES, draw

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("size", SIZES)
def test_every_mode_looks_as_it_was_reviewed(size: tuple[int, int]) -> None:
    drawn, end = draw(size), f"-{size[0]}x{size[1]}.txt"
    assert {path.name for path in PICTURES.glob(f"*{end}")} == {f"{name}.txt" for name in drawn}
    for name, text in drawn.items():
        golden = (PICTURES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        changes = difflib.unified_diff(golden, text.splitlines(), "reviewed", f"{name} now", lineterm="")
        assert "\n".join(changes) == "", "`make goldens` takes it over; look at the diff first"
        assert len(golden) == size[1]
        assert max(map(len, golden)) <= size[0]
