"""Finds teams: from a location the user gave, from the current project, or from a folder to pick in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from team_console.store.backends.redact import redact
from team_console.store.model.clock import Clock, utc_now
from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.team_config import CONFIG_NAME

if TYPE_CHECKING:
    from team_console.store.contract.team import Team

QUEUE_NAME = "message-queue.yaml"
PROJECT_QUEUE = Path("_bmad-output/messenger") / QUEUE_NAME
"""Where a project root keeps its queue (seed 000, requirement 2)."""
PROJECT_CONFIG = Path("_bmad/core/messenger") / CONFIG_NAME
"""Where a project root keeps its settings (seed 000, requirement 1)."""
DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_HINT = "Give a team with -t LOCATION, make one with 'team-console init', or try 'team-console demo'."


def open_team(
    location: str | None = None,
    *,
    read_only: bool = False,
    start: Path | None = None,
    clock: Clock = utc_now,
) -> Team:
    """Open the team at `location`, else of `TEAM_CONSOLE_TEAM`, else of the nearest project root above `start`.

    Raises:
        TeamError: `TEAM_NOT_FOUND` when nothing there is a team.
    """
    given = location or os.environ.get("TEAM_CONSOLE_TEAM") or ""
    if given.startswith("claude:"):
        raise TeamError(
            Code.TEAM_NOT_FOUND, f"{redact(given)}: Claude Code teams cannot be opened by this version", _HINT
        )
    if "://" in given or given.endswith(DATABASE_SUFFIXES):
        from team_console.store.backends.sql.open_database import open_database

        return open_database(given, read_only=read_only, clock=clock)
    if given:
        return _open_folder(Path(given).expanduser(), read_only=read_only, clock=clock)
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if is_team(folder):
            return _open_folder(folder, read_only=read_only, clock=clock)
    raise TeamError(Code.TEAM_NOT_FOUND, f"no team in {here} or above it", _HINT)


def is_team(folder: Path) -> bool:
    """Whether `folder` holds a team itself or is a project root with one."""
    return any((folder / name).is_file() for name in (QUEUE_NAME, CONFIG_NAME, PROJECT_QUEUE, PROJECT_CONFIG))


def find_teams(start: Path, *, depth: int = 3) -> list[str]:
    """Locations of the teams in `start` and up to `depth` levels below it, for a picker."""
    found: list[str] = []
    level = [start]
    for _ in range(depth + 1):
        found += [str(folder) for folder in level if is_team(folder)]
        level = [child for folder in level if not is_team(folder) for child in _folders(folder)]
    return found


def _folders(folder: Path) -> list[Path]:
    try:
        children = [child for child in folder.iterdir() if child.is_dir() and not child.is_symlink()]
    except OSError:
        return []
    return sorted(child for child in children if not child.name.startswith(".") or child.name == ".bmad")


def _open_folder(folder: Path, *, read_only: bool, clock: Clock) -> Team:
    folder = folder.absolute()
    if folder.is_file() and folder.name == QUEUE_NAME:
        folder = folder.parent
    if not folder.is_dir():
        raise TeamError(Code.TEAM_NOT_FOUND, f"{redact(str(folder))} is not a folder", _HINT)
    folder = _project_of(folder) or folder
    if not is_team(folder):
        raise TeamError(Code.TEAM_NOT_FOUND, f"{redact(str(folder))} holds no {QUEUE_NAME} and no {CONFIG_NAME}", _HINT)
    from team_console.store.backends.yaml.team import YamlTeam
    from team_console.store.settings.settings_file import places as configured_places

    flat = any((folder / name).is_file() for name in (QUEUE_NAME, CONFIG_NAME))
    if flat and not (folder / CONFIG_NAME).is_file():  # a project may keep its queue in its root
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


def _project_of(folder: Path) -> Path | None:
    """The project root whose queue lies in `folder`, so that both ways to a team lead to the same settings.

    None when `folder` is not where a project keeps its queue, or is the only one of the two with settings.
    """
    resolved = folder.resolve()
    root = resolved.parents[1] if len(resolved.parents) > 1 else resolved
    if resolved != root / PROJECT_QUEUE.parent:
        return None
    return root if (root / PROJECT_CONFIG).is_file() or not (folder / CONFIG_NAME).is_file() else None
