"""The present state of a SQL team without a lock; every failure becomes a condition with its reason (decision D16)."""

from __future__ import annotations

import time
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, select

from store.backends.sql.dialect import Dialect, Progress
from store.backends.sql.ordering import State
from store.backends.sql.reader import Reader
from store.backends.sql.settings import Settings
from store.backends.sql.tables import MESSAGES, STATE, Shape, find_shape, our_tables
from store.clock import Clock, from_text
from store.config import TeamConfig
from store.errors import Code, TeamError
from store.team import Condition, LockHolder, Problem, Snapshot, config_problems

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


class View:
    """Makes snapshots; safe to use from several threads."""

    def __init__(self, dialect: Dialect, reader: Reader, settings: Settings, clock: Clock) -> None:
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
        self._place: tuple[Problem, ...] | None = None

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
            config, problems = self._read_settings(connection, shape)
            state = self._reader.state(connection, shape, progress=progress)
            changed = self._changed_at(connection, shape, state)
            self._seen = _Seen(state, config, changed, None if mark is None else stamp, problems, self._reader.missing)
            return self._seen

    def _read_settings(self, connection: Connection, shape: Shape) -> tuple[TeamConfig, tuple[Problem, ...]]:
        """The settings; while they cannot be understood, the last good ones with the reason."""
        try:
            self._config = self._settings.read(connection, shape)
        except TeamError as error:
            if error.facts.get("newer"):
                raise
            problem = Problem("BAD_CONFIG", "error", self._dialect.location, error.message, error.hint)
            return self._config, (problem,)
        return self._config, config_problems(self._config, "settings")

    def _changed_at(self, connection: Connection, shape: Shape, state: State) -> datetime | None:
        at = connection.execute(select(STATE.c.changed_at)).scalar() if shape.has_ours else None
        moments = [moment for text in (at, state.newest) if text and (moment := from_text(text)) is not None]
        return max(moments, default=None)

    def _unreadable(self, error: TeamError) -> Snapshot:
        vanished = bool(error.facts.get("vanished"))
        condition = Condition.VANISHED if vanished else Condition.UNREADABLE
        code = "VANISHED" if vanished else "UNREADABLE"
        problem = Problem(code, "error", self._dialect.location, error.message, error.hint)
        return self._made(_Seen(State(number=-1), self._config, None), condition, (problem,))

    def _made(self, seen: _Seen, condition: Condition, problems: tuple[Problem, ...]) -> Snapshot:
        if self._place is None:
            self._place = self._dialect.problems()
        return Snapshot(
            revision=f"{seen.state.number}/{self._settings.number}/{condition}",
            taken_at=self._clock(),
            changed_at=seen.changed_at,
            config=seen.config,
            messages=seen.state.messages,
            problems=(*problems, *self._place),
            condition=condition,
            missing=seen.missing,
            holder=self._now_holding() if condition in (Condition.OK, Condition.EMPTY) else None,
        )

    def _now_holding(self) -> LockHolder | None:
        now = time.monotonic()
        if now - self._asked >= _ASK_SECONDS:
            self._asked, self._holder = now, self._dialect.holder()
        return self._holder

    def _missing(self, connection: Connection) -> TeamError:
        existed = bool(our_tables(connection))
        text = f"{self._dialect.location} has no table {MESSAGES}" + (" any more" if existed else "")
        hint = "Restore the table." if existed else "Make a team in it with: team-console migrate FROM TO"
        return TeamError(Code.STORE_UNREADABLE, text, hint, vanished=existed)
