"""Open a team in a database, or make one: a file for SQLite, an address for PostgreSQL."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from urllib.parse import unquote

from team_console.store.backends.locations import absolute, redact, unseen
from team_console.store.backends.sql.schema import CREATE_MESSAGES, create_ours, find_shape
from team_console.store.backends.sql.settings import stored_settings, write_settings
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.backends.sql.window import make_indexes
from team_console.store.model.clock import Clock, utc_now
from team_console.store.model.errors import Code, TeamError

_FORMS_HINT = "Give PATH.db, sqlite:///PATH or postgresql://USER@HOST/DATABASE."


def open_database(location: str, *, read_only: bool = False, clock: Clock = utc_now) -> SqlTeam:
    """Return the team at `location`. Nothing is made: a database file must exist, a server may be unreachable at the
    moment.

    Raises:
        TeamError: `TEAM_NOT_FOUND` for a location of another form, a missing file or a missing driver.
    """
    place = _file_or_address(location)
    if isinstance(place, Path) and not os.path.isfile(place):
        why = unseen(place)
        hint = (
            "Check the location and the rights on it."
            if why
            else f"Make it with: team-console init {shlex.quote(str(place))}"
        )
        raise TeamError(Code.TEAM_NOT_FOUND, f"{redact(str(place))}{f': {why}' if why else ' is not a file'}", hint)
    return _open_team(place, read_only=read_only, clock=clock)


def create_database(location: str, settings: str) -> bool:
    """Make what a team needs: the table of messages, our own, the text of its settings. What is there stays as it is.

    Returns:
        Whether the settings were written, so that the team is new.

    Raises:
        TeamError: What the database says.
    """
    place = _file_or_address(location)
    if isinstance(place, Path):
        _make_file(place)
    team = _open_team(place, read_only=False, clock=utc_now)
    try:
        with team.connect() as connection:
            if find_shape(connection) is None:
                team.prepare(connection)
                connection.change(CREATE_MESSAGES.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
            team.begin_writing(connection, wait=10.0, label="create")
            create_ours(connection)
            if (shape := find_shape(connection)) is not None:
                make_indexes(connection, shape)
            is_new = stored_settings(connection) is None
            if is_new:
                write_settings(connection, settings)
            team.commit(connection)
            return is_new
    finally:
        team.close()


def _open_team(place: Path | str, *, read_only: bool, clock: Clock) -> SqlTeam:
    """Return the team in a file or at an address; loads the driver of this kind of database and no other.

    Raises:
        TeamError: `TEAM_NOT_FOUND`, with what to install, or for what is no address.
    """
    try:
        if isinstance(place, Path):
            from team_console.store.backends.sql.sqlite_team import SqliteTeam

            return SqliteTeam(place, read_only=read_only, clock=clock)
        from team_console.store.backends.sql.postgres_team import PostgresTeam

        return PostgresTeam(place, read_only=read_only, clock=clock)
    except ValueError as error:
        raise TeamError(Code.TEAM_NOT_FOUND, "the location is not an address of a database", _FORMS_HINT) from error
    except ImportError as error:
        from team_console.store.model.optional_packages import install_line  # 20 ms

        kind, hint = "PostgreSQL", f"Install it with: {install_line('postgresql')}"
        if isinstance(place, Path):
            kind, hint = "SQLite", "Run team-console with a Python that has it, as nearly all have."
        raise TeamError(Code.TEAM_NOT_FOUND, f"teams in {kind} need {error.name or error}", hint) from error


def _file_or_address(location: str) -> Path | str:
    """Return the file, or the address as libpq knows it. A driver, as in `postgresql+psycopg`, says nothing: we have
    one.
    """
    scheme, found, rest = location.partition("://")
    if not found:
        return absolute(location)
    kind = scheme.partition("+")[0]
    path = unquote(rest.partition("?")[0].partition("/")[2])
    if kind == "sqlite" and path:
        return absolute(path)
    if kind in ("postgresql", "postgres"):
        return f"postgresql://{rest}"
    raise TeamError(Code.TEAM_NOT_FOUND, f"databases of the kind {kind!r} are not teams", _FORMS_HINT)


def _make_file(path: Path) -> None:
    """Make an empty file that only its owner may read; one that is there stays as it is.

    Raises:
        TeamError: `STORE_FAILED` when it cannot be made.
    """
    try:
        path.touch(mode=0o600, exist_ok=True)
    except OSError as error:
        raise TeamError(Code.STORE_FAILED, f"{path}: {error}", "Choose another place.") from error
