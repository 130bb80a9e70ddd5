"""The benchmark measures what it says: its messages are those of the store."""

from __future__ import annotations

from pathlib import Path

from team_console.store.backends.open import open_team

from tests.proofs.benchmarks.data import letter, letters, write_team


def test_a_written_team_opens_with_its_queue_and_its_archives(tmp_path: Path) -> None:
    write_team(tmp_path, letters(30, first=50), archived=50)
    team = open_team(str(tmp_path))
    seen = team.snapshot()
    assert [message.record for message in seen.messages] == [letter(number).record for number in range(50, 80)]
    assert seen.problems == ()
    assert {message.status for message in team.history(limit=100).messages} == {"read"}
    assert len(team.history(limit=100).messages) == 50
