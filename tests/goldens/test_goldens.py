"""Every mode looks as it was reviewed: a change of the look is a change of these texts (`python -m tests.goldens`)."""

from __future__ import annotations

import difflib

import pytest

from tests.goldens.draw import PICTURES, SIZES, draw_all, names

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    """Every mode at every size, as it looks now."""
    return draw_all()


@pytest.mark.parametrize("name", names())
def test_a_mode_looks_as_it_was_reviewed(name: str, drawn: dict[str, str]) -> None:
    golden = (PICTURES / f"{name}.txt").read_text(encoding="utf-8")
    changes = difflib.unified_diff(golden.splitlines(), drawn[name].splitlines(), "reviewed", "now", lineterm="")
    assert "\n".join(changes) == "", "`make goldens` takes it over; look at the diff first"


@pytest.mark.parametrize("size", SIZES)
def test_no_line_is_wider_than_the_screen_and_all_lines_are_there(size: tuple[int, int], drawn: dict[str, str]) -> None:
    for name, text in drawn.items():
        if name.endswith(f"-{size[0]}x{size[1]}"):
            assert len(text.splitlines()) == size[1]
            assert max(map(len, text.splitlines())) <= size[0]
