"""What the console knows of the store, and how far that is true (decision D16)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct
from team_console.console.tui.reader import ReadResult
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import WatchHint, WatchState
from team_console.store.model.errors import Problem
from team_console.store.model.safe import safe_line
from team_console.store.views.rows import ActionItem, RequestRow, RosterRow, View
from team_console.store.views.status import Looks, State, StoreStatus, assess

_LIVE = WatchHint(WatchState.LIVE)


class Situation(Struct, frozen=True):
    """What is known of the store, and how true what the screen shows of it is.

    Attributes:
        reading: The last reading, None before the first.
        watch: How changes are noticed.
        progress: Records read and records in all while a long reading goes on.
        failure: What kept the store from being read at all, as a sentence.
        looked_at: When the store was last looked at.
        shown_read_at: When what is shown was read.
        root: The team's folder, empty when it has none.
        is_temporary: Whether the team is gone when the console is left, so that nobody is to join it.
    """

    reading: ReadResult | None = None
    watch: WatchHint = _LIVE
    progress: tuple[int, int] | None = None
    failure: str = ""
    looked_at: datetime | None = None
    shown_read_at: datetime | None = None
    root: str = ""
    is_temporary: bool = False

    def with_short_paths(self, text: str) -> str:
        """Return `text` with paths inside the team's folder written from there on; Health names the folder."""
        return text.replace(self.root + "/", "") if self.root else text

    @property
    def view(self) -> View | None:
        """The view on the screen, as plain rows; None before the first reading and while the queue cannot be read."""
        return self.reading.view if self.reading else None

    @property
    def roster(self) -> tuple[RosterRow, ...]:
        """Every agent that is known."""
        return self.view.roster if self.view is not None else ()

    @property
    def requests(self) -> tuple[RequestRow, ...]:
        """Every request that is known."""
        return self.view.requests if self.view is not None else ()

    @property
    def is_read(self) -> bool:
        """Whether a reading was there."""
        return self.reading is not None

    @property
    def obstacle(self) -> str:
        """The reason why permissions forbid to write, as safe text; empty when they do not."""
        return safe_line(self.reading.obstacle, 300) if self.reading else ""

    @property
    def snapshot(self) -> Snapshot | None:
        """The last snapshot."""
        return self.reading.snapshot if self.reading else None


def shows_the_same(state: Situation, other: Situation) -> bool:
    """Return whether both look the same but for ages: a look that found nothing new needs no painting."""
    if state.reading is None or other.reading is None or state.view is None or other.view is None:
        return False
    mine, others = state.reading, other.reading
    facts = (state.watch, state.progress, state.failure, mine.is_fresh, mine.obstacle, mine.local)
    if facts != (other.watch, other.progress, other.failure, others.is_fresh, others.obstacle, others.local):
        return False
    return _is_alike_but_for_clocks(mine.snapshot, others.snapshot) and _is_alike_but_for_clocks(state.view, other.view)


_CHANGES_WITH_EACH_LOOK = frozenset({"now", "taken_at", "changed_at", "snapshot"})
"""Fields of views and snapshots that tell of the look itself, or change only with the revision."""


def _is_alike_but_for_clocks(shown: Struct, next_shown: Struct) -> bool:
    names = (name for name in shown.__struct_fields__ if name not in _CHANGES_WITH_EACH_LOOK)
    pairs = ((getattr(shown, name), getattr(next_shown, name)) for name in names)
    return all(before is after or before == after for before, after in pairs)


def store_status(situation: Situation, now: datetime) -> StoreStatus:
    """Return the status of the store, by the judgement that the verbs use."""
    looks = Looks(situation.watch, situation.failure, situation.looked_at)
    return assess(situation.snapshot, now, looks)


def no_writing(situation: Situation, *, read_only: bool) -> str | None:
    """Return why nothing can be written now; None when it can."""
    if read_only:
        return "the team is open read-only"
    if situation.obstacle:
        return situation.obstacle
    snapshot = situation.snapshot
    if snapshot is None:
        return "the team is still being read"
    if assess(snapshot, snapshot.taken_at).state is State.UNREADABLE:
        return "the queue cannot be read, so nothing is written to it"
    return None


def is_sure(situation: Situation) -> bool:
    """Return whether a list without rows has none because there are none, and not because of what could not be read."""
    reading = situation.reading
    if reading is None or reading.view is None or not reading.is_fresh:
        return False
    return assess(reading.snapshot, reading.snapshot.taken_at).reason(State.DOUBT) is None


def findings_elsewhere(view: View) -> tuple[Problem, ...]:
    """Return the findings that place 1 does not show already: what waits for the human is no trouble of the team."""
    shown = {key for item in view.attention for key in _ids_of(item)}
    return tuple(problem for problem in view.findings if problem.place.partition(" ")[0] not in shown)


def troubles_of(view: View) -> tuple[Problem, ...]:
    """Return errors and warnings of the team."""
    return tuple(problem for problem in findings_elsewhere(view) if problem.severity != "notice")


def _ids_of(item: ActionItem) -> Iterator[str]:
    if item.request is not None:
        yield from (item.request.request_id, item.request.question.message_id)
    if item.message is not None:
        yield item.message.message_id
