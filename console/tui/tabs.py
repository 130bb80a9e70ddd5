"""The tab of each place: its key, its name, and how much there is to do."""

from __future__ import annotations

from collections.abc import Collection

from team_console.console.selection import PLACES, Mode
from team_console.console.tui.screen_state import troubles_of
from team_console.store.model.message import Status
from team_console.store.views.needs import count_to_do
from team_console.store.views.rows import StoryState, View
from team_console.widgets.bars import Tab


def places_with_something(view: View | None) -> frozenset[Mode]:
    """Return the places that have something to show; the first three always have."""
    found = set(PLACES[:3])
    if view is not None:
        if troubles_of(view):
            found.add(Mode.HEALTH)
        if view.batches or view.lifecycles:
            found.add(Mode.SPRINT)
        # Only what a router delivers: messages to the human are on no way.
        routed = (Status.FAILED, Status.RETRY, Status.EXPIRED, Status.DELIVERED)
        if any(view.counts.get(status) for status in routed):
            found.add(Mode.DELIVERIES)
    return frozenset(found)


def tabs_of(view: View | None, places: Collection[Mode], *, watched: str) -> tuple[Tab, ...]:
    """Return the tabs of these places. Without a view they carry no counts, because none are known.

    Args:
        watched: Whose place this is when somebody else looks on, safe text.
    """
    return tuple(_tab(mode, view, watched) for mode in PLACES if mode in places)


def _tab(mode: Mode, view: View | None, watched: str) -> Tab:
    count, tone = _count_on_tab(mode, view) if view is not None else ("", "muted")
    label = f"Needs {watched}" if watched and mode is Mode.NEEDS else mode.label
    return Tab(str(mode), mode.key, label, count, tone)


def _count_on_tab(mode: Mode, view: View) -> tuple[str, str]:
    """Return how much there is to do in a place, and how urgent that is; mail that others have not read is no work."""
    match mode:
        case Mode.NEEDS:
            return _count_words(count_to_do(view.attention)), "warn"
        case Mode.DELIVERIES:
            return _count_words(len(view.failed)), "bad"
        case Mode.SPRINT:
            latest = view.batches[-1].session_id if view.batches else ""
            stories = [story for batch in view.batches if batch.session_id == latest for story in batch.stories]
            done = sum(story.state is StoryState.DONE for story in stories)
            return (f"{done:,}/{len(stories):,}", "muted") if done < len(stories) else ("", "muted")
        case Mode.HEALTH:
            troubles = troubles_of(view)
            errors = sum(problem.severity == "error" for problem in troubles)
            return (_count_words(errors), "bad") if errors else (_count_words(len(troubles)), "warn")
        case _:
            return "", "muted"


def _count_words(count: int) -> str:
    return f"{count:,}" if count else ""
