"""The settings of a SQL team: in its own table, or in a `messenger-config.yaml` beside a database file.

What was in force is on the audit trail, with the line it was first recorded in; the table says which line that is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace
from team_console.store.backends.locked_files import sync_folder
from team_console.store.backends.sql.connection import Connection, containing, insert
from team_console.store.backends.sql.rows import object_of
from team_console.store.backends.sql.schema import AUDIT, SETTINGS, VERSION_KEY, Shape, check_version
from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.in_force import InForce, Names, digest, from_record, judge
from team_console.store.settings.settings_file import parse, read_text, stamp, whose, with_trust
from team_console.store.settings.team_config import CONFIG_NAME, TeamConfig

KEY = "settings"
IN_FORCE = "settings_in_force"
"""Key of the words `LINE SHA256 PLACE`: the audit line with the text, its digest, and where the text was."""
TABLE, FILE = "table", "file"


class Settings:
    """Reads the settings; they are understood again only when they changed.

    Attributes:
        known: What was last seen.
        number: Grows with every change seen.
    """

    def __init__(self, root: Path | None, location: str) -> None:
        self._root = root
        self.file = None if root is None else root.with_name(CONFIG_NAME)
        self._location = location
        self._place = (Path() if root is None else root.parent) / SETTINGS
        self._source: object = None
        self.known = InForce(TeamConfig())
        self._seen: bytes | None = None
        self.number = 0

    def stamp(self) -> tuple[object, ...]:
        """Return the version of the settings file, the key's version and the database's owner."""
        files = (self.file, self.known.config.key_path)
        return *(path and stamp(path) for path in files), self._root and whose(self._root)

    def look(self, connection: Connection, shape: Shape) -> InForce:
        """Return the settings now, with what is wrong with them; while they cannot be understood, the last good
        ones.

        Raises:
            TeamError: As for `stored_settings`.
        """
        stored = _stored(connection) if shape.has_ours else {}
        source = (self.stamp(), stored.get(KEY), stored.get(IN_FORCE))
        if source != self._source or self.known.config.lost or self.known.error is not None:
            known = self._understand(connection, shape, stored)
            self.number += known != self.known
            self.known, self._source = known, source
        return self.known

    def _understand(self, connection: Connection, shape: Shape, stored: Mapping[str, str]) -> InForce:
        line, recorded, was_in = _pointer(stored.get(IN_FORCE, ""))
        file = None if KEY in stored else self.file
        place = TABLE if KEY in stored else FILE if file is not None and file.exists() else was_in or TABLE
        path = file if file is not None and place == FILE else self._place
        text: bytes | None = None
        try:
            text = stored[KEY].encode() if KEY in stored else None if file is None else read_text(file)
            said: TeamConfig | TeamError = TeamConfig() if text is None else self._trusted(parse(text, path), place)
        except TeamError as error:
            said = error
        before = self._seen
        if shape.has_ours and recorded == digest(text or b""):
            before = text or b""
        elif shape.has_ours and before is None:
            before = _text_on_record(connection, line, recorded) if recorded or not text else None
        names = Names("settings", f"{self._location}: the settings", self._location)
        found = judge(
            text,
            said,
            before=before,
            last=self.known.config,
            understand=lambda known: self._trusted(parse(known, self._place), TABLE),
            names=Names(str(path), str(path), self._location) if path is file else names,
        )
        self._seen = found.seen(self._seen)
        return replace(found, place=(was_in or place) if found.config.lost else place, recorded=recorded)

    def _trusted(self, config: TeamConfig, place: str) -> TeamConfig:
        """With whether its commands may be run: not when others can write the file, or the database it stands in."""
        path = self._root if place == TABLE else self.file
        return config if path is None else with_trust(config, path)


def stored_settings(connection: Connection) -> str | None:
    """Return the text in the table, None when there is none.

    Raises:
        TeamError: `STORE_UNREADABLE` when a later team-console made our tables.
    """
    return _stored(connection).get(KEY)


def write_settings(connection: Connection, text: str) -> None:
    """Put the text of a `messenger-config.yaml` into the table."""
    _write(connection, KEY, text)


def write_pointer(connection: Connection, line: int, text: bytes, place: str) -> None:
    """Remember which audit line holds the text of the settings in force."""
    _write(connection, IN_FORCE, f"{line} {digest(text)} {place}")


def put_back(path: Path, text: bytes, stamp: str) -> str:
    """Write `text` as the file beside the database; returns the name under which the old one is kept, "" for none.

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


def _stored(connection: Connection) -> dict[str, str]:
    rows = connection.rows_among(f"SELECT key, value FROM {SETTINGS} WHERE key IN", (KEY, VERSION_KEY, IN_FORCE))
    stored = {key: str(value) for key, value in rows}
    check_version(stored.get(VERSION_KEY))
    return stored


def _write(connection: Connection, key: str, value: str) -> None:
    row = {"key": key, "value": value}
    connection.change(f"DELETE FROM {SETTINGS} WHERE key = :key", row)
    connection.change(insert(SETTINGS, row), row)


def _pointer(words: str) -> tuple[int, str, str]:
    """Audit line, digest and place; 0 and empty words when the pointer is none of ours."""
    match words.split():
        case [line, recorded, (("table" | "file") as place)] if line.isascii() and line.isdigit():
            return int(line[:18]), recorded, place
    return 0, "", ""


def _text_on_record(connection: Connection, line: int, recorded: str) -> bytes | None:
    """Return the text on the audit trail: in the line that is pointed to, else in the newest that has one."""
    values = {"line": line, "pattern": containing('"settings":{"sha256"')}
    for condition in ("seq = :line", "facts LIKE :pattern ESCAPE '/'"):
        wanted = f"SELECT facts FROM {AUDIT} WHERE {condition} ORDER BY seq DESC LIMIT 1"
        kept = object_of(connection.scalar(wanted, values)).get("settings")
        if isinstance(kept, dict) and kept and recorded in ("", kept.get("sha256")):
            return from_record(kept)
    return None
