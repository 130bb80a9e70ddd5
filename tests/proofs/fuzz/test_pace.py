"""Too slow is what is slow compared with other work of the same moment."""

from __future__ import annotations

import sys

import pytest
from team_console.store.backends.yaml.queue import QueueText

from tests.proofs.fuzz import pace
from tests.proofs.fuzz.pace import is_too_slow

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("slowness", "judged"), [(1.0, True), (2.0, False)])
def test_what_takes_longer_on_a_slower_machine_is_not_too_slow(
    monkeypatch: pytest.MonkeyPatch, slowness: float, judged: bool
) -> None:
    clock = iter(number * 1.5 for number in range(100))
    monkeypatch.setattr(pace, "slowness", lambda: slowness)
    monkeypatch.setattr("tests.proofs.fuzz.pace.time.process_time", lambda: next(clock))
    assert is_too_slow(1.5, 1.0, lambda: None) is judged


@pytest.mark.parametrize("unit", [b"- {a: \n", b"- [\n", b'- [a, "\n'])
def test_a_damaged_entry_is_not_searched_for_an_end_behind_the_place_where_it_is_broken(
    unit: bytes,
) -> None:
    data = b"messages:\n- message_id: A\n  type: t\n  from: a\n  to: b\n" + unit * 4000
    calls = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        assert len(QueueText.parse(data).entries) > 1
    finally:
        sys.setprofile(None)
    assert calls < 5_000_000, "each of a hundred open entries looks at up to 64 KB behind it"
