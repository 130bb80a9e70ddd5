"""How urgent a thing is, as a number and in words: its need, what it blocks, its priority, whether it is overdue."""

from __future__ import annotations

from collections.abc import Sequence

from team_console.store.model.message import Priority
from team_console.store.model.words import first_of
from team_console.store.views.rows import Need

_WEIGHTS = {
    Need.ESCALATE: 60,
    Need.PERMIT: 58,
    Need.QUESTION: 56,
    Need.PLAN: 55,
    Need.DAMAGED: 50,
    Need.CREATE: 50,
    Need.SHUTDOWN: 50,
    Need.CLARIFY: 50,
    Need.FAILED: 45,
    Need.REFUSED: 40,
    Need.OVERDUE: 35,
    Need.DESTROY: 30,
    Need.MESSAGE: 0,
}
_PRIORITIES = {str(Priority.CRITICAL): 40, str(Priority.HIGH): 20, str(Priority.MEDIUM): 10}
_PER_BLOCKED, _MOST_BLOCKED, _OVERDUE = 8, 5, 15
_SHOWN = 3
_WORDS = {
    Need.DAMAGED: "what cannot be read cannot be answered",
    Need.REFUSED: "refused to stop",
    Need.OVERDUE: "no sign of the end",
    Need.FAILED: "was given up",
    Need.MESSAGE: "unread",
}


def score(need: Need, blocks: Sequence[str], *, priority: str = "", overdue: bool = False) -> int:
    """Larger is more urgent. Age is not in it: among equals the oldest comes first."""
    blocked = _PER_BLOCKED * min(len(blocks), _MOST_BLOCKED)
    return _WEIGHTS[need] + blocked + _PRIORITIES.get(priority, 0) + (_OVERDUE if overdue else 0)


def explain(
    need: Need, blocks: Sequence[str], *, priority: str = "", overdue: bool = False, plan_mode: bool = False
) -> str:
    """The same in words, without any age."""
    parts = [
        _WORDS.get(need, ""),
        f"blocks {first_of(blocks, _SHOWN)}" if blocks else "",
        "works only after its plan is approved" if plan_mode else "",
        f"{priority} priority" if priority in (Priority.CRITICAL, Priority.HIGH) else "",
        "overdue" if overdue else "",
    ]
    return " · ".join(part for part in parts if part)
