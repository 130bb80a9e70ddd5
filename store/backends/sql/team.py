"""A team in `agent_message` (seed 003): SQLite for one machine, PostgreSQL for several, one code path for both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace
from team_console.store.backends.sql.audit_trail import AuditRow, TrailTableFollower, trail_start
from team_console.store.backends.sql.connection import Connection, FileId, like_pattern
from team_console.store.backends.sql.history import (
    archive_page,
    archived_messages,
    count_finished,
    count_pushed,
    find_lost_rows,
    older_page,
)
from team_console.store.backends.sql.row_reader import (
    RowReader,
    fact_rows,
    finished_rows,
    is_large,
    make_indexes,
    messages_in_order,
    rows_with_ids,
)
from team_console.store.backends.sql.rows import column_text, dump, is_storable
from team_console.store.backends.sql.schema import (
    ATTACHMENTS,
    AUDIT,
    CREATE_MESSAGES,
    GRANT_HINT,
    HIDDEN_WORDS,
    MESSAGES,
    NO_RIGHT,
    NUMBERS_BEHIND,
    NUMBERS_LOST,
    OUR_TABLES,
    TABLE_CHANGED,
    Shape,
    create_ours,
    find_shape,
    read_numbers,
)
from team_console.store.backends.sql.settings import SettingsRows, mark_beside, stored_settings, write_settings
from team_console.store.backends.sql.transaction import SqlTransaction, addressed_rows, addressed_values
from team_console.store.contract.snapshot import (
    Condition,
    FinishedCounts,
    HolderWatch,
    LockHolder,
    Snapshot,
    trail_loss,
)
from team_console.store.contract.team import Addressed, AuditLine, Page, Progress, Team, opened_read_only
from team_console.store.model.clock import Clock, from_text, to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.settings.in_force import SettingsInForce, SettingsReader

_ASK_FOR_HOLDER_SECONDS = 2.0
"""How seldom it is asked who holds the lock: the kernel's list costs every process of the machine milliseconds."""


_NOTHING_RECORDED = RecordedFacts()
_UNFINISHED = frozenset(map(str, Status)) - {Status.DELIVERED, Status.READ}
_MOST_PUSHED = 50
"""So many messages that were delivered to an agent are read when it asks for its mail; more are counted."""
_WORDS_AT_ONCE = 50
"""So many words are looked for in one look through the archive."""


class SqlTeam(Team):
    """See `store.contract.team.Team`. Columns, rows and payloads of other programs are kept as they are.

    One code path for both databases, but for the methods that `SqliteTeam` and `PostgresTeam` have of their own.

    Attributes:
        inbox_folder: Where messages go whose agent's own inbox table takes none.
        error: The class of all errors of the driver.
    """

    kind = "sql"
    writes_only_changes = True
    error: ClassVar[type[Exception]]

    def __init__(self, location: str, root: Path | None, inbox_folder: Path, *, read_only: bool, clock: Clock) -> None:
        self.location = location  # without a password
        self.root = root
        self.read_only = read_only
        self.clock = clock
        self.inbox_folder = inbox_folder
        self._settings = SettingsReader()
        self._reader = RowReader()
        self._trail = TrailTableFollower(is_whole=True)
        self._facts = TrailTableFollower(is_whole=False)
        self._seen: tuple[object, Snapshot] | None = None
        self._holder = HolderWatch(clock, _ASK_FOR_HOLDER_SECONDS)
        self._refused_statuses: frozenset[str] = frozenset()
        """Statuses that the table was seen to refuse."""
        self._is_indexed = False
        self._first_line = ""
        """The hash of the first line of the trail, as it was seen last."""
        self._file: FileId | None = None
        """The file that was seen last."""

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Lend a connection to this thread alone; it is given back without an open transaction.

        Raises:
            TeamError: Whatever the database says, in the words of `translate`.
        """
        try:
            connection = self.take()
            try:
                yield connection
            finally:
                self.roll_back(connection)
                self.give_back(connection)
        except self.error as error:
            raise self.translate(error) from error

    @abstractmethod
    def take(self) -> Connection:
        """Return a connection that begins no transactions by itself."""

    @abstractmethod
    def give_back(self, connection: Any) -> None:
        """Close the connection, or keep it for the next who asks."""

    @property
    def may_not_write(self) -> bool:
        """Whether this process may not write here now, asked to or not."""
        return self.read_only

    def roll_back(self, connection: Connection) -> None:
        """End whatever is open on the connection; one that is broken is not used again."""
        if not connection.is_idle:
            with suppress(self.error):
                connection.change("ROLLBACK")

    def mark(self) -> object | None:
        """Return a value that is the same as long as nothing in the database changed; None when there is no such
        thing.
        """
        return None

    def prepare(self, connection: Connection) -> None:
        """Make a database that is known to be a team ready for writing; outside of a transaction."""
        return None

    @abstractmethod
    def begin_reading(self, connection: Connection) -> None:
        """Begin a transaction in which everything read is of one moment."""

    @abstractmethod
    def begin_writing(self, connection: Connection, *, wait: float, label: str, has_table: bool = True) -> None:
        """Begin the only transaction that writes, waiting at most `wait` seconds; `label` says what it is for.

        Args:
            has_table: Whether there is a table of messages; only a team that is being made may have none.

        Raises:
            TeamError: `STORE_LOCKED` with the holder.
        """

    @abstractmethod
    def commit(
        self, connection: Connection, line: AuditRow | None = None, ids: Iterable[str] = (), *, wait: float = 0.0
    ) -> None:
        """Make the transaction durable.

        Args:
            line: Its last line on the audit trail, which no other writes: it tells whether it was done.
            ids: The messages that it adds.
            wait: So many seconds at most a server is asked for that.

        Raises:
            TeamError: `STORE_FAILED`: nothing was changed, or nobody can tell (`OUTCOME_UNKNOWN`, with the `ids`).
        """

    def notify(self, connection: Connection) -> None:
        """Tell watchers about the change being committed, where they do not see the commit itself."""
        return None

    @abstractmethod
    def holder(self) -> LockHolder | None:
        """Return the present holder of the write lock; never raises."""

    @abstractmethod
    def translate(self, error: Exception) -> TeamError:
        """Return the user's error for what the database said."""

    def problems(self) -> tuple[Problem, ...]:
        """Return findings on the place of the database."""
        return ()

    @property
    def has_trail(self) -> bool:
        """See `Team.has_trail`."""
        with self._reading() as (_, shape):
            return shape.has_ours

    def snapshot(self, *, progress: Progress | None = None) -> Snapshot:
        """See `Team.snapshot`."""
        try:
            seen = self._read_if_changed(progress)
        except TeamError as error:
            if getattr(error.__cause__, "sqlstate", None) not in TABLE_CHANGED:
                return self._unreadable(error)
            try:  # a table was renamed or changed while it was read: this look finds what there is now
                seen = self._read_if_changed(progress)
            except TeamError as still:
                return self._unreadable(still)
        return replace(seen, taken_at=self.clock(), holder=self._holder_now(), notes=self.session_notes())

    def _read_if_changed(self, progress: Progress | None) -> Snapshot:
        """Return the present snapshot; the same object as before while nothing changed."""
        with self._reader.guard:
            mark, stamp = self.mark(), mark_beside(self.root, self._settings.known.config.key_path)
            if self._seen is not None and mark is not None and self._seen[0] == (mark, stamp):
                return self._seen[1]
            with self._reading() as (connection, shape):
                snapshot = self._read_snapshot(connection, shape, progress, self._reader)
            self._seen = (mark, stamp), snapshot
            return snapshot

    def _read_snapshot(
        self, connection: Connection, shape: Shape, progress: Progress | None, reader: RowReader
    ) -> Snapshot:
        """Make a snapshot of what the connection sees: settings, rows, numbers and findings."""
        settings = self._settings.look(self._stored_settings(connection, shape, asks_trail=True))
        state = reader.state(connection, shape, progress=progress)
        found = read_numbers(connection, shape) if shape.has_ours else None
        ours = list[Problem]()
        if shape.hides_tables:
            ours.append(Problem("TABLES_HIDDEN", "warning", self.location, HIDDEN_WORDS, GRANT_HINT))
        # guard: numbers-told
        if shape.has_ours and (found is None or found.is_behind):
            ours.append(NUMBERS_LOST if found is None else NUMBERS_BEHIND)
        # guard: lost-lines-of-a-database-told
        if found is not None and found.seq < found.written:
            ours.append(trail_loss(AUDIT, found.seq, found.written))
        if reader.is_whole:
            ours += find_lost_rows(connection, shape, counts_many=True)
        at = column_text(found.changed_at) if found is not None else ""
        moments = [moment for text in (at, state.newest) if text and (moment := from_text(text)) is not None]
        condition = Condition.OK if state.entries else Condition.EMPTY
        return Snapshot(
            revision=f"{state.number}/{settings.number}/{condition}",
            taken_at=self.clock(),
            changed_at=max(moments, default=None),
            config=settings.config,
            messages=state.messages,
            problems=(*settings.problems, *ours, *shape.problems(), *state.problems, *self.problems()),
            condition=condition,
            missing=reader.missing,
            recorded=self._facts.read(connection, settings.config.key).facts if shape.has_ours else _NOTHING_RECORDED,
        )

    def _unreadable(self, error: TeamError) -> Snapshot:
        """Make the snapshot of a database that is gone or cannot be read, with the settings known last."""
        vanished = bool(error.facts.get("vanished"))
        condition = Condition.VANISHED if vanished else Condition.UNREADABLE
        problem = Problem("VANISHED" if vanished else "UNREADABLE", "error", self.location, error.message, error.hint)
        return Snapshot(
            revision=f"-1/{self._settings.known.number}/{condition}",
            taken_at=self.clock(),
            changed_at=None,
            config=self._settings.known.config,
            problems=(problem, *self.problems()),
            condition=condition,
        )

    def _holder_now(self) -> LockHolder | None:
        """Return who holds the write lock, asked for seldom; what was known meanwhile."""
        return self._holder.look(lambda is_due: self.holder() if is_due else None)

    def obstacle(self) -> str:
        """See `Team.obstacle`: rights on a file are known beforehand, those on a server when they are refused."""
        return f"no write permission on {self.location}" if self.may_not_write and not self.read_only else ""

    def settings_in_force(self) -> SettingsInForce:
        """See `Team.settings_in_force`."""
        with self._reading() as (connection, shape):
            return self._look_at_settings(connection, shape)

    def _look_at_settings(self, connection: Connection, shape: Shape) -> SettingsInForce:
        """Return the settings in force by what the connection sees."""
        return self._settings.look(self._stored_settings(connection, shape))

    def _stored_settings(self, connection: Connection, shape: Shape, *, asks_trail: bool = False) -> SettingsRows:
        """Return where the text of the settings is, and what of it is on record. What was seen of another team, whose
        place this one took, is forgotten first.

        Args:
            asks_trail: Whether to look for another team in the same file, or on a server, too.
        """
        is_other_file = self._file not in (None, connection.file)
        if asks_trail or is_other_file:
            first_line, is_cut = trail_start(connection) if shape.has_ours else ("", False)
            # By its trail a team is known; before it has one, and where that lost its first line, by its file.
            # guard: another-team-by-its-trail
            if first_line != self._first_line if self._first_line and not is_cut else is_other_file:
                self._reader.restart()
                self._settings.restart()
                self._refused_statuses, self._is_indexed = frozenset(), False
            self._first_line = first_line
        self._file = connection.file
        return SettingsRows(connection, shape, self.root, self.location)

    def addressed(self, agent: str) -> Addressed | None:
        """See `Team.addressed`; what has been read is left out, and most of what was delivered where that is much."""
        with self._reading() as (connection, shape):
            values = addressed_values(agent)
            # Named one by one: an index finds them beside any number of others for the same agent.
            having, statuses = shape.has_status(_UNFINISHED)
            rows = connection.rows(shape.select_rows(addressed_rows(shape, having)), {**values, **statuses})
            delivered = f"{shape.status} = '{Status.DELIVERED}'"
            newest = " ORDER BY created_at DESC" if "created_at" in shape.types else ""
            ids, most = f"SELECT message_id FROM {MESSAGES} WHERE {delivered} AND", f"LIMIT {_MOST_PUSHED + 1}"
            found = connection.rows(f"{ids} {shape.group_condition} {most}")
            for name in dict.fromkeys(values.values()):  # one by one, so that an index has them in this order
                found += connection.rows(f"{ids} recipient = :name{newest} {most}", {"name": name})
            pushed = rows_with_ids(connection, shape, [message_id for (message_id,) in found])
            # guard: delivered-counted
            count = count_pushed(connection, shape, agent) if len(pushed) > _MOST_PUSHED else None
            entries = self._reader.read_rows([*rows, *pushed])
            anything = connection.first(f"SELECT message_id FROM {MESSAGES} LIMIT 1") is not None
        messages = messages_in_order(entries)
        mine = tuple(message for message in messages if message.is_addressed_to(agent))
        damaged = len(entries) - len(messages)
        is_complete = shape.has_ours and not (damaged or shape.problems() or self.problems())
        return Addressed(mine, is_empty=not anything, damaged=damaged, is_complete=is_complete, pushed=count)

    def count_finished(self) -> FinishedCounts | None:
        """See `Team.count_finished`; counted by an index."""
        with suppress(TeamError), self._reading() as (connection, shape):
            return count_finished(connection, shape) if is_large(connection) else None
        return None

    def older(self, *, cursor: str | None = None, limit: int = 200) -> Page:
        """See `Team.older`."""
        with self._reading() as (connection, shape):
            if is_large(connection):
                return older_page(connection, shape, self._reader, cursor=cursor, limit=limit)
        return self.history(cursor=cursor, limit=limit)

    def whole(self) -> Snapshot:
        """See `Team.whole`."""
        reader = RowReader(is_whole=True)
        with suppress(TeamError), reader.guard, self._reading() as (connection, shape):
            seen = self._read_snapshot(connection, shape, None, reader)
            return replace(seen, taken_at=self.clock(), holder=self._holder_now(), notes=self.session_notes())
        return self.snapshot()

    def reworded(self) -> frozenset[str]:
        """See `Team.reworded`; of the messages that were read."""
        with self._reader.guard:
            return frozenset(self._reader.reworded)

    def history(self, *, agent: str | None = None, cursor: str | None = None, limit: int = 200) -> Page:
        """See `Team.history`."""
        with self._reading() as (connection, shape):
            if not shape.has_ours:
                return Page((), None)
            return archive_page(connection, shape, agent=agent, cursor=cursor, limit=limit)

    def archived(self, *words: str) -> list[Message]:
        """See `Team.archived`."""
        found: dict[str, Message] = {}
        with self._reading() as (connection, shape):
            for start in range(0, len(words) if shape.has_ours else 0, _WORDS_AT_ONCE):
                some = words[start : start + _WORDS_AT_ONCE]
                patterns = {f"word_{number}": like_pattern(dump(word)[1:-1]) for number, word in enumerate(some)}
                either = " OR ".join(f"record LIKE :{name} ESCAPE '/'" for name in patterns)
                found |= {one.message_id: one for one in archived_messages(connection, either, patterns)}
            if is_large(connection):  # a snapshot may leave out finished messages
                ids = [word for word in words if is_storable(word)]
                beside = f"{finished_rows(shape)} AND NOT {fact_rows(shape)} AND {shape.id} IN"
                rows = connection.rows_among(shape.select_rows(beside), ids)
                read = (entry.message for entry in self._reader.read_rows(rows))
                found |= {one.message_id: one for one in read if one is not None}
        return list(found.values())

    def audit(self, *, limit: int = 200) -> list[AuditLine]:
        """See `Team.audit`."""
        with self._reader.guard, self._reading() as (connection, shape):
            key = self._look_at_settings(connection, shape).config.key
            return self._trail.read(connection, key, keeps=limit).shown(limit) if shape.has_ours else []

    def attachment(self, reference: str) -> bytes:
        """See `Team.attachment`."""
        wanted, data = f"SELECT data FROM {ATTACHMENTS} WHERE reference = :reference", None
        with self._reading() as (connection, shape):
            if shape.has_ours and is_storable(reference):
                data = connection.scalar(wanted, {"reference": reference})
        if data is None:
            text = f"no attachment {reference!r}"
            raise TeamError(Code.INVALID_FIELD, text, "The message that names it may have been copied.")
        return data if isinstance(data, bytes) else column_text(data).encode("utf-8", "surrogateescape")

    @contextmanager
    def _reading(self) -> Iterator[tuple[Connection, Shape]]:
        """Enter a moment of the database; yields the connection and the tables as they are found."""
        with self.connect() as connection:
            self.begin_reading(connection)
            yield connection, self._find_tables(connection)

    @contextmanager
    def transaction(self, *, actor: str, action: str, wait: float) -> Iterator[SqlTransaction]:
        """See `Team.transaction`."""
        if self.read_only:
            raise opened_read_only(self.location)
        if self.may_not_write:
            raise TeamError(Code.READ_ONLY, f"{self.location} may not be written by this user", "Reading works.")
        with self.connect() as connection:
            shape = self._find_tables(connection)
            self.roll_back(connection)
            self.prepare(connection)
            self.begin_writing(connection, wait=wait, label=f"{action} {actor}")
            if not shape.has_ours:
                shape = self._make_our_tables(connection, shape)
            if not self._is_indexed:
                make_indexes(connection, shape)
            stored = self._stored_settings(connection, shape)
            settings = self._settings.look(stored)

            def recorded() -> RecordedFacts:
                with self._reader.guard:
                    return self._facts.read(connection, settings.config.key).facts

            tx = SqlTransaction(
                *(connection, shape, self._reader, self.inbox_folder, stored),
                now=self.clock(),
                in_force=settings,
                recorded=recorded,
            )
            tx.session_notes = self.session_notes
            yield tx
            # A transaction that wrote nothing is rolled back and leaves no trace.
            if (changes := tx.finish()) is not None:
                try:
                    line = tx.write(changes, actor=actor, at=to_text(self.clock()))
                    self.notify(connection)
                except connection.error as error:
                    raise self._write_failure(error) from error
                finally:
                    self._refused_statuses |= tx.newly_refused
                self.commit(connection, line, changes.added, wait=wait)
                self._is_indexed = True

    def create(self, settings: str) -> bool:
        """Make what a team needs, all or nothing: the table of messages, our own, the text of its settings. What is
        there stays as it is.

        Returns:
            Whether the settings were written, so that the team is new.

        Raises:
            TeamError: What the database says.
        """
        with self.connect() as connection:
            has_table = find_shape(connection) is not None
            self.begin_writing(connection, wait=10.0, label="create", has_table=has_table)
            if find_shape(connection) is None:  # nobody else made it meanwhile
                connection.change(CREATE_MESSAGES)
            create_ours(connection)
            make_indexes(connection, self._find_tables(connection))
            is_new = stored_settings(connection) is None
            if is_new:
                write_settings(connection, settings)
            self.commit(connection)
            self.prepare(connection)
            return is_new

    def _write_failure(self, error: Exception) -> TeamError:
        """Return the error of a write. Whoever came so far may write messages: a refusal now is of our own tables."""
        known = self.translate(error)
        if known.code is Code.READ_ONLY and getattr(error, "sqlstate", "") == NO_RIGHT:
            return TeamError(Code.NOT_PERMITTED, known.message, GRANT_HINT)
        if known.code in (Code.READ_ONLY, Code.STORE_LOCKED, Code.NOT_PERMITTED):
            return known
        return TeamError(Code.STORE_FAILED, f"{known.message}; nothing was changed", known.hint)

    def _make_our_tables(self, connection: Connection, shape: Shape) -> Shape:
        """Return the tables, ours made now: this is the first write to a database of others."""
        if shape.hides_tables:
            raise TeamError(Code.NOT_PERMITTED, f"{self.location}: {HIDDEN_WORDS}", GRANT_HINT)
        try:
            create_ours(connection)
        except connection.error as error:
            refused = self._write_failure(error)
            if refused.code is not Code.NOT_PERMITTED:
                raise
            text = f"{refused.message}; team-console writes with tables of its own beside {MESSAGES}"
            hint = "Let its owner run GRANT CREATE ON SCHEMA ... TO this role, or write once with team-console."
            raise TeamError(Code.NOT_PERMITTED, text, hint) from error
        made = find_shape(connection, self._refused_statuses)
        if made is None or not made.has_ours:
            raise TeamError(Code.STORE_FAILED, f"{self.location}: our tables could not be made", "Check your rights.")
        return made

    def _find_tables(self, connection: Connection) -> Shape:
        """Return the tables as they are now: other programs may make, change and drop them.

        Raises:
            TeamError: `STORE_UNREADABLE` when there is no table of messages.
        """
        shape = find_shape(connection, self._refused_statuses)
        if shape is None:
            existed = bool(connection.tables(OUR_TABLES))
            text = f"{self.location} has no table {MESSAGES}" + (" any more" if existed else "")
            hint = "Restore the table." if existed else "Make a team in it with: team-console init LOCATION"
            raise TeamError(Code.STORE_UNREADABLE, text, hint, vanished=existed)
        return shape
