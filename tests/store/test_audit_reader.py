"""The audit trail for people follows the file, whatever is done to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.yaml.audit_log import AuditLog, FileReader, Line, Tip
from team_console.store.backends.yaml.disk import Disk


@pytest.mark.parametrize("later", ["a", "a longer one", "one that is longer than all of the line that was taken back"])
def test_a_line_that_was_taken_back_is_forgotten_and_breaks_nothing(tmp_path: Path, later: str) -> None:
    """A write that fails takes its line back, and whoever looked at that moment had seen it."""
    path = tmp_path / "audit.jsonl"
    ledger, trail = AuditLog(Disk(), path), FileReader(Disk(), path)
    first = ledger.append(Line("ceo", "send", seq=1), Tip(), mode=0o600)
    ledger.append(Line("ceo", "failed", seq=2), first, mode=0o600)
    assert [line.action for line in trail.last(9)] == ["failed", "send"]
    ledger.take_back(first)
    second = ledger.append(Line("ceo", later, seq=2), first, mode=0o600)
    ledger.append(Line("ceo", "last", seq=3), second, mode=0o600)
    assert [(line.action, line.intact) for line in trail.last(9)] == [("last", True), (later, True), ("send", True)]
