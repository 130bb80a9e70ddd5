"""The tables: `agent_message` as seed 003 defines it, and our own beside it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.statement import insert
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem

MESSAGES = "agent_message"
CREATE_MESSAGES = """
CREATE TABLE agent_message (
    message_id TEXT PRIMARY KEY,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    message_type TEXT,
    payload JSON,
    status TEXT,
    created_at TIMESTAMP,
    delivered_at TIMESTAMP,
    retry_count INTEGER DEFAULT 0,
    max_retries INTEGER DEFAULT 3,
    error_message TEXT
)
"""
"""Seed 003, "Message Schema", to the letter."""

STATE = "team_console_state"
"""One row: how many rows we added anywhere, the end of the audit chain, the time of the last change."""
NOTES = "team_console_envelope"
"""What we know of rows that other programs made and their columns cannot say."""
ARCHIVE = "team_console_archive"
AUDIT = "team_console_audit"
INBOX = "team_console_inbox"
"""What the router pushed; an agent reads its rows in the order of `n`."""
ATTACHMENTS = "team_console_attachment"
SETTINGS = "team_console_config"
"""`settings` holds the text of a `messenger-config.yaml`, `version` that of our tables (none: 1)."""
VERSION_KEY = "version"
VERSION = 1

OURS = {
    STATE: """
        id INTEGER NOT NULL PRIMARY KEY, arrivals BIGINT NOT NULL, audit_seq BIGINT NOT NULL,
        audit_hash TEXT NOT NULL, changed_at TEXT NOT NULL
    """,
    NOTES: "message_id TEXT NOT NULL PRIMARY KEY, note TEXT NOT NULL",
    ARCHIVE: """
        n BIGINT NOT NULL PRIMARY KEY, agent TEXT NOT NULL, message_id TEXT NOT NULL, request_id TEXT,
        created TEXT NOT NULL, record TEXT NOT NULL,
        CONSTRAINT team_console_archive_once UNIQUE (agent, message_id)
    """,
    AUDIT: """
        seq BIGINT NOT NULL PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
        facts TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL
    """,
    INBOX: """
        n BIGINT NOT NULL PRIMARY KEY, agent TEXT NOT NULL, message_id TEXT NOT NULL, pushed_at TEXT NOT NULL,
        record TEXT NOT NULL,
        CONSTRAINT team_console_inbox_once UNIQUE (agent, message_id)
    """,
    ATTACHMENTS: "reference TEXT NOT NULL PRIMARY KEY, data {blob} NOT NULL",
    SETTINGS: "key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL",
}
"""Name -> the columns and constraints of a table of ours."""
_INDEXES = {
    ARCHIVE: {
        "team_console_archive_message": "message_id",
        "team_console_archive_request": "request_id",
        "team_console_archive_newest": "created, message_id",
        "team_console_archive_agent": "agent, created, message_id",
    },
}
"""Name of a table -> name of an index -> its columns."""
NO_RIGHT = "42501"
"""SQLSTATE of a refusal for want of a right."""
HIDDEN = "this role may not read tables of team-console: settings, archives and the audit trail cannot be seen"
GRANT = f"Let its owner run: GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join(OURS)} TO the role;"
_MAY_NOT = "42"
"""How the SQLSTATE of a refusal begins."""


class Numbers(Struct, frozen=True):
    """The row of `team_console_state`: how far what is numbered has come.

    Attributes:
        arrivals: The highest number of a row we added anywhere.
        seq: The number of the last line on the audit trail.
        prev: The hash of that line.
        changed_at: When it was written.
    """

    arrivals: int
    seq: int
    prev: Any
    changed_at: Any


def numbers(connection: Connection, keeping: str = "") -> Numbers | None:
    """The numbers of the last write; None where somebody took them away or put something else in their place.

    Args:
        keeping: The end of the select that keeps the row for this transaction.
    """
    row = connection.first(f"SELECT arrivals, audit_seq, audit_hash, changed_at FROM {STATE}{keeping}")
    if row is None or not (isinstance(row[0], int) and isinstance(row[1], int)):
        return None
    return Numbers(*row)


def numbers_lost(connection: Connection, found: Numbers | None) -> Problem | None:
    """What is wrong with the numbers: without them, or with lower ones than are in use, nothing can be written."""
    if found is not None and found.seq >= _last_line(connection)[0] and found.arrivals >= _last_arrival(connection):
        return None
    text = "it holds no numbers of the last write: nobody can write"
    if found is not None:
        text = "its numbers are lower than those in use: writes fail, or come out of order"
    hint = "Put them back with: team-console check --heal"
    return Problem("NUMBERS_LOST", "error", STATE, text, hint)


def restore_numbers(connection: Connection, *, arrivals: int) -> Problem | None:
    """Put the numbers back where they are lost: those of the last line there is, and of the newest row.

    Args:
        arrivals: The highest number of a row of `agent_message`.

    Returns:
        What was done.
    """
    if numbers_lost(connection, numbers(connection)) is None:
        return None
    seq, prev = _last_line(connection)
    newest = max(arrivals, _last_arrival(connection))
    connection.run(f"DELETE FROM {STATE}")
    row = {"id": 1, "arrivals": newest, "audit_seq": seq, "audit_hash": prev, "changed_at": ""}
    connection.change(insert(STATE, row), row)
    text = f"the numbers of the last write were lost; they are {seq} and {newest} again"
    hint = f"Find out who writes into {STATE}. Whether lines at the end of the audit trail went with them is not known."
    return Problem("HEALED_NUMBERS", "warning", STATE, text, hint)


def _last_line(connection: Connection) -> tuple[int, str]:
    """The number and the hash of the last line on the audit trail."""
    row = connection.first(f"SELECT seq, hash FROM {AUDIT} ORDER BY seq DESC LIMIT 1")
    return (row[0], str(row[1])) if row is not None and isinstance(row[0], int) else (0, "")


def _last_arrival(connection: Connection) -> int:
    """The highest number of a row beside `agent_message`."""
    highest = (connection.scalar(f"SELECT max(n) FROM {table}") for table in (ARCHIVE, INBOX))
    return max((number for number in highest if isinstance(number, int)), default=0)


def our_tables(connection: Connection) -> set[str]:
    """Which of our tables are there."""
    return connection.tables(OURS)


def create_ours(connection: Connection) -> None:
    """Make our own tables and the index for waiting messages; what is there stays as it is."""
    there = our_tables(connection)
    for table, columns in OURS.items():
        if table not in there:  # IF NOT EXISTS asks for the right to make tables even where there is one
            connection.run(f"CREATE TABLE {table} ({columns.format(blob=connection.blob)})")
            for index, indexed in _INDEXES.get(table, {}).items():
                connection.run(f"CREATE INDEX {index} ON {table} ({indexed})")
    _index_waiting(connection)
    if connection.first(f"SELECT id FROM {STATE}") is None:
        empty = {"id": 1, "arrivals": 0, "audit_seq": 0, "audit_hash": "", "changed_at": ""}
        connection.change(insert(STATE, empty), empty)
    if connection.first(f"SELECT key FROM {SETTINGS} WHERE key = :key", {"key": VERSION_KEY}) is None:
        version = {"key": VERSION_KEY, "value": str(VERSION)}
        connection.change(insert(SETTINGS, version), version)


def check_version(text: str | None) -> None:
    """Refuse tables that a later team-console made: what they mean is not known here.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    if text is None or (text.isdecimal() and int(text) <= VERSION):
        return
    what = f"the team's tables are of version {text}, this team-console knows version {VERSION}"
    raise TeamError(Code.STORE_UNREADABLE, what, "Update team-console on this machine.", newer=True)


def _index_waiting(connection: Connection) -> None:
    """Only its owner may index a table; without the index everything works, if slower."""
    connection.run("SAVEPOINT waiting")
    try:
        connection.run(f"CREATE INDEX IF NOT EXISTS team_console_waiting ON {MESSAGES} (recipient, status)")
    except connection.error as error:
        if not str(getattr(error, "sqlstate", "")).startswith(_MAY_NOT):
            raise
        connection.run("ROLLBACK TO SAVEPOINT waiting")
    connection.run("RELEASE SAVEPOINT waiting")
