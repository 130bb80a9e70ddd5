"""The benchmark measures what it says: its messages are those of the store, and a limit that is not kept shows."""

from __future__ import annotations

from pathlib import Path

from team_console.store.backends.open import open_team

from tests.proofs.benchmarks.data import letter, letters, write_team
from tests.proofs.benchmarks.measure import Figure


def test_a_written_team_opens_with_its_queue_and_its_archives(tmp_path: Path) -> None:
    write_team(tmp_path, letters(30, first=50), archived=50)
    team = open_team(str(tmp_path))
    seen = team.snapshot()
    assert [message.record for message in seen.messages] == [letter(number).record() for number in range(50, 80)]
    assert seen.problems == ()
    assert {message.status for message in team.history(limit=100).messages} == {"read"}
    assert len(team.history(limit=100).messages) == 50


def test_a_row_says_whether_its_limit_is_kept() -> None:
    assert Figure("a key", 4.3, 10, "ms", "neomutt 0.9 ms").cells() == (
        *("a key", "4.3 ms", "10.0 ms", "yes", "neomutt 0.9 ms"),
    )
    assert Figure("idle", 12.0, 0, "bytes").cells()[3] == "NO"
