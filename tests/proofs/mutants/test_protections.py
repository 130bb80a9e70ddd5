"""Small promises that a mutant needs to be caught by."""

from __future__ import annotations

import pytest
from team_console.store.model.safe import safe_line, safe_text


@pytest.mark.parametrize("hostile", ["\x1b]52;c;x\x07", "\x1b[6n", "\x9b2J", "\u202e", "\x7f"])
def test_no_control_of_a_terminal_survives(hostile: str) -> None:
    for shown in (safe_text(f"a{hostile}b"), safe_line(f"a{hostile}b")):
        assert not set(hostile) & set(shown) & set("\x1b\x07\x9b\u202e\x7f")
        assert shown[0] == "a"
        assert shown[-1] == "b"
