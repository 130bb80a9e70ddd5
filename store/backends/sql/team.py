"""A team in `agent_message` (seed 003): SQLite for one machine, PostgreSQL for several, one code path for both."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from team_console.store.backends.sql.commit import Writer
from team_console.store.backends.sql.committed import Written, commit
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.dialect import Dialect, Mode
from team_console.store.backends.sql.engines.statement import containing
from team_console.store.backends.sql.history import Chain, archived_messages, attachment, page
from team_console.store.backends.sql.ordering import in_order
from team_console.store.backends.sql.recorded_reader import restore
from team_console.store.backends.sql.row_reader import RowReader
from team_console.store.backends.sql.rows import dump
from team_console.store.backends.sql.settings import FILE, TABLE, Settings, put_back, write_pointer, write_settings
from team_console.store.backends.sql.shape import Shape, find_shape
from team_console.store.backends.sql.snapshot_view import SnapshotView
from team_console.store.backends.sql.tables import (
    ARCHIVE,
    GRANT,
    HIDDEN,
    MESSAGES,
    NO_RIGHT,
    create_ours,
    restore_numbers,
)
from team_console.store.backends.sql.transaction import MAY_ADDRESS, SqlTransaction, to_recipient
from team_console.store.contract.presence import Attendance, Presence
from team_console.store.contract.team import (
    Addressed,
    AuditLine,
    Page,
    Snapshot,
    Team,
    Tidying,
    WatchHint,
)
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.problem import Problem
from team_console.store.model.recorded import RecordedFacts
from team_console.store.settings.loss import digest, on_record, refuse_misread, refuse_other
from team_console.store.settings.settings_file import parse
from team_console.store.settings.team_config import TeamConfig

_WORDS_AT_ONCE = 50
"""So many words are looked for in one look through the archive."""


class SqlTeam(Team):
    """See `store.contract.team.Team`. Columns, rows and payloads of other programs are kept as they are."""

    kind = "sql"

    def __init__(self, dialect: Dialect, *, read_only: bool, clock: Clock) -> None:
        self.location = dialect.location
        self.root = dialect.root
        self.read_only = read_only
        self.clock = clock
        self._dialect = dialect
        self._settings = Settings(dialect.root, dialect.location)
        self._reader = RowReader(dialect)
        self._view = SnapshotView(dialect, self._reader, self._settings, clock)
        self._chain = Chain()

    @property
    def has_trail(self) -> bool:
        """See `Team.has_trail`."""
        with self._reading() as (_, shape):
            return shape.has_ours

    def snapshot(self, *, progress: Callable[[int, int], bool] | None = None) -> Snapshot:
        """See `Team.snapshot`."""
        return self._view.snapshot(progress)

    def obstacle(self) -> str:
        """See `Team.obstacle`: rights on a file are known beforehand, those on a server when they are refused."""
        forbidden = self._dialect.read_only and not self.read_only
        return f"no write permission on {self.location}" if forbidden else ""

    def config(self) -> TeamConfig:
        """See `Team.config`."""
        with self._reading() as (connection, shape):
            return self._settings.read(connection, shape)

    def addressed(self, agent: str) -> Addressed | None:
        """See `Team.addressed`; what has been read is left out."""
        with self._reading() as (connection, shape):
            unread = f"{MAY_ADDRESS} AND (status IS NULL OR status <> :read)"
            rows = connection.rows(shape.rows(unread), {**to_recipient(agent), "read": Status.READ})
            entries = self._reader.alone(rows)
            anything = connection.first(f"SELECT message_id FROM {MESSAGES} LIMIT 1") is not None
        messages = in_order(entries)
        mine = tuple(message for message in messages if message.is_addressed_to(agent))
        return Addressed(mine, is_empty=not anything, damaged=len(entries) - len(messages))

    @contextmanager
    def transaction(self, *, actor: str, action: str, wait: float) -> Iterator[Transaction]:
        """See `Team.transaction`."""
        with self._writing(Mode.WRITE, actor, action, wait) as tx:
            yield tx

    @contextmanager
    def claims(self, *, actor: str, action: str, wait: float, tidy: Tidying | None = None) -> Iterator[Transaction]:
        """See `Team.claims`: in PostgreSQL several run at once, each on its own rows."""
        with self._writing(Mode.CLAIM, actor, action, wait) as tx:
            yield tx
            if tidy is not None and tx.alone and not tx.changes.is_empty:
                tidy(tx)
        if tidy is None or tx.alone:
            return
        if secrets.randbelow(5 * tx.config.active_messages_max) < len(tx.changes.archived):
            with suppress(TeamError), self.transaction(actor=actor, action="compact", wait=0.1) as alone:
                tidy(alone)

    def history(self, *, agent: str | None = None, cursor: str | None = None, limit: int = 200) -> Page:
        """See `Team.history`."""
        with self._reading() as (connection, shape):
            return page(connection, agent=agent, cursor=cursor, limit=limit) if shape.has_ours else Page((), None)

    def archived(self, *words: str) -> list[Message]:
        """See `Team.archived`."""
        with self._reading() as (connection, shape):
            if not shape.has_ours:
                return []
            found: dict[str, Message] = {}
            for start in range(0, len(words), _WORDS_AT_ONCE):
                quoted = [dump(word)[1:-1] for word in words[start : start + _WORDS_AT_ONCE]]
                patterns = {f"word_{number}": containing(text) for number, text in enumerate(quoted)}
                either = " OR ".join(f"record LIKE :{name} ESCAPE '/'" for name in patterns)
                messages = archived_messages(connection, either, patterns)
                found.update({message.message_id: message for message in messages})
            return list(found.values())

    def audit(self, *, limit: int = 200) -> list[AuditLine]:
        """See `Team.audit`."""
        with self._reading() as (connection, shape):
            key = self._settings.look(connection, shape).config.key
            if key != self._chain.key:
                self._chain = Chain(key)
            return self._chain.lines(connection, limit=limit) if shape.has_ours else []

    def attachment(self, reference: str) -> bytes:
        """See `Team.attachment`."""
        with self._reading() as (connection, shape):
            data = attachment(connection, reference) if shape.has_ours else None
        if data is None:
            text = f"no attachment {reference!r}"
            raise TeamError(Code.INVALID_FIELD, text, "The message that names it may have been copied.")
        return data

    def delete_archived(self, *, before: datetime, actor: str, wait: float) -> int:
        """See `Team.delete_archived`; what is still in the queue keeps its archive."""
        with self._writing(Mode.WRITE, actor, "delete_archived", wait) as tx:
            live = [message.message_id for message in tx.everything()]
            old = f"SELECT message_id FROM {ARCHIVE} WHERE created <> '' AND created < :before"
            ids = sorted(set(tx.connection.scalars(old, {"before": to_text(before)})) - set(live))
            if ids:
                # A newer message in the archive of somebody else may have the same id.
                gone = f"DELETE FROM {ARCHIVE} WHERE message_id = :message_id AND created <> '' AND created < :before"
                rows = [{"message_id": message_id, "before": to_text(before)} for message_id in ids]
                tx.connection.change_all(gone, rows)
                tx.record("delete_archived", count=len(ids), before=to_text(before))
        return len(ids)

    def restore_settings(self, *, actor: str, wait: float) -> Problem | None:
        """See `Team.restore_settings`."""
        with self._reading() as (connection, shape):
            if not self._settings.look(connection, shape).config.lost:
                return None
        with self._writing(Mode.WRITE, actor, "restore_settings", wait) as tx:
            settings = self._settings.look(tx.connection, tx.shape)
            if not settings.config.lost or settings.in_force is None:
                return None
            kept = ""
            if settings.place == FILE and self._settings.file is not None:
                stamp = to_text(self.clock()).replace(":", "").replace("-", "")
                kept = put_back(self._settings.file, settings.in_force, stamp)
            else:
                write_settings(tx.connection, settings.in_force.decode())
            tx.record("restore_settings", sha256=digest(settings.in_force), kept=kept)
        text = "the settings were put back from the audit trail" + (
            f"; what was there is kept as {kept}" if kept else ""
        )
        return Problem("SETTINGS_RESTORED", "warning", "the settings", text)

    def accept_settings(
        self, *, actor: str, wait: float, signed: Mapping[str, Any] = MappingProxyType({})
    ) -> Problem | None:
        """See `Team.accept_settings`."""
        with self._writing(Mode.WRITE, actor, "accept_settings", wait) as tx:
            settings = self._settings.look(tx.connection, tx.shape)
            if not settings.config.lost:
                return None
            if settings.text is not None:
                refuse_misread(parse(settings.text, Path(self.location)), "settings")
            tx.to_record = settings.text or b""
            refuse_other(tx.to_record, signed)
            tx.record("accept_settings", **{"sha256": digest(tx.to_record), **signed})
        return Problem("SETTINGS_ACCEPTED", "warning", "the settings", "the settings hold as they are now")

    def announce(self, presence: Presence, name: str) -> AbstractContextManager[bool]:
        """See `Team.announce`."""
        return nullcontext(False) if self.read_only else self._dialect.present(presence, name)

    def attendance(self, presence: Presence) -> Attendance:
        """See `Team.attendance`."""
        return self._dialect.attendance(presence)

    def places(self) -> Mapping[str, str]:
        """See `Team.places`."""
        return self._dialect.places()

    def watch(self) -> AsyncIterator[WatchHint]:
        """See `Team.watch`."""
        return self._dialect.watch()

    def close(self) -> None:
        """See `Team.close`."""
        self._dialect.close()

    @contextmanager
    def _reading(self) -> Iterator[tuple[Connection, Shape]]:
        """A moment of the database with its tables; when those changed since, they are looked at anew."""
        try:
            with self._dialect.connect() as connection:
                self._dialect.begin(connection, Mode.READ, wait=0.0, label="")
                yield connection, self._view.shape(connection)
        except TeamError as error:
            if error.code is Code.STORE_UNREADABLE:
                self._view.forget()
            raise

    @contextmanager
    def _writing(self, mode: Mode, actor: str, action: str, wait: float) -> Iterator[SqlTransaction]:
        if self.read_only or self._dialect.read_only:
            why = "is open read-only" if self.read_only else "may not be written by this user"
            raise TeamError(Code.READ_ONLY, f"{self.location} {why}", "Reading works.")
        with self._dialect.connect() as connection:
            tables = self._view.shape(connection)
            if not tables.has_ours:
                mode = Mode.WRITE
            self._dialect.roll_back(connection)
            self._dialect.prepare(connection)
            self._dialect.begin(connection, mode, wait=wait, label=f"{action} {actor}")
            shape = self._writable_shape(connection)
            settings = self._settings.look(connection, shape)

            def recorded() -> RecordedFacts:
                with self._reader.guard:
                    return self._view.recorded(connection, shape, settings.config.key)

            tx = SqlTransaction(
                connection,
                self._dialect,
                self._reader,
                shape,
                alone=mode is Mode.WRITE,
                now=self.clock(),
                config=settings.checked(),
                settings=self._settings,
                recorded=recorded,
            )
            tx.to_record = settings.to_record
            if action == "heal":
                self._restore_numbers(tx)
                restore(tx, recorded())
            yield tx
            self._finish(connection, tx, actor, place=settings.place, wait=wait)

    def _restore_numbers(self, tx: SqlTransaction) -> None:
        arrivals = (entry.arrival for entry in tx.state.entries.values() if entry.arrival is not None)
        done = restore_numbers(tx.connection, arrivals=max(arrivals, default=0))
        if done is not None:
            tx.notices.append(done)
            tx.record("heal", numbers=done.message)

    def _finish(self, connection: Connection, tx: SqlTransaction, actor: str, *, place: str, wait: float) -> None:
        """Commit what was written; a transaction that wrote nothing is rolled back and leaves no trace."""
        changes = tx.finish()
        if changes is None:
            return
        if changes.settings is not None:  # the same line says that these are in force: otherwise they count as lost
            tx.to_record, place = changes.settings.encode(), TABLE
        if tx.to_record is not None:
            action, facts = changes.records[0]
            changes.records[0] = (action, {**facts, "settings": on_record(tx.to_record)})
        try:
            writer = Writer(connection, tx)
            line = writer.write(changes, actor=actor, at=to_text(self.clock()))
            if tx.to_record is not None:
                write_pointer(connection, line, tx.to_record, place)
            self._dialect.announce(connection)
        except connection.error as error:
            raise self._failed(error) from error
        written = Written(*writer.last_line, ids=list(changes.added))
        commit(self._dialect, connection, written, wait=wait)

    def _failed(self, error: Exception) -> TeamError:
        """Whoever came so far may write messages: what is refused now is a right on tables of ours, or to make them."""
        known = self._dialect.translate(error)
        if known.code is Code.READ_ONLY and getattr(error, "sqlstate", "") == NO_RIGHT:
            return TeamError(Code.NOT_PERMITTED, known.message, GRANT)
        if known.code in (Code.READ_ONLY, Code.STORE_LOCKED):
            return known
        return TeamError(Code.STORE_FAILED, f"{known.message}; nothing was changed", known.hint)

    def _writable_shape(self, connection: Connection) -> Shape:
        """The tables, ours made now if this is the first write to a database of others."""
        shape = self._view.shape(connection)
        if shape.has_ours:
            return shape
        if shape.hidden:
            raise TeamError(Code.NOT_PERMITTED, f"{self.location}: {HIDDEN}", GRANT)
        try:
            create_ours(connection)
        except connection.error as error:
            refused = self._failed(error)
            if refused.code is not Code.NOT_PERMITTED:
                raise
            text = f"{refused.message}; team-console writes with tables of its own beside {MESSAGES}"
            hint = "Let its owner run GRANT CREATE ON SCHEMA ... TO this role, or write once with team-console."
            raise TeamError(Code.NOT_PERMITTED, text, hint) from error
        made = find_shape(connection)
        if made is None or not made.has_ours:
            raise TeamError(Code.STORE_FAILED, f"{self.location}: our tables could not be made", "Check your rights.")
        return made
