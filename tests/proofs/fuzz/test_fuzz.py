"""A short fuzz run with every change; the long one is `python -m tests.proofs.fuzz`."""

from __future__ import annotations

import pytest
from team_console.store.backends.yaml.queue import QueueText

from tests.proofs.fuzz.runner import run
from tests.work import calls_of

pytestmark = pytest.mark.slow


def test_no_file_kills_hangs_or_confuses_the_reader() -> None:
    report = run(inputs=1200, seed=20260224, largest=150_000, batch=600, workers=2)
    assert report.failures == []
    assert report.outcomes.total() == 1200
    assert min(report.outcomes[name] for name in ("fine", "damaged", "unreadable")) > 100


@pytest.mark.parametrize("unit", [b"- {a: \n", b"- [\n", b'- [a, "\n'])
def test_a_damaged_entry_is_not_searched_for_an_end_behind_the_place_where_it_is_broken(unit: bytes) -> None:
    data = b"messages:\n- message_id: A\n  type: t\n  from: a\n  to: b\n" + unit * 4000
    assert calls_of(lambda: QueueText.parse(data)) < 1_000_000, "each open entry looks at up to 64 KB behind it"
