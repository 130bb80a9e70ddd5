"""Make one transaction durable, all of it or nothing: stage, ledger line, archives, swap, folder.

The ledger line is the commit point. What follows it can be done again from the line, so a crash at any
place leaves a state that the next lock holder finishes or takes back.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.backends.yaml.archives import closed
from team_console.store.backends.yaml.audit_log import Line
from team_console.store.backends.yaml.disk import (
    FORBIDDEN,
    LARGEST_FILE,
    NOT_PLAIN,
    Disk,
    PartialAppendError,
    Stat,
    append,
    cut,
    rename_durably,
    write_new,
)
from team_console.store.backends.yaml.layout import refuse_way_out
from team_console.store.backends.yaml.lock import not_writable
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue_edit import apply, archive_entry
from team_console.store.backends.yaml.queue_file import Generation
from team_console.store.backends.yaml.queue_state import LockedTeam, QueueState
from team_console.store.backends.yaml.queue_text import QueueText
from team_console.store.contract.team import OUTCOME_UNKNOWN
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.names import word_for
from team_console.store.model.recorded import TRAIL_LOST
from team_console.store.settings.in_force import digest, on_record
from team_console.store.settings.settings_file import read_settings

ASIDE = ".aside-"
"""Between a file's name and the moment, in the name of what was moved aside."""


def clear_file(team: LockedTeam, path: Path) -> None:
    """Move aside what is at `path` and is no plain file. Raises `OSError` when it cannot be."""
    found = team.disk.stat(path)
    if found is not None and found.kind != "file":
        move_aside(team, path, _named(found))


def clear_oversized(team: LockedTeam, path: Path) -> None:
    """Move aside a file that is longer than is ever read. Raises `OSError` when it cannot be."""
    found = team.disk.stat(path)
    if found is not None and found.size > LARGEST_FILE:
        move_aside(team, path, f"a file of {found.size:,} bytes, of which {LARGEST_FILE:,} are read at most")


def clear_folder(team: LockedTeam, path: Path) -> None:
    """Move aside what is at `path` and leads to no folder. Raises `OSError` when it cannot be."""
    found = team.disk.stat(path)
    if found is not None and is_no_folder(team.disk, path):
        move_aside(team, path, _named(found))


def is_no_folder(disk: Disk, path: Path) -> bool:
    """Whether there is something at `path` that leads to no folder."""
    found = disk.stat(path)
    return found is not None and found.kind != "folder" and not (found.kind == "link" and os.path.isdir(path))


def move_aside(team: LockedTeam, path: Path, what: str) -> None:
    """Give what is at `path` another name, for a human to look at; it is not opened and no link is followed.

    Raises:
        OSError: It cannot be moved.
    """
    stamp = team.stamp()
    aside, number = path.with_name(f"{path.name}{ASIDE}{stamp}"), 1
    while team.disk.stat(aside) is not None:
        number += 1
        aside = path.with_name(f"{path.name}{ASIDE}{stamp}-{number}")
    rename_durably(team.disk, path, aside)
    text = f"{path.name} was {what} and was moved to {aside.name}"
    team.notices.append(Problem("SET_ASIDE", "warning", path.name, text, "Find out who put it there, and delete it."))


def _named(found: Stat) -> str:
    if found.kind == "file":
        return "a file"
    return "a pipe, socket or device" if found.kind == "other" else f"a {found.kind}"


# What a transaction puts at the ends of archives and inbox files, worked out before anything is written.

_to_json = json.JSONEncoder(ensure_ascii=False, default=str).encode


class Append(Struct):
    """Bytes for the end of a file that is `size` long; `data` begins with what its form needs.

    Attributes:
        ids: Of the messages that come to an archive.
    """

    path: Path
    size: int
    data: bytearray
    ids: list[str] = field(default_factory=list)


def plan_appends(team: LockedTeam, line: Line, text: QueueText, *, mode: int) -> list[Append]:
    """What `line` appends where, with its folders made and torn ends mended; `text` is the queue after it.

    Raises:
        TextError: A message cannot be written.
    """
    archived: dict[str, Append] = {}
    pushed: dict[str, Append] = {}
    words = team.archives.words() if line.archived else set()
    for agent, message_id, record in line.archived:
        entry = archive_entry(text, message_id, record)
        if entry is None:
            continue
        if agent not in archived:
            word = word_for(agent, words)
            words.add(word)
            path = team.layout.archive(word)
            make_room(team, path, mode=mode)
            before, problems = team.archives.open_end(path)
            team.notices.extend(problems)
            archived[agent] = _at_end(team.disk, path, before)
        archived[agent].data += closed(*entry)
        archived[agent].ids.append(message_id)
    for agent, record in line.pushed:
        if agent not in pushed:
            path = team.layout.inbox(team.disk, agent, beside=[item.path.name for item in pushed.values()])
            make_room(team, path, mode=mode)
            pushed[agent] = _at_end(team.disk, path, b"" if _is_whole(team.disk, path) else b"\n")
        pushed[agent].data += inbox_line(record)
    return [*archived.values(), *pushed.values()]


def make_room(team: LockedTeam, path: Path, *, mode: int) -> None:
    """Make the folder of `path`, and move aside what stands in the place of either.

    Raises:
        OSError: It cannot be made, or is a link that leads out of the team.
    """
    refuse_way_out(team.disk, team.layout, path.parent)
    clear_folder(team, path.parent)
    make_folder(team, path.parent, mode=mode)
    clear_file(team, path)


def make_folder(team: LockedTeam, folder: Path, *, mode: int) -> None:
    """Make `folder` and the missing ones above it, durable, for those who may use files of `mode`.

    Raises:
        OSError: It cannot be made, or is a link that leads out of the team.
    """
    refuse_way_out(team.disk, team.layout, folder)
    if team.disk.stat(folder) is None:
        make_folder(team, folder.parent, mode=mode)
        with contextlib.suppress(FileExistsError):
            team.disk.mkdir(folder, 0o700 | (0o070 if mode & 0o020 else 0))
        team.disk.sync_folder(folder.parent)


def inbox_line(record: dict[str, object]) -> bytes:
    """One pushed message as a line of JSON (seed 003, file delivery)."""
    return _to_json(record).encode("utf-8", "backslashreplace") + b"\n"


def _at_end(disk: Disk, path: Path, before: bytes) -> Append:
    found = disk.stat(path)
    return Append(path, found.size if found else 0, bytearray(before))


def _is_whole(disk: Disk, path: Path) -> bool:
    found = disk.stat(path)
    return found is None or found.size == 0 or disk.read(path, found.size - 1)[0] == b"\n"


KEPT = ".old"
"""Added to a staging file's name for the generation it replaced, where names cannot be exchanged."""
_NO_LINKS = frozenset({errno.EEXIST, errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
_BLOCKED = frozenset({errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST, errno.EPERM, errno.EACCES})
"""Why a name cannot be taken over, now or at any later try."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class ConcurrentWriteError(Exception):
    """Another program wrote the queue since it was read; nothing of ours is there yet."""


class OutcomeUnknownError(Exception):
    """Writing failed at a point where the outcome cannot be told; the next lock holder finishes it."""


class Commit:
    """Write one line into ledger, archives and queue.

    Attributes:
        state: Of the queue, as far as the commit came; as before where nothing is left of one that failed.
    """

    def __init__(self, team: LockedTeam, state: QueueState, *, patient: bool, settings: bytes | None = None) -> None:
        """Begin with the state of the queue.

        Args:
            patient: Whether to give way to somebody who wrote since the queue was read. Else we swap all the same,
                and what the swap displaced is merged.
            settings: Text of the settings in force, None while that is not known: what the ledger says goes on.
        """
        self._team, self._disk, self._layout = team, team.disk, team.layout
        self._before = self.state = state
        self._patient = patient
        self._settings = settings
        self._staged = team.layout.stage()

    def write(self, line: Line, attachments: Mapping[str, bytes]) -> None:
        """Make `line` durable. Everything agrees afterwards, unless somebody else wrote at the same moment.

        Raises:
            ConcurrentWriteError: The queue is no longer what it was when it was read; recover and try again.
            OutcomeUnknownError: The outcome is unknown.
            TeamError: Nothing was changed: `INVALID_FIELD` for text that YAML cannot hold, `READ_ONLY` when permissions
                forbid it, else `STORE_FAILED`.
        """
        before = self._before.generation
        try:
            text = apply(before.text, line)
            appends = plan_appends(self._team, line, text, mode=before.mode_beside)
            self._stage_and_swap(line, text, appends, attachments)
        except TextError as error:
            what = f"the message cannot be written: {error.message}"
            raise TeamError(Code.INVALID_FIELD, what, error.hint) from error
        except OSError as error:
            needed = sum(len(str(record)) for record in line.writes) + len(before.text.data())
            raise failure(self._layout.queue, error, needed=needed) from error

    def record(self, line: Line) -> None:
        """Put a line on record that changes no file but the ledger."""
        mark = self.state.generation.mark
        self._append_line(self._numbered(line, base=mark, queue=mark))

    def _stage_and_swap(
        self, line: Line, text: QueueText, appends: list[Append], attachments: Mapping[str, bytes]
    ) -> None:
        made: list[Path] = []
        before = self._before
        try:
            self._attach(attachments, made)
            staged = self._stage(text)
            # As late as can be, and yet a writer without the lock may come between this look and the swap: the swap
            # keeps what it displaces, and `_finish` sees that it was not the queue we read.
            self._check_unchanged()
            self.state = before.doubted()
            sizes = {str(item.path).removeprefix(f"{self._layout.folder}/"): item.size for item in appends}
            marks = {"base": before.generation.mark, "queue": staged.mark}
            line = self._numbered(line, sizes=sizes, staged=self._staged.name, **marks)
            displaced = self._record_and_swap(line, appends, staged)
        except (OSError, TeamError, ConcurrentWriteError):
            if self.state.tip is before.tip:
                self._remove(self._staged, *made)
                self.state = before
            raise
        except BaseException:
            if self.state.tip is before.tip:
                self._remove(self._staged)
            raise
        self._finish(Generation(text, staged), appends, displaced)

    def _attach(self, attachments: Mapping[str, bytes], made: list[Path]) -> None:
        """Attachments are there before the line that refers to them; their names say their content."""
        mode = self._before.generation.mode_beside
        for reference, data in attachments.items():
            path = self._layout.folder / reference
            make_room(self._team, path, mode=mode)
            if self._is_attached(path, data):
                continue
            if self._disk.stat(path) is not None:
                move_aside(self._team, path, "not what it is named after")
            staged = self._layout.stage()
            write_new(self._disk, staged, data, mode=mode)
            made.append(path)
            rename_durably(self._disk, staged, path)

    def _is_attached(self, path: Path, data: bytes) -> bool:
        """Whether the file is there already; the name says its content, and others may have changed that."""
        found = self._disk.stat(path)
        return found is not None and found.size == len(data) and self._disk.read(path)[0] == data

    def _stage(self, text: QueueText) -> Stat:
        old = self._before.generation
        return write_new(
            self._disk, self._staged, (text.data(),), mode=old.mode, group=old.stat.group if old.stat else -1
        )

    # guard: queue-checked-before-swap
    def _check_unchanged(self) -> None:
        """Refuse to go on under a lock that was taken away, or on a queue that somebody else wrote."""
        lock = self._disk.stat(self._layout.lock)
        # guard: lock-file-checked
        if lock is None or lock.ino != self._team.lock.ino:
            raise TeamError(
                Code.STORE_FAILED,
                f"the lock file {self._layout.lock} was removed or the folder was moved while it was held",
                "Nothing was changed. Try again, and never delete the lock file.",
            )
        found = self._disk.stat(self._layout.queue)
        if (found.mark if found else None) != self._before.generation.mark and self._patient:
            raise ConcurrentWriteError

    def _numbered(self, line: Line, **facts: Any) -> Line:
        """The line with its place in the chain and what recovery needs to tell how far it came."""
        seq, at = self.state.tip.seq + 1, to_text(self._team.clock())
        lost = {} if self.state.lost is None else {TRAIL_LOST: list(self.state.lost)}
        # guard: lost-trail-on-record
        said = {**line.facts, **lost}
        return replace(line, seq=seq, at=at, facts=said, settings=self._recorded_settings(), **facts)

    def _recorded_settings(self) -> dict[str, object]:
        """The text once, whenever it changed; after that each line says where it stands."""
        known = self.state.tip.settings
        if self._settings is None or known.get("sha256") == digest(self._settings):
            return known
        return on_record(self._settings)

    def _record_and_swap(self, line: Line, appends: list[Append], staged: Stat) -> Path | None:
        """Write the ledger line and the appends, then swap; an error takes back what was done of it."""
        # The line is durable (fsync) before anything else is touched: from here on a crash is finished from it. The
        # other way round, a crash would leave archived copies that nobody can tell from real ones.
        self._append_line(line)
        try:
            for item in appends:
                append(self._disk, item.path, item.data, mode=self._before.generation.mode_beside)
            return self._swap()
        except BaseException as error:
            found = self._disk.stat(self._layout.queue)
            # An error of the swap does not say whether it happened; the inode in the queue's place does.
            if found is None or found.ino != staged.ino:
                self._take_back(line, appends)
            elif isinstance(error, OSError):
                raise OutcomeUnknownError("writing failed after the queue was replaced") from error
            raise

    def _append_line(self, line: Line) -> None:
        mode = self._before.generation.mode_beside
        try:
            self.state = self.state.recorded(self._team.ledger.append(line, self.state.tip, mode=mode))
        except PartialAppendError as error:
            raise OutcomeUnknownError(f"the ledger could not be written: {error.strerror}") from error

    def _swap(self) -> Path | None:
        """Put the staged file in the queue's place; returns the name that what it displaced has now."""
        staged, queue = self._staged, self._layout.queue
        # A link fails where a file is: a queue that somebody made this moment is not written over.
        if self._before.generation.stat is None and self._link(staged, queue):
            self._disk.unlink(staged)
            return None
        # An exchange loses nothing: what a foreign writer put there a moment ago is under the staging name then.
        if self._disk.stat(queue) is not None and self._disk.exchange(staged, queue):
            return staged
        # Without it (network mounts, macOS) the old file gets a second name first. A file that is renamed into the
        # queue's place between this link and the rename is lost; its messages are not ours to rebuild.
        kept = staged.with_name(staged.name + KEPT)
        is_kept = self._disk.stat(queue) is not None and self._link(queue, kept)
        self._disk.rename(staged, queue)
        return kept if is_kept else None

    def _link(self, source: Path, target: Path) -> bool:
        """Give a second name; False when the target exists or the file system knows no links."""
        try:
            self._disk.link(source, target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return False
        return True

    # guard: taken-back-after-error
    def _take_back(self, line: Line, appends: list[Append]) -> None:
        """Undo the appends and the ledger line after an error that came before the swap."""
        # The appends first: as long as the line is there, a crash between the two is finished or undone from it.
        try:
            for item in appends:
                now = self._disk.stat(item.path)
                if now is not None and now.size > item.size:
                    cut(self._disk, item.path, item.size)
        except OSError as error:
            raise OutcomeUnknownError(f"writing failed and could not be taken back: {error.strerror}") from error
        try:
            self._team.ledger.take_back(self._before.tip)
            self.state = self._before.doubted()
        except OSError as error:
            self._void(line, error)

    def _void(self, line: Line, cause: OSError) -> None:
        """The ledger cannot be cut: declare its last line undone by another."""
        try:
            self.record(Line("system", "abort", {"aborted": line.seq, "error": cause.strerror}, void=line.seq))
        except (OSError, OutcomeUnknownError):
            raise OutcomeUnknownError(f"writing failed and could not be taken back: {cause.strerror}") from cause

    def _remove(self, *paths: Path) -> None:
        for path in paths:
            with contextlib.suppress(OSError):
                if self._disk.stat(path) is not None:
                    self._disk.unlink(path)

    def _finish(self, written: Generation, appends: list[Append], displaced: Path | None) -> None:
        """Keep the old generation as `.prev` and make all names durable; agree if it was the one that was read."""
        self.state = self.state.swapped(written)
        archives = self._team.archives
        archives.forget()
        try:
            found = self._disk.stat(displaced) if displaced is not None else None
            # Whoever had the old file open may still write into it: its mark is compared after the swap, not before.
            alone = found is None or found.mark == self._before.generation.mark
            if displaced is not None and found is not None:
                keep_as_previous(self._team, displaced, ours=alone)
            else:
                self._disk.sync_folder(self._layout.folder)
        except OSError as error:
            raise OutcomeUnknownError(f"the new queue may not be durable: {error.strerror}") from error
        if alone:
            self.state = self.state.agreed()
            for item in appends:
                if item.ids:
                    archives.appended(item.path, item.size, item.size + len(item.data), item.ids)


def keep_as_previous(team: LockedTeam, displaced: Path, *, ours: bool) -> None:
    """Give a displaced generation the name `.prev`, durable as all other names of the folder are then.

    Where something is in the way that cannot be replaced (a folder, a file that may not be touched), a generation
    of `ours` keeps a name of its own: what was built upon it stands. One of somebody else has to be merged yet.

    Raises:
        OSError: It could not be renamed, or not durably.
    """
    layout = team.layout
    try:
        rename_durably(team.disk, displaced, layout.prev)
        return
    except OSError as error:
        if not ours or error.errno not in _BLOCKED:
            raise
        why = error.strerror or str(error)
    aside = layout.queue.with_name(f"{layout.queue.name}.torn-{team.stamp()}")
    rename_durably(team.disk, displaced, aside)
    text = f"{layout.prev.name} cannot be replaced ({why}); the generation before was kept as {aside.name}"
    team.notices.append(Problem("PREV_BLOCKED", "warning", layout.prev.name, text, f"Move {layout.prev} away."))


def outcome_unknown(queue: Path, error: OutcomeUnknownError) -> TeamError:
    """The error for a write of which nobody can tell yet whether it is done."""
    text = f"{queue}: {error}; the outcome is unknown"
    hint = "Repeat it with the same id: what was done is not done twice."
    return TeamError(Code.STORE_FAILED, text, hint, **{OUTCOME_UNKNOWN: True})


def failure(queue: Path, error: OSError, *, needed: int = 0) -> TeamError:
    """The error for what the system refused before anything was changed; `needed` bytes would have been written."""
    path = error.filename or queue
    if error.errno in FORBIDDEN:
        return not_writable(Path(str(path)), error)
    full = error.errno in _FULL and needed > 0
    hint = (
        "Move it away: it must be a plain file." if error.errno in NOT_PLAIN else "Look into the cause and repeat it."
    )
    return TeamError(
        Code.STORE_FAILED,
        f"{path}: {error.strerror or error}; nothing was changed" + (f"; {needed} bytes are needed" if full else ""),
        "Free space on that disk and repeat it." if full else hint,
        errno=error.errno,
    )


# The settings file of a YAML team, replaced as a whole while the lock is held, and put back when the commit fails.

_PUBLIC = 0o644
"""For its owner to write alone: settings that others can write run no command."""


@contextmanager
def replaced_settings(team: LockedTeam, text: str | None) -> Iterator[None]:
    """Put `text` in the place of the settings for what happens in the block; an error there puts the old ones back.

    The file is there before the line on the audit trail: a crash between the two leaves whole settings.

    Raises:
        TeamError: `STORE_FAILED`; nothing was changed.
    """
    if text is None:
        yield
        return
    path = team.layout.config
    before = read_settings(path) if team.disk.stat(path) is not None else None
    _write(team, text)
    try:
        yield
    except BaseException:
        with contextlib.suppress(TeamError, OSError):
            if before is not None:
                # guard: settings-put-back
                _write(team, before)
            else:
                team.disk.unlink(path)
        raise


def _write(team: LockedTeam, text: str) -> None:
    # A link stays a link: what it names is replaced.
    disk, path = team.disk, Path(os.path.realpath(team.layout.config))
    staged = path.with_name(team.layout.stage().name)
    try:
        make_folder(team, path.parent, mode=_PUBLIC)
        _sweep(team, path.parent)
        old = disk.stat(path)
        write_new(disk, staged, text.encode(), mode=old.mode if old else _PUBLIC, group=old.group if old else -1)
        rename_durably(disk, staged, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            if disk.stat(staged) is not None:
                disk.unlink(staged)
        code = Code.READ_ONLY if error.errno in FORBIDDEN else Code.STORE_FAILED
        what = f"{error.filename or path}: {error.strerror or error}; the settings were not changed"
        raise TeamError(code, what, "Make the folder writable for you and repeat it.") from error


def _sweep(team: LockedTeam, folder: Path) -> None:
    """Remove what a writer that died here left; the lock is held, so nobody writes now."""
    if folder != team.layout.folder:
        for name in team.disk.names(folder):
            if name.startswith(team.layout.staging):
                team.disk.unlink(folder / name)


def put_back(team: LockedTeam, text: bytes, *, mode: int) -> str:
    """Write `text` as the settings, durable; returns the name under which what was there is kept, "" for nothing.

    Args:
        mode: Permission bits where nothing is there.

    Raises:
        TeamError: `STORE_FAILED`, with what was there still in its place or kept under another name.
    """
    disk, path = team.disk, team.layout.config
    staged = path.with_name(f"{path.name}.new-{team.stamp()}")
    try:
        there = disk.stat(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # The rights of a link say nothing of a file: everybody has all of them.
        old = there if there is not None and there.kind == "file" else None
        write_new(disk, staged, text, mode=old.mode if old is not None else mode & ~0o022)
        aside = path.with_name(f"{path.name}.lost-{team.stamp()}") if there is not None else None
        if aside is not None:
            disk.rename(path, aside)
        rename_durably(disk, staged, path)
    except OSError as error:
        why = f"{error.filename or path}: {error.strerror or error}; the settings were not put back"
        raise TeamError(Code.STORE_FAILED, why, "Look into the cause and repeat it.") from error
    return aside.name if aside is not None else ""
