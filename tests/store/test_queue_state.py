"""How things stand in a turn: no step but one says that everything agrees."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from team_console.store.backends.yaml.audit_log import Line, Tip
from team_console.store.backends.yaml.disk import Stat
from team_console.store.backends.yaml.lock import Released
from team_console.store.backends.yaml.queue_file import Generation
from team_console.store.backends.yaml.queue_state import QueueState
from team_console.store.backends.yaml.queue_text import QueueText

_TIP = Tip(Line("ceo", "send", seq=7))


def _generation(ino: int) -> Generation:
    return Generation(QueueText.empty(), Stat("file", 1, ino, 10, 1, 0o600, 1))


_OLD, _NEW = _generation(1), _generation(2)


def test_what_agreed_is_what_comes_later_is_compared_with() -> None:
    agreed = QueueState(_OLD, _OLD, None).found(_TIP, _NEW).agreed()
    assert agreed.agrees
    assert (agreed.known, agreed.left) == (_NEW, Released(7, _NEW.mark))


@pytest.mark.parametrize(
    "step",
    [
        lambda state: state.doubted(),
        lambda state: state.found(_TIP, _NEW),
        lambda state: state.recorded(Tip(Line("ceo", "send", seq=8))),
        lambda state: state.swapped(_NEW),
    ],
    ids=["doubted", "found", "recorded", "swapped"],
)
def test_every_other_step_ends_that_and_keeps_what_agreed_last(step: Callable[[QueueState], QueueState]) -> None:
    agreed = QueueState(_OLD, _OLD, None, _TIP).agreed()
    after = step(agreed)
    assert not after.agrees
    assert (after.known, after.left) == (agreed.known, agreed.left)


def test_a_line_brought_into_the_queue_is_known_to_have_arrived() -> None:
    assert QueueState(_OLD, _OLD, None, _TIP).swapped(_NEW).reached == 7
