"""The present state of a SQL team without a lock; every failure becomes a condition with its reason (decision D16)."""

from __future__ import annotations

import time
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.dialect import Dialect, Progress
from team_console.store.backends.sql.history import as_text
from team_console.store.backends.sql.ordering import State
from team_console.store.backends.sql.recorded_reader import RecordedReader
from team_console.store.backends.sql.row_reader import RowReader
from team_console.store.backends.sql.settings import Settings
from team_console.store.backends.sql.shape import Shape, find_shape
from team_console.store.backends.sql.tables import GRANT, HIDDEN, MESSAGES, Numbers, numbers, numbers_lost, our_tables
from team_console.store.contract.team import LOG_LOST, PROCESS_LOST, Condition, LockHolder, Snapshot
from team_console.store.model.clock import Clock, from_text, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem
from team_console.store.model.recorded import RecordedFacts
from team_console.store.settings.team_config import TeamConfig

_ASK_SECONDS = 2.0
"""How seldom it is asked who holds the lock: the kernel's list costs every process of the machine milliseconds."""


class _Seen(Struct, frozen=True):
    """What one look at the database gave.

    Attributes:
        mark: Equal as long as nothing changed, None when the database has no such thing.
    """

    state: State
    config: TeamConfig
    changed_at: datetime | None
    mark: object | None = None
    problems: tuple[Problem, ...] = ()
    missing: frozenset[str] = frozenset()
    recorded: RecordedFacts | None = None


class SnapshotView:
    """Makes snapshots; safe to use from several threads."""

    def __init__(self, dialect: Dialect, reader: RowReader, settings: Settings, clock: Clock) -> None:
        self._dialect = dialect
        self._reader = reader
        self._settings = settings
        self._clock = clock
        self._shape: Shape | None = None
        self._generation = 0
        self._seen: _Seen | None = None
        self._config = TeamConfig()
        self._asked = -_ASK_SECONDS
        self._holder: LockHolder | None = None
        self._place: tuple[int, tuple[Problem, ...]] = (-1, ())
        self._recorded = RecordedReader()
        self._nothing_recorded = RecordedFacts()

    def snapshot(self, progress: Progress | None) -> Snapshot:
        """See `Team.snapshot`."""
        try:
            seen = self._look(progress)
        except TeamError as error:
            return self._unreadable(error)
        condition = Condition.OK if seen.state.entries else Condition.EMPTY
        return self._made(seen, condition, (*seen.problems, *seen.state.problems))

    def shape(self, connection: Connection) -> Shape:
        """The tables as this connection finds them; remembered once ours are among them.

        Raises:
            TeamError: `STORE_UNREADABLE` when there is no table of messages.
        """
        if self._shape is None or not self._shape.has_ours or self._generation != self._dialect.generation:
            self._generation = self._dialect.generation
            self._shape = find_shape(connection)
        if self._shape is None:
            raise self._missing(connection)
        return self._shape

    def forget(self) -> None:
        """Look at the tables anew: they are not what they were."""
        self._shape = None
        self._seen = None
        self._recorded = RecordedReader()
        self._reader.forget()

    def _look(self, progress: Progress | None) -> _Seen:
        """One look; when the tables changed under us, a second one at what they are now."""
        try:
            return self._look_once(progress)
        except TeamError:
            if self._shape is None:
                raise
            self.forget()
            return self._look_once(progress)

    def _look_once(self, progress: Progress | None) -> _Seen:
        with self._reader.guard, self._dialect.reading() as connection:
            mark = self._dialect.mark(connection)
            stamp = (mark, self._settings.stamp())
            if self._seen is not None and mark is not None and self._seen.mark == stamp:
                return self._seen
            shape = self.shape(connection)
            settings = self._settings.look(connection, shape)
            self._config = settings.config
            state = self._reader.state(connection, shape, progress=progress)
            found = numbers(connection) if shape.has_ours else None
            changed = self._changed_at(found, state)
            lost = numbers_lost(connection, found) if shape.has_ours else None
            recorded = self.recorded(connection, shape, settings.config.key)
            same = None if mark is None else stamp
            hidden = Problem("TABLES_HIDDEN", "warning", self._dialect.location, HIDDEN, GRANT)
            problems = (*settings.problems, *([lost] if lost else []), *([hidden] if shape.hidden else []))
            self._seen = _Seen(state, settings.config, changed, same, problems, self._reader.missing, recorded)
            return self._seen

    def recorded(self, connection: Connection, shape: Shape, key: bytes) -> RecordedFacts:
        """What the audit trail knows of requests and answers; nothing where there is none yet."""
        return self._recorded.read(connection, key) if shape.has_ours else self._nothing_recorded

    def _changed_at(self, found: Numbers | None, state: State) -> datetime | None:
        at = as_text(found.changed_at) if found is not None else ""
        moments = [moment for text in (at, state.newest) if text and (moment := from_text(text)) is not None]
        return max(moments, default=None)

    def _unreadable(self, error: TeamError) -> Snapshot:
        vanished = bool(error.facts.get("vanished"))
        condition = Condition.VANISHED if vanished else Condition.UNREADABLE
        code = LOG_LOST if error.facts.get(PROCESS_LOST) else "VANISHED" if vanished else "UNREADABLE"
        problem = Problem(code, "error", self._dialect.location, error.message, error.hint)
        return self._made(_Seen(State(number=-1), self._config, None), condition, (problem,))

    def _made(self, seen: _Seen, condition: Condition, problems: tuple[Problem, ...]) -> Snapshot:
        if self._place[0] != self._dialect.generation:
            self._place = self._dialect.generation, self._dialect.problems()
        return Snapshot(
            revision=f"{seen.state.number}/{self._settings.number}/{condition}",
            taken_at=self._clock(),
            changed_at=seen.changed_at,
            config=seen.config,
            messages=seen.state.messages,
            problems=(*problems, *self._place[1]),
            condition=condition,
            missing=seen.missing,
            recorded=seen.recorded,
            holder=self._now_holding() if condition in (Condition.OK, Condition.EMPTY) else None,
        )

    def _now_holding(self) -> LockHolder | None:
        """Who holds the lock; one that does not say since when counts from when it was first seen.

        A holder is asked for at each look until it is gone: a write that is over must not pass for one that blocks.
        """
        now, before = time.monotonic(), self._holder
        if before is None and now - self._asked < _ASK_SECONDS:
            return None
        self._asked, holder = now, self._dialect.holder()
        if holder is not None and not holder.since:
            is_same = before is not None and before.pid == holder.pid
            holder = before if is_same else replace(holder, since=to_text(self._clock()))
        self._holder = holder
        return holder

    def _missing(self, connection: Connection) -> TeamError:
        existed = bool(our_tables(connection))
        text = f"{self._dialect.location} has no table {MESSAGES}" + (" any more" if existed else "")
        hint = "Restore the table." if existed else "Make a team in it with: team-console init LOCATION"
        return TeamError(Code.STORE_UNREADABLE, text, hint, vanished=existed)
