"""Turns a location into a SQL team: a file for SQLite, an address for PostgreSQL; makes new ones."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError
from team_console.store.backends.redact import redact
from team_console.store.backends.sql.engines.dialect import Dialect, Mode
from team_console.store.backends.sql.engines.postgres import Postgres
from team_console.store.backends.sql.engines.sqlite import Sqlite, create_sqlite
from team_console.store.backends.sql.settings import stored_settings, write_settings
from team_console.store.backends.sql.tables import CREATE_MESSAGES, create_ours, find_shape
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.model.clock import Clock, utc_now
from team_console.store.model.errors import Code, TeamError

_FORMS = "Give PATH.db, sqlite:///PATH or postgresql://USER@HOST/DATABASE."


def open_database(location: str, *, read_only: bool = False, clock: Clock = utc_now) -> SqlTeam:
    """The team at `location`. Nothing is made: a database file must exist, a server may be unreachable at the moment.

    Raises:
        TeamError: `TEAM_NOT_FOUND` for a location of another form, a missing file or a missing driver.
    """
    place = _place(location)
    if isinstance(place, Path) and not place.is_file():
        hint = "Make it with: team-console migrate FROM TO"
        raise TeamError(Code.TEAM_NOT_FOUND, f"{redact(str(place))} is not a file", hint)
    return SqlTeam(_dialect(place, read_only=read_only), read_only=read_only, clock=clock)


def create_database(location: str, settings: str) -> bool:
    """Make what a team needs: the table of messages, our own, the text of its settings. What is there stays as it is.

    Returns:
        Whether the settings were written, so that the team is new.

    Raises:
        TeamError: What the database says.
    """
    place = _place(location)
    if isinstance(place, Path):
        create_sqlite(place)
    dialect = _dialect(place, read_only=False)
    try:
        with dialect.connect() as connection:
            if find_shape(connection) is None:
                connection.exec_driver_sql(CREATE_MESSAGES)
            dialect.begin(connection, Mode.WRITE, wait=10.0, label="create")
            create_ours(connection)
            is_new = stored_settings(connection) is None
            if is_new:
                write_settings(connection, settings)
            dialect.commit(connection)
            return is_new
    finally:
        dialect.close()


def _dialect(place: Path | URL, *, read_only: bool) -> Dialect:
    if isinstance(place, Path):
        return Sqlite(place, read_only=read_only)
    try:
        return Postgres(place, read_only=read_only)
    except ModuleNotFoundError as error:
        raise TeamError(
            Code.TEAM_NOT_FOUND,
            f"teams in PostgreSQL need {error.name}",
            "Install it with: pip install 'team-console[postgresql]'",
        ) from error


def _place(location: str) -> Path | URL:
    if "://" not in location:
        return Path(location).expanduser().absolute()
    try:
        url = make_url(location)
    except (ArgumentError, ValueError) as error:
        raise TeamError(Code.TEAM_NOT_FOUND, "the location is not an address of a database", _FORMS) from error
    backend = url.get_backend_name()
    if backend == "sqlite" and url.database:
        return Path(url.database).expanduser().absolute()
    if backend in ("postgresql", "postgres"):
        return url
    raise TeamError(Code.TEAM_NOT_FOUND, f"databases of the kind {backend!r} are not teams", _FORMS)
