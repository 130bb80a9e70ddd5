"""The settings of a SQL team: in its own table, or in a `messenger-config.yaml` beside a database file.

What was in force is on the audit trail, with the line it was first recorded in; the table says which line that is.
"""

from __future__ import annotations

import os
from pathlib import Path

from team_console.store.backends.locked_files import sync_folder
from team_console.store.backends.sql.audit_trail import telling_lines
from team_console.store.backends.sql.connection import Connection, insert, like_pattern
from team_console.store.backends.sql.rows import json_object_in
from team_console.store.backends.sql.schema import AUDIT, SETTINGS, VERSION_KEY, Shape, check_version
from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.file_trust import owners_of
from team_console.store.settings.in_force import SettingsNames, recorded_text, text_digest
from team_console.store.settings.settings_file import (
    parse_settings,
    settings_bytes,
    settings_version,
    with_command_trust,
)
from team_console.store.settings.team_config import CONFIG_NAME, TeamConfig

SETTINGS_KEY = "settings"
"""Key of the text of the settings in the table of settings."""
IN_FORCE_KEY = "settings_in_force"
"""Key of the words `LINE SHA256 PLACE`: the audit line with the text, its digest, and where the text was."""
TABLE, FILE = "table", "file"
"""The two places of the settings: our table, or a file beside the database."""


def file_beside(root: Path | None) -> Path | None:
    """Return where the settings are that are not in the table; None for a server."""
    return None if root is None else root.with_name(CONFIG_NAME)


def mark_beside(root: Path | None, key: Path | None) -> tuple[object, ...]:
    """Return the version of the settings file, of the `key` and the owners of the database, each None where there is
    none: another value whenever one of them may be another.
    """
    file = file_beside(root)
    return file and settings_version(file), key and settings_version(key), root and owners_of(root)


class SettingsRows:
    """See `StoredSettings`: those that one look at a database finds, in its table or in a file beside it.

    Attributes:
        file: Where they are, or would be, beside the database; None for a server.
        place: Where they are, `TABLE` or `FILE`.
        was_in: The place when they were last put on record; empty when that is not known.

    Raises:
        TeamError: `STORE_UNREADABLE` when a later team-console made our tables.
    """

    def __init__(self, connection: Connection, shape: Shape, root: Path | None, location: str) -> None:
        self._connection, self._has_ours, self._root, self._location = connection, shape.has_ours, root, location
        self._rows = _read_stored_rows(connection) if shape.has_ours else {}
        self._line, self._digest, self.was_in = _parse_pointer(self._rows.get(IN_FORCE_KEY, ""))
        self.file = file_beside(root)
        if SETTINGS_KEY in self._rows or self.file is None:
            self.place = TABLE
        else:
            self.place = FILE if self.file.exists() else self.was_in or TABLE

    @property
    def names(self) -> SettingsNames:
        """See `StoredSettings.names`."""
        if self.place == FILE:
            return SettingsNames(str(self.file), str(self.file), self._location)
        return SettingsNames("settings", f"{self._location}: the settings", self._location)

    def mark(self, key: Path | None) -> object:
        """See `StoredSettings.mark`."""
        return mark_beside(self._root, key), self._rows.get(SETTINGS_KEY), self._rows.get(IN_FORCE_KEY)

    def text(self) -> bytes | None:
        """See `StoredSettings.text`."""
        if SETTINGS_KEY in self._rows:
            return self._rows[SETTINGS_KEY].encode()
        return None if self.file is None else settings_bytes(self.file)

    def understand(self, text: bytes, *, on_record: bool = False) -> TeamConfig:
        """See `StoredSettings.understand`. Commands are not run when others can write the file, or the database."""
        config = parse_settings(text, self.file or Path(CONFIG_NAME))
        trusted = self._root if on_record or self.place == TABLE else self.file
        return config if trusted is None else with_command_trust(config, trusted)

    def digest_on_record(self) -> str:
        """See `StoredSettings.digest_on_record`."""
        return self._digest

    def text_on_record(self) -> bytes | None:
        """See `StoredSettings.text_on_record`: in the line that is pointed to, else in the newest that has one."""
        # Without a digest nobody knows what was in force: then a text counts only in place of one that is gone.
        if not self._has_ours or not (self._digest or self.text() is None):
            return None
        values = {"line": self._line, "pattern": like_pattern('"settings":{"sha256"')}
        pointed_to = "seq = :line"
        newest = f"{telling_lines(self._connection)} AND facts LIKE :pattern ESCAPE '/'"
        for condition in (pointed_to, newest):
            wanted = f"SELECT facts FROM {AUDIT} WHERE {condition} ORDER BY seq DESC LIMIT 1"
            kept = json_object_in(self._connection.scalar(wanted, values)).get("settings")
            if isinstance(kept, dict) and kept and self._digest in ("", kept.get("sha256")):
                return recorded_text(kept)
        return None


def stored_settings(connection: Connection) -> str | None:
    """Return the text of the settings in the table, None when there is none.

    Raises:
        TeamError: `STORE_UNREADABLE` when a later team-console made our tables.
    """
    return _read_stored_rows(connection).get(SETTINGS_KEY)


def write_settings(connection: Connection, text: str) -> None:
    """Put the text of a `messenger-config.yaml` into the table."""
    _write_row(connection, SETTINGS_KEY, text)


def write_pointer(connection: Connection, line: int, text: bytes, place: str) -> None:
    """Remember which audit line holds the text of the settings in force, and in which place that text was."""
    _write_row(connection, IN_FORCE_KEY, f"{line} {text_digest(text)} {place}")


def restore_file(path: Path, text: bytes, stamp: str) -> str:
    """Write `text` as the settings file at `path`; returns the name under which the old one is kept, "" for none.

    Args:
        stamp: The time, as part of that name.

    Raises:
        TeamError: `STORE_FAILED`.
    """
    staged, aside = path.with_name(f"{path.name}.new-{stamp}"), path.with_name(f"{path.name}.lost-{stamp}")
    try:
        with staged.open("xb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        kept = path.exists()
        if kept:
            staged.chmod(path.stat().st_mode & 0o777)
            path.rename(aside)
        staged.rename(path)
        sync_folder(path.parent)  # a commit follows that says that they are there
    except OSError as error:
        why = f"{error.filename or path}: {error.strerror or error}; the settings were not put back"
        raise TeamError(Code.STORE_FAILED, why, "Look into the cause and repeat it.") from error
    return aside.name if kept else ""


def _read_stored_rows(connection: Connection) -> dict[str, str]:
    """Return key -> value of the table of settings. Raises `STORE_UNREADABLE` for tables of a later version."""
    rows = connection.rows_among(
        f"SELECT key, value FROM {SETTINGS} WHERE key IN", (SETTINGS_KEY, VERSION_KEY, IN_FORCE_KEY)
    )
    stored = {key: str(value) for key, value in rows}
    check_version(stored.get(VERSION_KEY))
    return stored


def _write_row(connection: Connection, key: str, value: str) -> None:
    """Put a row in place of the one with this key."""
    row = {"key": key, "value": value}
    connection.change(f"DELETE FROM {SETTINGS} WHERE key = :key", row)
    connection.change(insert(SETTINGS, row), row)


def _parse_pointer(words: str) -> tuple[int, str, str]:
    """Return audit line, digest and place of a pointer (`write_pointer`); 0 and empty words when it is none of ours."""
    match words.split():
        case [line, digest, place] if place in (TABLE, FILE) and line.isascii() and line.isdigit():
            return int(line[:18]), digest, place  # a column of numbers takes no more digits
    return 0, "", ""
