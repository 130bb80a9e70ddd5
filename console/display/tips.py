"""Tips of the demo: what to try next, one line at a time, from what the human did already and what the keys do here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from team_console.console.input.actions import BY_ID, shown_key
from team_console.console.input.subject import Mode, Subject
from team_console.store.protocol.kinds import RequestKind
from team_console.store.views.rows import RequestRow
from team_console.widgets.text.cells import Line

_HERE = (
    "{reject} rejects this plan with a reason: it comes back changed. {approve} approves it.",
    "{reject} rejects this plan with a reason, {approve} approves it.",
    "{reject} rejects, {approve} approves it.",
)
_IN_THIS_LIST = (
    "Go with {↓} and {↑} to the plan that waits: you reject it with a reason, or approve it.",
    "Go with {↓} and {↑} to the plan that waits for you.",
    "{↓} and {↑} go to the plan.",
)
_ELSEWHERE = (
    "{go_needs} shows what waits for you: a plan among it, to reject with a reason or to approve.",
    "{go_needs} shows the plan that waits for your verdict.",
    "{go_needs} shows what waits.",
)
_SPRINT = (
    "{go_sprint} shows the sprint, which goes on by itself; click an agent in the strip to see its inbox.",
    "{go_sprint} shows the sprint; click an agent to see its inbox.",
    "{go_sprint} shows the sprint.",
)
_MORE = (
    "{palette} finds any action, agent or team by its name; {help} has every key, {theme} the themes, {quit} leaves.",
    "{palette} finds any action by its name; {help} has every key, {quit} leaves.",
    "{help} has every key, {quit} leaves.",
)


def step_of(subject: Subject, step: int) -> int:
    """Which tip comes now: after a decision of the human's the second, after a look at the sprint the third."""
    view = subject.view
    if view is None:
        return step
    opened = min((row.asked_at for row in view.requests if row.is_open and row.asked_at), default=None)
    decided = (row for row in view.requests if row.answered_by == view.me and row.answered_at is not None)
    has_decided = any(opened is None or row.answered_at > opened for row in decided if row.answered_at is not None)
    if step == 0 and has_decided:
        return 1
    return 2 if step == 1 and subject.mode is Mode.SPRINT else step


def tip_lines(step: int, subject: Subject) -> tuple[Line, ...]:
    """The tip in its lengths, the longest first; each names only keys that do what it says. None without a view."""
    if subject.view is None:
        return ()
    return tuple(map(_line, (_to_decide(subject), _SPRINT, _MORE)[step]))


def _to_decide(subject: Subject) -> Sequence[str]:
    selection = subject.selection
    if not selection.marked and BY_ID["reject"].is_here(subject.mode) and _is_plan(subject, selection.request):
        return _HERE
    opened = takewhile(lambda row: row.is_open, subject.view.requests if subject.view is not None else ())
    if not any(_is_plan(subject, row) for row in opened):
        return _SPRINT
    return _IN_THIS_LIST if subject.mode is Mode.NEEDS else _ELSEWHERE


def _is_plan(subject: Subject, row: RequestRow | None) -> bool:
    """Whether it is a plan that the human can decide on."""
    return row is not None and row.kind is RequestKind.PLAN and subject.no_verdict_on(row) is None


def _line(text: str) -> Line:
    """The tip, its keys in the tone of keys."""
    parts: list[tuple[str, str]] = [("Try  ", "muted")]
    for number, piece in enumerate(text.replace("}", "{").split("{")):
        parts.append((_key(piece), "key") if number % 2 else (piece, ""))
    return tuple(parts)


def _key(name: str) -> str:
    return shown_key(BY_ID[name]) if name in BY_ID else name
