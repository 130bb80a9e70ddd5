"""Slices of much work: all of it in order, and shorter ones after one that took too long, until it goes better."""

from __future__ import annotations

import pytest
from team_console.store.model.message import Message
from team_console.store.service import slices

from tests.store.contract import make_message

MESSAGES = [make_message(number) for number in range(40)] * 500


def _lengths(monkeypatch: pytest.MonkeyPatch, per_message: float, slow_until: int = len(MESSAGES)) -> list[int]:
    """How long the slices are when each message takes `per_message` seconds, and nothing behind `slow_until`."""
    clock, seen, lengths = 0.0, list[Message](), list[int]()
    monkeypatch.setattr(slices, "now", lambda: clock)
    for part in slices.slices(MESSAGES):
        clock += per_message * len(part) if len(seen) < slow_until else 0.0
        seen += part
        lengths.append(len(part))
    assert seen == MESSAGES
    return lengths


def test_quick_work_is_cut_into_eight_once_it_has_shown_to_be_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _lengths(monkeypatch, 1e-6) == [1_000, 2_000, *[2_500] * 6, 2_000]


@pytest.mark.parametrize("per_message", [0.0005, 0.001, 0.01])
def test_after_a_slow_slice_none_takes_two_seconds(monkeypatch: pytest.MonkeyPatch, per_message: float) -> None:
    lengths = _lengths(monkeypatch, per_message)
    assert max(lengths[1:]) * per_message < 2
    assert min(lengths[1:-1]) * per_message > 0.4, "shorter than they need to be"


def test_slices_grow_again_when_the_disk_is_quick_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = _lengths(monkeypatch, 0.01, slow_until=5_000)
    assert min(lengths) < 200
    assert max(lengths[1:]) == 2_500


def test_nothing_is_shorter_than_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(_lengths(monkeypatch, 100.0)[1:-1]) == {50}
