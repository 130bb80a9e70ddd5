"""Receipts: what joins made on this machine, so that a leave takes out that and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress

import msgspec
from msgspec import Struct
from team_console.console.clients.session_files import SessionFiles
from team_console.store.model.home import state_folder

Notes = list[list[str]]
"""What a join made that was not there before: the ways to objects, lists and words in them, outer ones first."""


class Receipt(Struct, omit_defaults=True):
    """What a join made in one file, or of one member, kept in `XDG_STATE_HOME/team-console/joined`.

    Lost, it only costs precision.

    Attributes:
        member, team: Who joined which team.
        file: Where; empty for the member itself in the team's settings.
        notes: What was put there that was not there before.
        is_new: Whether there was no such file before.
        blank: The white space that the file was; None where it said something.
        each: Whether `join --all` made it.
        events: Those at which hooks of ours were written there, each as often as there are such hooks.
    """

    member: str
    team: str
    file: str = ""
    notes: Notes = []
    is_new: bool = False
    blank: str | None = None
    each: bool = False
    events: list[str] = []


def _receipts() -> SessionFiles:
    return SessionFiles(str(state_folder() / "joined"))


def receipts() -> Iterator[Receipt]:
    """Yield everything that joins made on this machine, as far as it is known."""
    yield from filter(None, map(_read_receipt, _receipts().names("")))


def receipt_of(key: str) -> Receipt | None:
    """Return the receipt of a file, or of a member; None when nothing is known."""
    return _read_receipt(_file_of(key))


def keep_receipt(receipt: Receipt) -> None:
    """Remember what was made."""
    key = receipt.file or member_key(receipt.team, receipt.member)
    _receipts().write(_file_of(key), msgspec.to_builtins(receipt))


def forget_receipt(key: str) -> None:
    """It was taken out again."""
    _receipts().remove(_file_of(key))


def member_key(team: str, name: str) -> str:
    """Return the key of the receipt for a member that was added to a team's settings."""
    return f"member {team} {name}"


def _file_of(key: str) -> str:
    return f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.json"


def _read_receipt(file: str) -> Receipt | None:
    with suppress(msgspec.ValidationError):
        return msgspec.convert(_receipts().read(file), Receipt)
    return None
