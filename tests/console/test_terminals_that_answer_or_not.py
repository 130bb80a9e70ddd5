"""A frame counts as held once the terminal said so; of one that does not answer, once it left and nothing was typed."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from team_console.console.tui import terminal_answers
from team_console.console.tui.terminal_answers import ASK, HeldFrames


@pytest.fixture
def line() -> Iterator[tuple[int, int]]:
    """Where keys are read, and where they are typed."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_of_a_terminal_that_answers_a_frame_is_held_by_its_answer_and_not_before(line: tuple[int, int]) -> None:
    held: list[int] = []
    frames = HeldFrames(held.append)
    assert frames.mark(1) == ASK
    frames.take_answer()
    frames.mark(2)
    frames.note_sent(2, line[0])
    assert held == [1]
    frames.take_answer()
    assert held == [1, 2]


def test_of_a_terminal_that_never_answered_a_frame_is_held_once_it_left(line: tuple[int, int]) -> None:
    held: list[int] = []
    frames = HeldFrames(held.append)
    frames.mark(1)
    frames.note_sent(1, line[0])
    assert held == [1]


def test_what_was_typed_before_a_frame_left_is_read_before_the_frame_is_held(line: tuple[int, int]) -> None:
    held: list[int] = []
    frames = HeldFrames(held.append)
    frames.mark(1)
    os.write(line[1], b"a")
    frames.note_sent(1, line[0])
    assert held == []
    frames.note_read()
    assert held == [1]


def test_an_answer_that_is_lost_is_not_waited_for(line: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    now = [0.0]
    monkeypatch.setattr(terminal_answers, "monotonic", lambda: now[0])
    frames = HeldFrames(held.append)
    frames.mark(1)
    frames.take_answer()
    frames.mark(2)
    now[0] = 3600.0
    frames.mark(3)
    frames.note_sent(3, line[0])
    assert held == [1, 3]
