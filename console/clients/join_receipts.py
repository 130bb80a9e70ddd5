"""Receipts of joins: what each made in which file of this machine, so that a leave takes out that and nothing else."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import msgspec
from msgspec import Struct
from team_console.console.clients.json_editing import MadePaths
from team_console.console.clients.session_files import SessionFiles
from team_console.store.model.home import state_folder


class JoinReceipt(Struct, omit_defaults=True):
    """What a join made in one file, or of one member, kept in `XDG_STATE_HOME/team-console/joined`.

    Lost, it only costs precision.

    Attributes:
        member, team: Who joined which team.
        file: Where; empty for the member itself in the team's settings.
        made: What was put there that was not there before; in the file under the name `notes`.
        is_new: Whether there was no such file before.
        blank: The white space that the file was; None where it said something, or was not there.
        each: Whether `join --all` made it, by which each session is a member of its own.
        events: Those at which hooks of ours were written there, each as often as there are such hooks.
        folders: Those that were made for the file.
    """

    member: str
    team: str
    file: str = ""
    made: MadePaths = msgspec.field(name="notes", default_factory=list)
    is_new: bool = False
    blank: str | None = None
    each: bool = False
    events: list[str] = []
    folders: list[str] = []


def _receipt_files() -> SessionFiles:
    """Return the folder of the receipts."""
    return SessionFiles(str(state_folder() / "joined"))


def receipts() -> Iterator[JoinReceipt]:
    """Yield everything that joins made on this machine, as far as it is known."""
    yield from filter(None, map(_read_receipt, _receipt_files().names("")))


def receipt_of(key: str) -> JoinReceipt | None:
    """Return the receipt of a file, or of a member; None when nothing is known.

    An earlier version kept it under the link by which somebody came to the project.
    """
    known = _read_receipt(_file_of(key))
    if known is not None:
        return known
    # guard: receipt-behind-a-link-found
    return next((receipt for receipt in receipts() if _real_key(receipt) == key), None)


def keep_receipt(receipt: JoinReceipt) -> None:
    """Remember what was made."""
    _receipt_files().write(_file_of(_key_of(receipt)), msgspec.to_builtins(receipt))


def forget_receipt(key: str) -> None:
    """Remove the receipt of what was taken out again, also one that an earlier version kept under a link."""
    for known in list(receipts()):
        if key in (_key_of(known), _real_key(known)):
            _receipt_files().remove(_file_of(_key_of(known)))


def member_key(team: str, name: str) -> str:
    """Return the key of the receipt for a member that was added to a team's settings."""
    return f"member {team} {name}"


def _key_of(receipt: JoinReceipt) -> str:
    """Return the key under which a receipt is kept: its file, or its member."""
    return receipt.file or member_key(receipt.team, receipt.member)


def _real_key(receipt: JoinReceipt) -> str:
    """Return the key under which a join of now keeps the receipt: no link is part of it."""
    file, team = (os.path.realpath(path) if os.path.isabs(path) else path for path in (receipt.file, receipt.team))
    return file or member_key(team, receipt.member)


def _file_of(key: str) -> str:
    """Return the name of the file that keeps the receipt of a key; a key may be no name of a file."""
    return f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.json"


def _read_receipt(file: str) -> JoinReceipt | None:
    """Return the receipt in a file; None where there is none that can be read."""
    with suppress(msgspec.ValidationError):
        return msgspec.convert(_receipt_files().read(file), JoinReceipt)
    return None


@contextmanager
def one_join_at_a_time(*, write: bool) -> Iterator[None]:
    """Let no other join or leave of this user change files in the block; a block that writes nothing waits for none.

    Where no lock can be kept, the block runs without.

    Two that begin at once would each not see what the other makes: one that fails then would take its team away.
    """
    with ExitStack() as held:
        if write:
            with suppress(OSError):
                state_folder().mkdir(parents=True, exist_ok=True)
                lock = held.enter_context(open(state_folder() / "join.lock", "a", encoding="utf-8"))
                # guard: one-join-at-a-time
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
