"""Reads the team for the screen: one reading at a time, each a snapshot and the view made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Thread
from time import monotonic, process_time

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.locations import absolute
from team_console.store.contract.snapshot import AUDIT_LOST, KEPT_PRIVATE, Snapshot
from team_console.store.contract.team import Team
from team_console.store.model.errors import Problem, TeamError
from team_console.store.service.signing import authority_problems
from team_console.store.views.history import UNREADABLE_ARCHIVE, HistoryPage, newest_archived
from team_console.store.views.projection import Projection
from team_console.store.views.rows import View

_LOCAL_EVERY = 15.0
"""Seconds between two looks at the sessions of agents on this machine."""
_VIEW_HOLDS = 60.0
"""Seconds after which a view is made anew though nothing changed: who is idle, and whose clock is wrong, depends on the
time."""
_TIMES_ITS_COST = 400
"""A view holds at least this many times the processor time it took, so that a large team at rest costs next to nothing.
"""
_MOST_ARCHIVED = 2000
"""Archived messages, the newest, in which answers to old requests are looked for."""


class LocalFacts(Struct, frozen=True):
    """What this machine tells of the sessions of agents, beside the store.

    Attributes:
        processes: Session -> what its process says, safe text.
        gates: Findings on joins, such as a client's settings from which our part is gone.
        starts: Member -> the program whose sessions act as this member when they are started in the present folder.
    """

    processes: Mapping[str, str] = {}
    gates: tuple[Problem, ...] = ()
    starts: Mapping[str, str] = {}


class ReadResult(Struct, frozen=True):
    """The result of one reading.

    Attributes:
        number: Counts readings; a lower one that comes later is stale.
        snapshot: The store as it was found, readable or not.
        view: What the screens show: of this snapshot when it could be read, else of the last that could.
        is_fresh: Whether `view` is of `snapshot`.
        obstacle: Why this process may not write to the store, as a sentence; empty when it may.
        local: What this machine tells of the sessions of agents.
    """

    number: int
    snapshot: Snapshot
    view: View | None
    is_fresh: bool
    obstacle: str = ""
    local: LocalFacts = LocalFacts()


class StoreReader:
    """Makes readings of a team; used from one thread at a time.

    Attributes:
        tell: Called during a long reading with the records read so far and in all; returns False to stop it.
        knows_archives: Whether readings know the archives by now.
    """

    def __init__(self, team: Team, me: str) -> None:
        self._team, self._me = team, me
        self.tell: Callable[[int, int], bool] = lambda done, total: True
        self._first: Future[ReadResult] | None = None
        """The reading that `begin` began, until `read` gives it out."""
        self._projection: Projection | None = None
        self._number = 0
        self._view: View | None = None
        self._read_before: Snapshot | None = None
        """The snapshot that `_view` is made of."""
        self._view_holds_until = datetime.max.replace(tzinfo=UTC)
        self._new_history: HistoryPage | None = None
        """Archived messages that were read and that no view knows yet."""
        self._archive_problems: tuple[Problem, ...] = ()
        self._archives_complete = False
        self.knows_archives = False
        self._wants_archives = True
        """Whether the next reading looks through the archives: before the first, of another team, where one could not
        be read, and when somebody asks."""
        self._local, self._local_until = LocalFacts(), 0.0

    def begin(self) -> None:
        """Begin the first reading in a thread, while the screens are still being loaded; `read` waits for it."""
        first = self._first = Future()

        def read() -> None:
            try:
                first.set_result(self._read())
            except BaseException as error:  # raised again in the thread that waits
                first.set_exception(error)

        Thread(target=read, name="first reading", daemon=True).start()

    def first_if_read(self) -> ReadResult | None:
        """Return the first reading if it is finished; None when somebody would have to wait for it."""
        first = self._first
        if first is None or not first.done() or first.exception() is not None:
            return None
        return first.result()

    def read(self) -> ReadResult:
        """Read the store and bring the view up to date; only what changed costs.

        Raises:
            InterruptedError: `tell` asked to stop.
        """
        first, self._first = self._first, None
        return first.result() if first is not None else self._read()

    def _read(self) -> ReadResult:
        """Read archives, snapshot and sessions as far as they are due; return them with the view."""
        if self._number:  # the first reading leaves these out: they would keep the first picture waiting
            self._read_archives()
        snapshot = self._team.snapshot(progress=lambda done, total: self.tell(done, total))
        if self._number and monotonic() >= self._local_until:
            from team_console.console.clients.joined import (
                join_problems,
                members_started_in,  # 60 ms, once
            )
            from team_console.console.clients.programs import process_states

            starts = {}
            with suppress(TeamError):  # the present folder was removed: nothing starts there
                starts = members_started_in(self._team, absolute("."))
            self._local = LocalFacts(process_states(), tuple(join_problems(self._team, snapshot.config)), starts)
            self._local_until = monotonic() + _LOCAL_EVERY
        self._number += 1
        readable = snapshot.is_known
        if readable and not self._view_still_holds(snapshot):
            self._view = self._update(snapshot)
        return ReadResult(self._number, snapshot, self._view, readable, self._team.obstacle(), self._local)

    def _read_archives(self) -> None:
        """Read the archives, so that the next view knows answers that are only there.

        Archives that cannot be read now, because a server is away for example, are asked for again.
        """
        if not self._wants_archives:
            return
        self._new_history = newest_archived(self._team, limit=_MOST_ARCHIVED)
        # Each snapshot tells of these itself; taken from here they would be told for good.
        self._archive_problems = tuple(
            problem for problem in self._new_history.problems if problem.code not in (AUDIT_LOST, KEPT_PRIVATE)
        )
        self._archives_complete, self.knows_archives = self._new_history.complete, True
        # One that could not be read is tried again by each reading until it can be; the others stay as they were read.
        self._wants_archives = any(problem.code == UNREADABLE_ARCHIVE for problem in self._archive_problems)

    def ask_for_archives(self) -> None:
        """Ask for the archives again at the next reading: what was lost or harmed may be there again."""
        self._wants_archives = True

    def _view_still_holds(self, snapshot: Snapshot) -> bool:
        """Return whether a new view would be the one before: nothing changed, and time alone makes nothing late."""
        if self._view is None or self._read_before is None or self._new_history is not None:
            return False
        now = self._team.clock()
        is_in_time = self._view.now <= now < self._view_holds_until
        # guard: idle-makes-no-view
        return is_in_time and snapshot.tells_same_as(self._read_before)

    def _update(self, snapshot: Snapshot) -> View:
        """Return a new view of a snapshot, and note until when it holds."""
        if self._projection is not None and self._projection.is_of_another(snapshot):
            self._projection, self._wants_archives = None, True
            self._read_archives()
        if self._projection is None:
            self._projection = Projection(self._me)
        problems = (*snapshot.problems, *self._archive_problems, *authority_problems(self._team, snapshot))
        seen = replace(snapshot, problems=problems, finished=self._team.count_finished())
        history = self._new_history.messages if self._new_history is not None else ()
        now, began = self._team.clock(), process_time()
        view = self._projection.update(seen, now, history, complete=self._archives_complete)
        self._new_history, self._read_before = None, snapshot
        again = now + timedelta(seconds=max(_VIEW_HOLDS, _TIMES_ITS_COST * (process_time() - began)))
        self._view_holds_until = min(again, view.next_due or again)
        return view
