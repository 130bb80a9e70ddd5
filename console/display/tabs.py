"""What each mode's tab says: its key, its name, and how much waits there."""

from __future__ import annotations

from itertools import takewhile

from team_console.console.input.subject import Mode
from team_console.store.model.reuse import LastResult
from team_console.store.views.needs import to_do
from team_console.store.views.rows import StoryState, View
from team_console.widgets.bars.tab_bar import Tab

_SHORT = {
    Mode.NEEDS: "Needs",
    Mode.INBOXES: "Inbox",
    Mode.REQUESTS: "Req",
    Mode.DELIVERIES: "Del",
    Mode.SPRINT: "Spr",
    Mode.HISTORY: "Hist",
    Mode.HEALTH: "Health",
    Mode.DECISIONS: "Dec",
}


def tabs_of(view: View | None) -> tuple[Tab, ...]:
    """All tabs; without a view they carry no counts, because none are known."""
    return tuple(_tab(number, mode, view) for number, mode in enumerate(Mode, start=1))


def _tab(number: int, mode: Mode, view: View | None) -> Tab:
    count, tone = _count(mode, view) if view is not None else ("", "muted")
    return Tab(str(mode), str(number), mode.label, _SHORT[mode], count, tone)


def _count(mode: Mode, view: View) -> tuple[str, str]:
    match mode:
        case Mode.NEEDS:
            return _number(_to_do(view.attention)), "warn"
        case Mode.INBOXES:
            return _number(sum(row.unread for row in view.roster)), "muted"
        case Mode.REQUESTS:
            return _number(sum(1 for _ in takewhile(lambda row: row.is_open, view.requests))), "muted"
        case Mode.DELIVERIES:
            failed = len(view.failed)
            return (f"{failed:,}!", "bad") if failed else ("", "muted")
        case Mode.SPRINT:
            latest = view.batches[-1].session_id if view.batches else ""
            stories = [story for batch in view.batches if batch.session_id == latest for story in batch.stories]
            done = sum(story.state is StoryState.DONE for story in stories)
            return (f"{done:,}/{len(stories):,}", "muted") if stories else ("", "muted")
        case Mode.HEALTH:
            errors = sum(problem.severity == "error" for problem in view.findings)
            warnings = sum(problem.severity == "warning" for problem in view.findings)
            return (f"{errors:,}!", "bad") if errors else (_number(warnings), "warn")
        case _:
            return "", "muted"


_to_do = LastResult(to_do)


def _number(count: int) -> str:
    return f"{count:,}" if count else ""
