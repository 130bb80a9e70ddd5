"""Shortens archives by what is too old (decision D18); each file is replaced whole, the rest byte for byte."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from team_console.store.backends.yaml.archives import HEADER
from team_console.store.backends.yaml.disk import rename_durably, write_new
from team_console.store.backends.yaml.layout import archive_part
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue_state import LockedTeam
from team_console.store.backends.yaml.queue_text import QueueText
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message


class Shortening(Struct, frozen=True):
    """What an archive is to become.

    Attributes:
        data: Its new bytes; None when nothing stays and the file may go.
        ids: Of the messages that go.
    """

    path: Path
    data: bytes | None
    ids: frozenset[str]


def plan(team: LockedTeam, *, before: datetime, keep: Collection[str]) -> list[Shortening]:
    """Archives that hold messages created before `before`, those in `keep` left out of account.

    Damaged entries, and files that cannot be read or are not a plain list of entries, stay as they are; the history
    tells of them.
    """
    found = (_shortening(team, path, before, frozenset(keep)) for path in team.archives.files())
    return [shortening for shortening in found if shortening is not None]


def carry_out(team: LockedTeam, shortenings: Collection[Shortening], *, mode: int) -> None:
    """Replace the files. A crash in between leaves some of them long; doing it again finishes it.

    Args:
        mode: Permission bits of a file that is gone by now.

    Raises:
        TeamError: `STORE_FAILED` when one could not be replaced; each is whole, long or short.
    """
    try:
        for shortening in shortenings:
            _replace(team, shortening, mode)
        team.archives.forget()
        team.disk.sync_folder(team.layout.archives)
    except OSError as error:
        text = f"{error.filename or team.layout.archives}: {error.strerror or error}; some archives were not shortened"
        raise TeamError(Code.STORE_FAILED, text, "Look into the cause and repeat it.") from error


def _replace(team: LockedTeam, shortening: Shortening, mode: int) -> None:
    if shortening.data is None:
        team.disk.unlink(shortening.path)
        return
    stat = team.disk.stat(shortening.path)
    staged = team.layout.stage()
    write_new(team.disk, staged, shortening.data, mode=stat.mode if stat else mode)
    rename_durably(team.disk, staged, shortening.path)


def _shortening(team: LockedTeam, path: Path, before: datetime, keep: frozenset[str]) -> Shortening | None:
    try:
        text = QueueText.parse(team.disk.read(path)[0])
    except (TextError, OSError):
        return None
    old: dict[int, str] = {}
    for place, entry in enumerate(text.entries):  # one by one: a newer message may have the id of an old one
        message = entry.message
        if message is not None and message.message_id not in keep and _is_older(message, before):
            old[place] = message.message_id
    if text.odd or not old:
        return None
    part, ids = archive_part(path.name), frozenset(old.values())
    if len(old) < len(text.entries):
        try:  # not by joining what stays: a program that shares values among entries may have them in one that goes
            return Shortening(path, text.edit(remove=old.keys()).data(), ids)
        except TextError:
            return None
    is_closed_part = part is not None and part[1] is not None
    return Shortening(path, None if is_closed_part else (text.head or HEADER) + text.tail, ids)


def _is_older(message: Message, moment: datetime) -> bool:
    created = message.created_at
    return created is not None and created < moment
