"""Find, open and make teams: at a location the user gave, in the current project, or in a folder to pick in.

Where a location is that of a database, a file is SQLite and an address is PostgreSQL.
"""

from __future__ import annotations

import os
import shlex
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from team_console.store.backends.locations import absolute, redact, unseen
from team_console.store.model.clock import Clock, utc_now
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import first_of, safe_line
from team_console.store.settings.settings_file import configured_places
from team_console.store.settings.team_config import CONFIG_NAME, PROJECT_FOLDER, PROJECT_QUEUES, QUEUE_NAME

# A kind of team is imported where one is opened: no verb needs what reads the other kinds.
if TYPE_CHECKING:
    from team_console.store.backends.claude_team import ClaudeTeam
    from team_console.store.backends.sql.team import SqlTeam
    from team_console.store.contract.team import Team

PROJECT_QUEUE = PROJECT_QUEUES / QUEUE_NAME
"""Where a project root keeps its queue (seed 000, requirement 2)."""
PROJECT_CONFIG = PROJECT_FOLDER / CONFIG_NAME
"""Where a project root keeps its settings (seed 000, requirement 1)."""
OWN_FOLDER = ".team-console"
"""Where a project without a messenger of its own keeps its team, out of the way of its files."""
_DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_FORMS_HINT = "Give PATH.db, sqlite:///PATH or postgresql://USER@HOST/DATABASE."
_HINT = "Give a team with -t LOCATION, make one with 'team-console init', or try 'team-console demo'."


def open_team(
    location: str | None = None,
    *,
    read_only: bool = False,
    start: Path | None = None,
    clock: Clock = utc_now,
) -> Team:
    """Open the team at `location`, else of `TEAM_CONSOLE_TEAM`, else the nearest one upwards from `start`.

    Raises:
        TeamError: `TEAM_NOT_FOUND` when nothing there is a team.
    """
    if location == "":  # of a script whose variable is not set: the nearest team may be another one
        raise TeamError(Code.TEAM_NOT_FOUND, "the location of the team is empty", _HINT)
    given = location or os.environ.get("TEAM_CONSOLE_TEAM") or ""
    if given.startswith("claude:"):
        from team_console.store.backends.claude_team import open_claude

        return open_claude(given.removeprefix("claude:"), clock)
    if names_database(given):
        return open_database(given, read_only=read_only, clock=clock)
    if given:
        return _open_folder(absolute(given), read_only=read_only, clock=clock)
    here = (start or absolute(".")).resolve()
    found = nearest_team(here)
    if found is None:
        raise _not_found(here, None)
    return _open_folder(found, read_only=read_only, clock=clock)


def names_database(location: str) -> bool:
    """Return whether a location is that of a database, be it a file or a server."""
    return "://" in location or location.endswith(_DATABASE_SUFFIXES)


def open_database(location: str, *, read_only: bool = False, clock: Clock = utc_now) -> SqlTeam:
    """Return the team at `location`. Nothing is made: a database file must exist, a server may be unreachable at the
    moment.

    Raises:
        TeamError: `TEAM_NOT_FOUND` for a location of another form, a missing file or a missing driver.
    """
    place = _file_or_address(location)
    if isinstance(place, Path) and not os.path.isfile(place):
        why = unseen(place)
        hint = "Check the location and the rights on it."
        if not why:
            hint = f"Make it with: team-console init {shlex.quote(str(place))}"
        raise TeamError(Code.TEAM_NOT_FOUND, f"{redact(str(place))}{f': {why}' if why else ' is not a file'}", hint)
    return _database_at(place, read_only=read_only, clock=clock)


def create_database(location: str, settings: str) -> bool:
    """Make what a team in a database needs, its settings with this text; see `SqlTeam.create`. Where that is refused,
    no new file is left.

    Returns:
        Whether the team is new.

    Raises:
        TeamError: What the database says.
    """
    place = _file_or_address(location)
    is_new_file = isinstance(place, Path) and _make_file(place)
    try:
        with closing(_database_at(place, read_only=False, clock=utc_now)) as team:
            return team.create(settings)
    except BaseException:
        # Only what is still empty: whoever came at the same moment may have made the team in it.
        # guard: refused-team-leaves-no-file
        if is_new_file and not os.path.getsize(place):
            os.unlink(place)
        raise


def _make_file(path: Path) -> bool:
    """Make an empty file that only its owner may read; returns False, and leaves it as it is, where there is one.

    Raises:
        TeamError: `STORE_FAILED` when it cannot be made.
    """
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        # guard: no-database-in-a-pipe
        if path.exists() and not path.is_file():
            raise TeamError(Code.STORE_FAILED, f"{path} is not a file", "Choose another place.") from None
        return False
    except OSError as error:
        raise TeamError(Code.STORE_FAILED, f"{path}: {error}", "Choose another place.") from error
    return True


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


def _database_at(place: Path | str, *, read_only: bool, clock: Clock) -> SqlTeam:
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


def nearest_team(start: Path) -> Path | None:
    """Return the folder of the team in `start` or the nearest above it; None when there is none.

    Raises:
        TeamError: `TEAM_NOT_FOUND` for a folder into which we may not look: the team further up may be another one.
    """
    for folder in (start, *start.parents):
        found = _team_of(folder)
        if found is not None:
            return found
        why = unseen(*_telling_files(folder), *_telling_files(folder / OWN_FOLDER))
        if why is not None:
            raise _not_found(folder, why)
    return None


def _team_of(folder: Path) -> Path | None:
    """Return the folder that holds the team of `folder`: itself, or the one of ours in it."""
    return next((place for place in (folder, folder / OWN_FOLDER) if is_team(place)), None)


def is_team(folder: Path) -> bool:
    """Return whether `folder` holds a team itself or is a project root with one, as far as we may look."""
    return any(map(os.path.isfile, _telling_files(folder)))


def _telling_files(folder: Path) -> list[Path]:
    """Return the files that tell of a team in a folder: it has one of them at least."""
    return [folder / name for name in (QUEUE_NAME, CONFIG_NAME, PROJECT_QUEUE, PROJECT_CONFIG)]


def find_teams(start: Path, *, depth: int = 3) -> list[str]:
    """Return the locations of the teams in `start` and up to `depth` levels below it, for a picker."""
    found: list[str] = []
    level = [start]
    for _ in range(depth + 1):
        teams = {folder: _team_of(folder) for folder in level}
        found += [str(team) for team in teams.values() if team is not None]
        level = [child for folder, team in teams.items() if team is None for child in _folders(folder)]
    return found


def _folders(folder: Path) -> list[Path]:
    """Return the folders in a folder in which a team may be, sorted."""
    try:
        children = [child for child in folder.iterdir() if child.is_dir() and not child.is_symlink()]
    except OSError:
        return []
    # `.bmad` is where older releases of BMAD, from which the places of a project come, keep its folders.
    return sorted(child for child in children if not child.name.startswith(".") or child.name == ".bmad")


def _open_folder(folder: Path, *, read_only: bool, clock: Clock) -> Team:
    """Open the team in a folder, of ours or of another program, flat or of a project."""
    if folder.name in (QUEUE_NAME, CONFIG_NAME) and os.path.isfile(folder):
        folder = folder.parent
    if not os.path.isdir(folder):
        raise _not_found(folder, unseen(folder), "is not a folder")
    folder = _project_of(folder) or _team_of(folder) or folder
    if not is_team(folder):
        from team_console.store.backends.claude_team import team_in

        other = team_in(folder, clock)
        if other is not None:
            return other
        raise _not_found(folder, unseen(*_telling_files(folder)), f"holds no {QUEUE_NAME} and no {CONFIG_NAME}")
    from team_console.store.backends.yaml.team import YamlTeam

    flat = any(os.path.isfile(folder / name) for name in (QUEUE_NAME, CONFIG_NAME))
    if flat and not os.path.isfile(folder / CONFIG_NAME):  # a project may keep its queue in its root
        flat = configured_places(folder / PROJECT_CONFIG)[0] != folder / QUEUE_NAME
    config_path = folder / (CONFIG_NAME if flat else PROJECT_CONFIG)
    configured, archives = configured_places(config_path)
    queue = configured or folder / (QUEUE_NAME if flat else PROJECT_QUEUE)
    return YamlTeam(
        folder,
        queue=queue,
        archive_dir=archives or queue.parent / "archive",
        config_path=config_path,
        read_only=read_only,
        clock=clock,
    )


def _not_found(folder: Path, why: str | None, seen: str = "") -> TeamError:
    """Make the error for a folder: `why` the system does not show it, the team of another program, what was `seen`."""
    place = redact(str(folder))
    if why is not None:
        return TeamError(Code.TEAM_NOT_FOUND, f"{place}: {why}", f"Check the location and the rights on it. {_HINT}")
    others = other_teams(folder)
    if not others:
        text = f"{place} {seen}" if seen else f"no team in {place} or above it"
        return TeamError(Code.TEAM_NOT_FOUND, text, _HINT)
    found = first_of([f"{other.form.words}: -t {shlex.quote(other.location)}" for other in others], 5)
    hint = f"Look at it read-only: team-console -t {shlex.quote(others[0].location)}. {_HINT}"
    return TeamError(Code.TEAM_NOT_FOUND, f"no team of ours in {place} or above it; seen: {safe_line(found)}", hint)


def other_teams(start: Path) -> list[ClaudeTeam]:
    """Find teams of other programs: in `start` or above it, side by side in it, and the running ones of Claude Code."""
    from team_console.store.backends.claude_team import claude_teams, team_in, teams_under

    here = next((seen for folder in (start, *start.parents) if (seen := team_in(folder)) is not None), None)
    found = [*([here] if here else []), *teams_under(start), *teams_under(claude_teams())]
    return list({seen.location: seen for seen in found}.values())


def _project_of(folder: Path) -> Path | None:
    """Return the project root whose queue or settings lie in `folder`, so that all ways to a team lead to the same
    settings.

        ROOT/_bmad/core/messenger/messenger-config.yaml
        ROOT/_bmad-output/messenger/message-queue.yaml

    None when `folder` is not where a project keeps them, has a queue beside the settings of the project, or is the
    only one of the two with settings.
    """
    root = _above(folder, PROJECT_FOLDER)
    if root is not None and not os.path.isfile(folder / QUEUE_NAME):
        return root
    root = _above(folder, PROJECT_QUEUES)
    if root is None or os.path.isfile(root / PROJECT_CONFIG) or not os.path.isfile(folder / CONFIG_NAME):
        return root
    return None


def _above(folder: Path, places: Path) -> Path | None:
    """Return the folder in which `folder` is found as `places`, whatever links lead to it; None where it is not."""
    resolved = folder.resolve()
    return next((root for root in resolved.parents if root / places == resolved), None)
