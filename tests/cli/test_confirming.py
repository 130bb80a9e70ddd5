"""What a verb asks before it does what cannot be taken back."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from team_console.console.cli.main import run


class Terminal(io.TextIOWrapper):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        """Return that somebody looks."""
        return True


def test_whoever_clears_archives_is_asked_whether_to_delete_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["init", str(tmp_path)]) == 0
    said = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO(b"no\n")))
    monkeypatch.setattr(sys, "stderr", Terminal(said))
    assert run(["-t", str(tmp_path), "clear", "--archives"]) == 1
    sys.stderr.flush()
    assert "Delete them? [y/N]" in said.getvalue().decode()
