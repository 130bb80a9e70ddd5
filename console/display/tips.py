"""Tips of the demo: what to try next, one line at a time, from what the human did already."""

from __future__ import annotations

from team_console.console.input.subject import Mode
from team_console.store.views.rows import View
from team_console.widgets.text.cells import Line

_TIPS = (
    "{r} rejects this plan with a reason: it comes back changed. {a} approves it.",
    "{s} shows the sprint, which goes on by itself; click an agent in the strip to see its inbox.",
    "{c} finds any action, agent or team by its name; {h} has every key, {t} the themes, {q} leaves.",
)
_KEYS = {"r": "r", "a": "a", "s": "5", "c": ":", "h": "?", "t": "F2", "q": "q"}


def step_of(view: View | None, mode: Mode, step: int) -> int:
    """Which tip comes now: after a decision of the human's the second, after a look at the sprint the third."""
    if view is None:
        return step
    opened = min((row.asked_at for row in view.requests if row.is_open and row.asked_at), default=None)
    decided = (row for row in view.requests if row.answered_by == view.me and row.answered_at is not None)
    has_decided = any(opened is None or row.answered_at > opened for row in decided if row.answered_at is not None)
    if step == 0 and has_decided:
        return 1
    return 2 if step == 1 and mode is Mode.SPRINT else step


def tip_line(step: int) -> Line:
    """The tip, its keys in the tone of keys."""
    parts: list[tuple[str, str]] = [("Try  ", "muted")]
    for number, piece in enumerate(_TIPS[step].replace("}", "{").split("{")):
        parts.append((_KEYS[piece], "key") if number % 2 else (piece, ""))
    return tuple(parts)
