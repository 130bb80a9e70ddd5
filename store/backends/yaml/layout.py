"""Layout of a YAML team: where its files are, and the rule that keeps names inside their folder."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from team_console.store.backends.yaml.disk import Disk
from team_console.store.contract.snapshot import KEPT_PRIVATE
from team_console.store.model.errors import Problem
from team_console.store.model.names import decode_name, file_word

EFFECTIVE = os.access in os.supports_effective_ids
"""Whether the system can be asked what the effective user may do."""
_INBOX = ".jsonl"
_DROPPED = (".yaml", ".yml", ".json")
_PART = re.compile(r"(?P<word>.+)-archive(?:-(?P<number>\d{4,}))?\.yaml")
"""The name of an archive: `dev-archive.yaml`, or of a part of one, `dev-archive-0003.yaml`."""


def is_drop_file(name: str) -> bool:
    """Return whether a file of this name in `drop/` is meant to be taken in; others are still being written."""
    return name.lower().endswith(_DROPPED) and not name.startswith(".")


class Layout(Struct, frozen=True):
    """Every path of one team; all but the archives and the settings lie beside the queue itself.

    Attributes:
        queue: The queue file, links to a plain file resolved, so that two ways to the same queue share one lock.
        folder: The folder of the queue.
        lock: The lock file, never deleted.
        link_locks: Where the queue is reached by a link, the lock files beside each link on the way: other programs
            lock there. They are taken first.
        prev: The generation before the present one.
        staging: How the names of staging files begin.
        audit: The audit trail, which recovery reads.
        drop: Where scripts that cannot lock put messages.
        rejected: Where drop files go that are not messages.
        inboxes: Files the router pushes to.
        attachments: Large contents.
        presence: Who is there now, a locked file each.
    """

    queue: Path
    archives: Path
    config: Path
    folder: Path
    lock: Path
    prev: Path
    staging: str
    audit: Path
    drop: Path
    rejected: Path
    inboxes: Path
    attachments: Path
    presence: Path
    link_locks: tuple[Path, ...] = ()

    @classmethod
    def of(cls, queue: Path, archives: Path, config: Path) -> Layout:
        """Return the layout of the team whose queue is reached as `queue`."""
        real = Path(os.path.realpath(queue))
        links = _links(queue)
        if queue.is_symlink() and not real.is_file():  # a link to a device, or to where nothing is yet
            real, links = _in_real_folder(queue), ()
        folder, name = real.parent, real.name
        return cls(
            *(real, archives, config, folder),
            lock=folder / f"{name}.lock",
            prev=folder / f"{name}.prev",
            staging=f"{name}.tmp.",
            audit=folder / "audit.jsonl",
            drop=folder / "drop",
            rejected=folder / "drop" / "rejected",
            inboxes=folder / "inbox",
            attachments=folder / "attachments",
            presence=folder / "presence",
            link_locks=tuple(link.with_name(f"{link.name}.lock") for link in links),
        )

    def archive(self, word: str, part: int | None = None) -> Path:
        """Return the archive of the agent that `word` stands for (`names.file_word`), or its rotated part `part`."""
        suffix = "" if part is None else f"-{part:04d}"
        return self.archives / f"{word}-archive{suffix}.yaml"

    def inbox(self, disk: Disk, agent: str, *, beside: Iterable[str] = ()) -> Path:
        """Return the inbox file of `agent`, beside those that are there and files of the names given."""
        words = {name.removesuffix(_INBOX) for name in (*disk.names(self.inboxes), *beside)}
        return self.inboxes / f"{file_word(agent, words)}{_INBOX}"

    def folder_exists(self, disk: Disk) -> bool:
        """Return whether the queue's folder is there."""
        found = disk.stat(self.folder)
        return found is not None and found.kind != "file"

    def stage(self) -> Path:
        """Return a fresh name for a staging file."""
        return self.folder / f"{self.staging}{os.getpid()}.{os.urandom(6).hex()}"


def _in_real_folder(path: Path) -> Path:
    """Return a path whose folders are no links; what it names may be one."""
    return Path(os.path.realpath(path.parent)) / path.name


def _links(queue: Path) -> tuple[Path, ...]:
    """Return the links by which the queue is reached, in the order in which they are followed."""
    links = list[Path]()
    place = _in_real_folder(queue)
    while place.is_symlink() and place not in links:
        links.append(place)
        place = _in_real_folder(place.parent / os.readlink(place))
    return tuple(links)


def why_not_writable(layout: Layout) -> str:
    """Return why this process may not write the team, as a sentence; empty when permissions allow it or nothing exists.

    A write replaces the queue in its folder and appends to the others, so the queue's own permissions do not matter.
    """
    for path, needed in ((layout.folder, os.W_OK | os.X_OK), (layout.lock, os.W_OK), (layout.audit, os.W_OK)):
        if not os.access(path, needed, effective_ids=EFFECTIVE) and os.path.exists(path):
            return f"no write permission on {path}"
    return ""


# guard: drop-folder-inside-team
def leads_out(disk: Disk, layout: Layout, folder: Path) -> bool:
    """Return whether `folder` is a symbolic link to somewhere outside the team; nothing there is ours to read or
    write.
    """
    found = disk.stat(folder)
    if found is None or found.kind != "link":
        return False
    target = Path(os.path.realpath(folder))
    homes = (os.path.realpath(layout.folder), os.path.realpath(layout.config.parent))
    return not any(target.is_relative_to(home) for home in homes)


def names_in(disk: Disk, layout: Layout, folder: Path) -> list[str]:
    """Return the names in a folder of the team, sorted; none where the way there leads out of it."""
    # guard: links-out-not-listed
    if leads_out(disk, layout, folder) or leads_out(disk, layout, folder.parent):
        return []
    return disk.names(folder)


def refuse_way_out(disk: Disk, layout: Layout, folder: Path) -> None:
    """Refuse to go through a link that leads out of the team.

    Raises:
        OSError: It is one.
    """
    if leads_out(disk, layout, folder):
        raise OSError(errno.ELOOP, "it is a link that leads out of the team, and is not followed", str(folder))


def archive_word(name: str) -> str | None:
    """Return the word that stands for an agent in an archive's file name; None for any other file."""
    match = _PART.fullmatch(name)
    return None if match is None else match["word"]


def archive_part(name: str) -> tuple[str, int | None] | None:
    """Return the agent and part number that an archive's file name says; None for any other file. No number:
    current.

    Other programs name archives of agents by the plain name, of whatever script.
    """
    match = _PART.fullmatch(name)
    if match is None:
        return None
    number = match["number"]
    return decode_name(match["word"]), None if number is None else int(number)


# Files of a team that another user keeps to itself: not shown to us, and no sign of harm.


def is_private_to_other(error: OSError) -> bool:
    """Return whether `error` says that a file or folder of another user may not be read by us.

    Our own file without the right to read it, and any other error, is harm.
    """
    if error.errno != errno.EACCES or not error.filename:
        return False
    try:
        return os.lstat(error.filename).st_uid != os.geteuid()
    except PermissionError:  # it lies in a closed folder
        return True
    except OSError:
        return False


def is_private_path(path: Path) -> bool:
    """Return whether the file or folder is another user's and may not be read by us."""
    try:
        if os.lstat(path).st_uid == os.geteuid():
            return False
    except OSError:
        return False
    needed = os.R_OK | os.X_OK if path.is_dir() else os.R_OK
    return not os.access(path, needed, effective_ids=EFFECTIVE)


def private_problem(layout: Layout) -> Problem | None:
    """Return one notice for all that is closed to us beside the queue, None when nothing is."""
    names = [path.name for path in (layout.archives, layout.attachments, layout.audit) if is_private_path(path)]
    if not names:
        return None
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    text = f"{listed}: kept private by the user who runs the team, so what was archived or recorded is not shown"
    hint = "Nothing is wrong with the team. Reading it all needs the rights of that user or its group."
    return Problem(KEPT_PRIVATE, "notice", listed, text, hint)
