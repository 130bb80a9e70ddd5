"""The settings of a SQL team: in its own table, or in a `messenger-config.yaml` beside a database file."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, delete, insert, select

from store.backends.sql.tables import SETTINGS, VERSION_KEY, Shape, check_version
from store.config import TeamConfig
from store.config_file import load, parse, read_settings, stamp, with_last_good, with_trust
from store.config_trust import whose
from store.locations import CONFIG_NAME

KEY = "settings"
Stamp = tuple[int, ...]


class Settings:
    """Reads the settings; they are understood again only when they changed.

    Attributes:
        number: Grows with every change seen.
    """

    def __init__(self, root: Path | None) -> None:
        self._root = root
        self._file = None if root is None else root.with_name(CONFIG_NAME)
        self._place = (Path() if root is None else root.parent) / str(SETTINGS.name)
        self._source: object = None
        self._config = TeamConfig()
        self.number = 0

    def stamp(self) -> Stamp | None:
        """Which version of the file beside the database is there, and whose the database is; None for neither."""
        if self._file is None or self._root is None:
            return None
        return (*(stamp(self._file) or ()), *whose(self._root))

    def text(self, connection: Connection, shape: Shape) -> str:
        """The text of the settings now: of the table, else of the file, else empty."""
        text = stored_settings(connection) if shape.has_ours else None
        if text is None and self._file is not None:
            return read_settings(self._file)
        return text or ""

    def read(self, connection: Connection, shape: Shape) -> TeamConfig:
        """The settings now: of the table, else of the file, else defaults.

        Raises:
            TeamError: `STORE_UNREADABLE` naming table or file, line and key, or as for `stored_settings`.
        """
        text = stored_settings(connection) if shape.has_ours else None
        source = self.stamp(), text
        if source != self._source:
            self._source = None
            self._config = with_last_good(self._understand(text), self._config if self.number else None)
            self._source = source
            self.number += 1
        return self._config

    def _understand(self, text: str | None) -> TeamConfig:
        if text is not None:
            config = parse(text.encode(), self._place)
            return config if self._root is None else with_trust(config, self._root)
        return TeamConfig() if self._file is None else load(self._file)


def stored_settings(connection: Connection) -> str | None:
    """The text in the table, None when there is none.

    Raises:
        TeamError: `STORE_UNREADABLE` when a later team-console made our tables.
    """
    wanted = select(SETTINGS.c.key, SETTINGS.c.value).where(SETTINGS.c.key.in_((KEY, VERSION_KEY)))
    found = {one.key: str(one.value) for one in connection.execute(wanted)}
    check_version(found.get(VERSION_KEY))
    return found.get(KEY)


def write_settings(connection: Connection, text: str) -> None:
    """Put the text of a `messenger-config.yaml` into the table."""
    connection.execute(delete(SETTINGS).where(SETTINGS.c.key == KEY))
    connection.execute(insert(SETTINGS), {"key": KEY, "value": text})
