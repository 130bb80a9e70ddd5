"""Turns a location into a SQL team: a file for SQLite, an address for PostgreSQL; makes new ones."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from team_console.store.backends.given_paths import absolute, unseen
from team_console.store.backends.redact import redact
from team_console.store.backends.sql.engines.address import Address, parse_address
from team_console.store.backends.sql.engines.dialect import Dialect, Mode
from team_console.store.backends.sql.settings import stored_settings, write_settings
from team_console.store.backends.sql.shape import find_shape
from team_console.store.backends.sql.tables import CREATE_MESSAGES, create_ours
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
    if isinstance(place, Path) and not os.path.isfile(place):
        why = unseen(place)
        hint = (
            "Check the location and the rights on it."
            if why
            else f"Make it with: team-console init {shlex.quote(str(place))}"
        )
        raise TeamError(Code.TEAM_NOT_FOUND, f"{redact(str(place))}{f': {why}' if why else ' is not a file'}", hint)
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
        _make_file(place)
    dialect = _dialect(place, read_only=False)
    try:
        with dialect.connect() as connection:
            if find_shape(connection) is None:
                dialect.prepare(connection)
                connection.run(CREATE_MESSAGES.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
            dialect.begin(connection, Mode.WRITE, wait=10.0, label="create")
            create_ours(connection)
            is_new = stored_settings(connection) is None
            if is_new:
                write_settings(connection, settings)
            dialect.commit(connection)
            return is_new
    finally:
        dialect.close()


def _dialect(place: Path | Address, *, read_only: bool) -> Dialect:
    """With the driver of this kind of database, and no other.

    Raises:
        TeamError: `TEAM_NOT_FOUND`, with what to install.
    """
    try:
        if isinstance(place, Path):
            from team_console.store.backends.sql.engines.sqlite import Sqlite

            return Sqlite(place, read_only=read_only)
        from team_console.store.backends.sql.engines.postgres import Postgres

        return Postgres(place, read_only=read_only)
    except ImportError as error:
        kind, hint = "PostgreSQL", "Install it with: pip install 'team-console[postgresql]'"
        if isinstance(place, Path):
            kind, hint = "SQLite", "Run team-console with a Python that has it, as nearly all have."
        raise TeamError(Code.TEAM_NOT_FOUND, f"teams in {kind} need {error.name or error}", hint) from error


def _place(location: str) -> Path | Address:
    if "://" not in location:
        return absolute(location)
    try:
        address = parse_address(location)
    except ValueError as error:
        raise TeamError(Code.TEAM_NOT_FOUND, "the location is not an address of a database", _FORMS) from error
    if address.kind == "sqlite" and "dbname" in address.options:
        return absolute(address.options["dbname"])
    if address.kind == "postgresql":
        return address
    raise TeamError(Code.TEAM_NOT_FOUND, f"databases of the kind {address.kind!r} are not teams", _FORMS)


def _make_file(path: Path) -> None:
    """An empty file that only its owner may read.

    Raises:
        TeamError: `STORE_FAILED` when it cannot be made.
    """
    try:
        path.touch(mode=0o600, exist_ok=True)
    except OSError as error:
        raise TeamError(Code.STORE_FAILED, f"{path}: {error}", "Choose another place.") from error
