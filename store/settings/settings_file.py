"""Read the text of `messenger-config.yaml`, its version, and whether its commands may be run."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.checking import MAX_BYTES
from team_console.store.settings.file_trust import find_distrust, owners_of, read_plain
from team_console.store.settings.team_config import (
    ConfigProblem,
    TeamConfig,
)


def settings_bytes(path: Path) -> bytes | None:
    """Return the text of the settings in `path`, None when there is no such file.

    Raises:
        TeamError: `STORE_UNREADABLE` naming the file, when it is there and cannot be read at all.
    """
    try:
        return read_plain(path, MAX_BYTES)[0]
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = "Check its permissions." if isinstance(error, PermissionError) else "Look into the cause and repeat it."
        raise TeamError(Code.STORE_UNREADABLE, f"{path}: {error.strerror}", hint) from error


def with_command_trust(config: TeamConfig, path: Path) -> TeamConfig:
    """Return settings out of the file or database `path` that run commands only when nobody else can write it."""
    try:
        trouble = find_distrust(path)
    except OSError as error:
        text = f"{path} cannot be looked at ({error.strerror}), so no command in the settings is run"
        trouble = ConfigProblem("CONFIG_UNTRUSTED", "warning", 0, text, "Put it back.")
    runs = bool(config.spawn) or any(agent.deliver for agent in config.agents.values())
    if trouble is None or not (runs or trouble.severity == "error"):
        return config
    return replace(config, distrust=trouble.message, problems=(*config.problems, trouble))


def settings_version(path: Path) -> tuple[int, ...] | None:
    """Return the version of the file and who may write it; None without a file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, *owners_of(path)


def read_settings(path: Path) -> str:
    """Return the text of the settings, empty when there are none.

    Raises:
        TeamError: `STORE_UNREADABLE` when they cannot be read or are no text.
    """
    try:
        return (settings_bytes(path) or b"").decode()
    except UnicodeDecodeError as error:
        raise TeamError(Code.STORE_UNREADABLE, f"{path}: not UTF-8", "Correct the file first.") from error
