"""Make one transaction durable, all of it or nothing. `commit_line` is the whole flow, from top to bottom.

Stage the new queue, look once more whether somebody wrote, append the line to the audit trail, append to archives, swap
the queue, sync the folder. The line is the commit point. What follows it can be done again from the line, so a crash at
any place leaves a state that the next lock holder finishes or takes back (`recovery.py`).

Below the flow stand its parts: what a line does to the text of a queue, what it appends to archives and inboxes, and
how what stands in the way of a file is moved aside.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.archives import Archives, closed_entry
from team_console.store.backends.yaml.audit_trail import (
    DONE_IN_ORDER,
    NO_FILE,
    AuditTrail,
    RecordPatch,
    TrailTip,
    TransactionLine,
)
from team_console.store.backends.yaml.disk import (
    FORBIDDEN,
    NOT_PLAIN,
    Disk,
    HeldLock,
    PartialAppendError,
    Stat,
    append,
    cut,
    rename_durably,
    size_of,
    write_new,
)
from team_console.store.backends.yaml.entry_format import TextError
from team_console.store.backends.yaml.layout import Layout, refuse_way_out
from team_console.store.backends.yaml.lock import ReleaseMark, not_writable
from team_console.store.backends.yaml.queue import QueueFile, QueueText
from team_console.store.contract.transaction import Changes, RefusedRowsError
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import FieldDict, Fields, Message, from_record, ids_of, is_copy
from team_console.store.model.names import file_word
from team_console.store.model.recorded_facts import TRAIL_LOST, RecordedFacts
from team_console.store.settings.in_force import SettingsInForce, settings_record, text_digest

OLD_SUFFIX = ".old"
"""Added to a staging file's name for the generation it replaced, where names cannot be exchanged."""
_NO_LINKS = frozenset({errno.EEXIST, errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
_BLOCKED = frozenset({errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST, errno.EPERM, errno.EACCES})
"""Why a name cannot be taken over, now or at any later try."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class ConcurrentWriteError(Exception):
    """Another program wrote the queue since it was read; nothing of ours is there yet."""


class OutcomeUnknownError(Exception):
    """Writing failed at a point where the outcome cannot be told; the next lock holder finishes it."""


class LockedTeam(Struct):
    """A team whose lock is held, and what is known of its files. Each step that changes or reads them says so here.

    Attributes:
        settings: As the session found them; all that is done in it goes by them.
        recorded: Reads what the audit trail has of requests; None where it is another user's own.
        queue: The queue as last read or written.
        agreed_queue: The queue as it was when everything last agreed, as far as this process has seen it.
        released: Number of the last line and mark of the queue when everything last agreed, by the lock file or by our
            own last write; None where the last holder died. What another program wrote since is not in it.
        notices: What was repaired; each step adds to it what it did.
        tip: The end of the trail.
        own_seq: Number of the last line that this process itself brought into the queue, 0 for none.
        lost_lines: Last line of a trail that lost lines, and the number of the last one that was written there (0 where
            that is not known); None when nothing was lost, or once a line says so.
        agrees: Whether trail, archives and queue agree now, so that the lock may be released as clean.
    """

    disk: Disk
    layout: Layout
    lock: HeldLock
    clock: Clock
    trail: AuditTrail
    archives: Archives
    settings: SettingsInForce
    recorded: Callable[[], RecordedFacts | None]
    queue: QueueFile
    agreed_queue: QueueFile
    released: ReleaseMark | None
    notices: list[Problem] = []
    tip: TrailTip = TrailTip()
    own_seq: int = 0
    lost_lines: tuple[int, int] | None = None
    agrees: bool = False

    def agree(self) -> None:
        """Note that trail, archives and queue agree at this moment: what comes later is compared with this state."""
        self.released, self.agreed_queue, self.agrees = ReleaseMark(self.tip.seq, self.queue.mark), self.queue, True

    def stamp(self) -> str:
        """Give the time as part of a file name."""
        return to_text(self.clock()).replace(":", "").replace("-", "")


def commit_line(
    team: LockedTeam,
    line: TransactionLine,
    attachments: Mapping[str, bytes],
    *,
    patient: bool,
    settings: bytes | None = None,
) -> None:
    """Make `line` durable. Everything agrees afterwards, unless somebody else wrote at the same moment.

    Args:
        patient: Whether to give way to somebody who wrote since the queue was read. Else we swap all the same, and
            what the swap displaced is merged.
        settings: Text of the settings in force, None while that is not known: what the trail says goes on.

    Raises:
        ConcurrentWriteError: The queue is no longer what it was when it was read; recover and try again.
        OutcomeUnknownError: The outcome is unknown.
        TeamError: Nothing was changed: `INVALID_FIELD` for text that YAML cannot hold, `READ_ONLY` when permissions
            forbid it, else `STORE_FAILED`.
    """
    disk, before, tip, agreed_before = team.disk, team.queue, team.tip, team.agrees
    staging, made = team.layout.stage(), list[Path]()
    try:
        text = apply_line(before.text, line)
        appends = plan_appends(team, line, text)
        # Attachments are there before the line that refers to them; their names say their content.
        for reference, data in attachments.items():
            _write_attachment(team, reference, data, made)
        group = before.stat.group if before.stat else -1
        # Synced before anything names it: a swap that outlives a power cut must not put an empty file in its place.
        staged = write_new(disk, staging, (text.data(),), mode=before.mode, group=group)
        # As late as can be, and yet a writer without the lock may come between this look and the swap: the swap
        # keeps what it displaces, and below it is seen that it was not the queue we read.
        _check_unchanged(team, patient=patient)
        team.agrees = False
        sizes = {str(item.path).removeprefix(f"{team.layout.folder}/"): item.size for item in appends}
        previous = disk.stat(team.layout.prev)
        marks = {"base": before.mark, "queue": staged.mark, "previous": previous.mark if previous else NO_FILE}
        line = _complete_line(team, line, settings, sizes=sizes, staged=staging.name, **marks)
        # The line is durable (fsync) before anything else is touched: from here on a crash is finished from it. The
        # other way round, a crash would leave archived copies that nobody can tell from real ones.
        _append_line(team, line)
        displaced = _append_and_swap(team, tip, appends, staging, staged)
    except BaseException as error:
        if team.tip is tip:  # no line says that it happened
            # These end in order, with the lock held. Any other, as a key that interrupts, may come anywhere: what was
            # attached stays, as the line may stand in the trail all the same, and recovery looks.
            is_undone = isinstance(error, (OSError, TextError, TeamError, ConcurrentWriteError))
            remove_files(disk, staging, *(made if is_undone else ()))
            team.agrees = agreed_before and is_undone
        if isinstance(error, TextError):
            what = f"the message cannot be written: {error.message}"
            raise TeamError(Code.INVALID_FIELD, what, error.hint) from error
        if isinstance(error, OSError):
            needed = sum(len(str(record)) for record in line.writes) + len(before.text.data())
            raise write_failure(team.layout.queue, error, needed=needed) from error
        raise
    team.queue, team.own_seq, team.lost_lines = QueueFile(text, staged), team.tip.seq, None
    team.archives.forget()
    try:
        found = disk.stat(displaced) if displaced is not None else None
        # Whoever had the old file open may still write into it: its mark is compared after the swap, not before.
        is_alone = found is None or found.mark == before.mark
        if displaced is not None and found is not None:
            keep_as_previous(team, displaced, ours=is_alone)
        else:
            disk.sync_folder(team.layout.folder)  # else a power cut may bring the old name back
    except OSError as error:
        raise OutcomeUnknownError(f"the new queue may not be durable: {error.strerror}") from error
    if is_alone:
        team.agree()


def commit_note(team: LockedTeam, line: TransactionLine) -> None:
    """Put a line on record that changes no file but the trail."""
    _append_line(team, _complete_line(team, line, None, base=team.queue.mark, queue=team.queue.mark))
    team.lost_lines = None


def _write_attachment(team: LockedTeam, reference: str, data: bytes, made: list[Path]) -> None:
    """Write an attachment, and add its path to `made`, unless a file with exactly this content is there.

    Its name is a digest of its content; a file of that name with another content was changed, and is moved aside.
    """
    disk, mode = team.disk, team.queue.mode_beside
    path = team.layout.folder / reference
    prepare_path(team, path)
    found = disk.stat(path)
    if found is not None:
        if found.size == len(data) and disk.read(path)[0] == data:
            return
        move_aside(team, path, "not what it is named after")
    staged = team.layout.stage()
    write_new(disk, staged, data, mode=mode)
    made.append(path)
    rename_durably(disk, staged, path)


# guard: queue-checked-before-swap
def _check_unchanged(team: LockedTeam, *, patient: bool) -> None:
    """Refuse to go on under a lock that was taken away, or on a queue that somebody else wrote."""
    lock = team.disk.stat(team.layout.lock)
    # guard: lock-file-checked
    if lock is None or lock.ino != team.lock.ino:
        raise TeamError(
            Code.STORE_FAILED,
            f"the lock file {team.layout.lock} was removed or the folder was moved while it was held",
            "Nothing was changed. Try again, and never delete the lock file.",
        )
    found = team.disk.stat(team.layout.queue)
    if patient and (found.mark if found else None) != team.queue.mark:
        raise ConcurrentWriteError


def _complete_line(
    team: LockedTeam, line: TransactionLine, settings: bytes | None, **for_recovery: Any
) -> TransactionLine:
    """Return the line with its place in the chain, and with what recovery needs to tell how far its writer came."""
    lost = {} if team.lost_lines is None else {TRAIL_LOST: list(team.lost_lines)}
    # guard: lost-trail-on-record
    said = {**line.facts, **lost}
    known = team.tip.settings
    if settings is not None and known.get("sha256") != text_digest(settings):
        known = settings_record(
            settings
        )  # the text once, whenever it changed; after that each line says where it stands
    return replace(line, seq=team.tip.seq + 1, at=to_text(team.clock()), facts=said, settings=known, **for_recovery)


def _append_line(team: LockedTeam, line: TransactionLine) -> None:
    """Append a line to the audit trail, from where on the transaction is committed."""
    try:
        team.tip = team.trail.append(line, team.tip, mode=team.queue.mode_beside)
    except PartialAppendError as error:
        raise OutcomeUnknownError(f"the audit trail could not be written: {error.strerror}") from error


def _append_and_swap(
    team: LockedTeam, tip: TrailTip, appends: list[Append], staging: Path, staged: Stat
) -> Path | None:
    """Do what the line says that was just written; an error before the swap takes it and the line back.

    Args:
        tip: The end of the trail before that line.
        staged: What the staging file is.

    Returns:
        As `_swap`.
    """
    try:
        for item in appends:
            try:
                append(team.disk, item.path, item.data, mode=team.queue.mode_beside)
            except OSError as error:
                raise refused_push(item.path, error, item.pushed) or error from error
        return _swap(team, staging)
    except BaseException as error:
        found = team.disk.stat(team.layout.queue)
        # An error of the swap does not say whether it happened; the inode in the queue's place does.
        if found is None or found.ino != staged.ino:
            _take_back(team, tip, appends)
        elif isinstance(error, OSError):
            raise OutcomeUnknownError("writing failed after the queue was replaced") from error
        raise


def _swap(team: LockedTeam, staged: Path) -> Path | None:
    """Put the staged file in the queue's place.

    Returns:
        Where the file is now that was the queue before; None when there was none, or it could not be kept.
    """
    disk, queue = team.disk, team.layout.queue
    # A link fails where a file is: a queue that somebody made this moment is not written over.
    if team.queue.stat is None and _link(disk, staged, queue):
        disk.unlink(staged)
        return None
    # An exchange loses nothing: what a foreign writer put there a moment ago is under the staging name then.
    if disk.stat(queue) is not None and disk.exchange(staged, queue):
        return staged
    # Without it (network mounts, macOS) the old file gets a second name first. A file that is renamed into the
    # queue's place between this link and the rename is lost; its messages are not ours to rebuild.
    kept = staged.with_name(staged.name + OLD_SUFFIX)
    is_kept = disk.stat(queue) is not None and _link(disk, queue, kept)
    disk.rename(staged, queue)
    return kept if is_kept else None


def _link(disk: Disk, source: Path, target: Path) -> bool:
    """Give a second name; False when the target exists or the file system knows no links."""
    try:
        disk.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return False
    return True


# guard: taken-back-after-error
def _take_back(team: LockedTeam, tip: TrailTip, appends: list[Append]) -> None:
    """Undo the appends and the line of the trail after an error that came before the swap."""
    # The appends first: as long as the line is there, a crash between the two is finished or undone from it.
    try:
        for item in appends:
            if size_of(team.disk, item.path) > item.size:
                cut(team.disk, item.path, item.size)
        cut(team.disk, team.layout.audit, tip.size)
    except OSError as error:
        raise OutcomeUnknownError(f"writing failed and could not be taken back: {error.strerror}") from error
    team.tip = tip


def remove_files(disk: Disk, *paths: Path) -> None:
    """Remove the files that are there, as far as that is possible."""
    for path in paths:
        with contextlib.suppress(OSError):
            if disk.stat(path) is not None:
                disk.unlink(path)


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
    # One name for all of them: with one of its own each write would leave a whole queue behind.
    aside = layout.queue.with_name(f"{layout.queue.name}.torn-previous")
    rename_durably(team.disk, displaced, aside)
    text = f"{layout.prev.name} cannot be replaced ({why}); the generation before was kept as {aside.name}"
    team.notices.append(Problem("PREV_BLOCKED", "warning", layout.prev.name, text, f"Move {layout.prev} away."))


def write_failure(queue: Path, error: OSError, *, needed: int = 0) -> TeamError:
    """Return the error for what the system refused before anything was changed; `needed` bytes would have been
    written.
    """
    path = error.filename or queue
    if error.errno in FORBIDDEN:
        return not_writable(Path(str(path)), error)
    text = f"{path}: {error.strerror or error}; nothing was changed"
    hint = "Look into the cause and repeat it."
    if error.errno in NOT_PLAIN:
        hint = "Move it away: it must be a plain file."
    if error.errno in _FULL and needed > 0:
        text = f"{text}; {needed} bytes are needed"
        hint = "Free space on that disk and repeat it."
    return TeamError(Code.STORE_FAILED, text, hint, errno=error.errno)


# What a line of the trail does to the queue: made from a transaction's changes, done to the text, done again.


def line_of(changes: Changes, *, actor: str) -> TransactionLine:
    """Return the line that a finished transaction asks for."""
    (action, facts), *also = changes.records
    replaced = [
        RecordPatch(old.message_id, changed_keys(old.record, new.record), old, new)
        for old, new in changes.replaced.items()
    ]
    live = {*changes.replaced.values(), *changes.added.values()}
    return TransactionLine(
        actor=actor,
        action=action,
        facts=facts,
        also=tuple(also),
        writes=tuple(dict(message.record) for message in changes.added.values()),
        changes=tuple(replaced),
        removed=tuple(ids_of(changes.removed)),
        archived=tuple(
            # No record where the queue shows this very one afterwards: the trail need not repeat it.
            (agent, message.message_id, None if message in live else dict(message.record))
            for agent, message in changes.archived
        ),
        pushed=tuple((agent, dict(message.record)) for agent, message in changes.pushed),
    )


def merge_lines(first: TransactionLine | None, second: TransactionLine | None) -> TransactionLine | None:
    """Return one line that does `first` and then `second`, with the name and facts of `second`; None for neither."""
    if first is None or second is None:
        return first or second
    both: dict[str, Any] = {name: (*getattr(first, name), *getattr(second, name)) for name in DONE_IN_ORDER}
    return replace(second, facts={**first.facts, **second.facts}, **both)


def changed_keys(old: Fields, new: Fields) -> FieldDict:
    """Return the changes that turn the record `old` into `new`; None for a key that is gone."""
    keys: FieldDict = {key: value for key, value in new.items() if key not in old or old[key] != value}
    return keys | {key: None for key in old if key not in new}


def apply_line(text: QueueText, line: TransactionLine) -> QueueText:
    """Return the queue after `line`. Doing it a second time changes nothing. Raises `TextError` for unwritable text."""
    append: dict[str, Message] = {}
    changed: dict[int, Message] = {}
    for message in map(from_record, line.writes):
        here = text.message(message.message_id)
        if here is None or not is_copy(here, message):
            append[message.message_id] = message
    for change in line.changes:
        message_id, place = change.message_id, text.place(change.message_id)
        current = append.get(message_id) if place is None else changed.get(place, text.entries[place].message)
        if place is not None and current is not None:
            changed[place] = change.applied_to(current)
        elif current is not None:
            append[message_id] = change.applied_to(current)
        elif change.new is not None:  # a record somebody took away comes back changed
            append[message_id] = change.new
    remove = {place for message_id in line.removed if (place := text.place(message_id)) is not None}
    for message_id in line.removed:
        append.pop(message_id, None)
    if not (append or changed or remove or text.merged or text.renamed):
        return text
    staying = {place: message for place, message in changed.items() if place not in remove}
    return text.edit(append=list(append.values()), replace=staying, remove=remove)


def archive_entry(text: QueueText, message_id: str, record: FieldDict | None) -> tuple[Message, bytes] | None:
    """Return the message to archive: the record itself, else the one live in `text` with its text there."""
    if record is not None:
        return from_record(record), b""
    place = text.place(message_id)
    entry = text.entries[place] if place is not None else None
    return (entry.message, entry.raw) if entry is not None and entry.message is not None else None


# What a transaction puts at the ends of archives and inbox files, worked out before anything is written.


class Append(Struct):
    """Bytes for the end of a file that is `size` long; `data` begins with what has to stand before the first entry.

    Attributes:
        pushed: Ids of the messages that an inbox gets with them.
    """

    path: Path
    size: int
    data: bytearray
    pushed: tuple[str, ...] = ()


def plan_appends(team: LockedTeam, line: TransactionLine, text: QueueText) -> list[Append]:
    """Work out what `line` appends where, with folders made and torn ends mended; `text` is the queue after it.

    Raises:
        TextError: A message cannot be written.
        RefusedRowsError: An inbox takes nothing.
    """
    planned: dict[tuple[str, str], Append] = {}
    words = team.archives.words() if line.archived else set()
    for agent, message_id, stored in line.archived:
        entry = archive_entry(text, message_id, stored)
        if entry is None:
            continue
        if ("archive", agent) not in planned:
            word = file_word(agent, words)
            words.add(word)
            path = team.layout.archive(word)
            prepare_path(team, path)
            before, problems = team.archives.prepare_end(path)
            team.notices.extend(problems)
            planned["archive", agent] = Append(path, size_of(team.disk, path), bytearray(before))
        planned["archive", agent].data += closed_entry(*entry)
    for agent, pushed in line.pushed:
        if ("inbox", agent) not in planned:
            path = team.layout.inbox(team.disk, agent, beside=[item.path.name for item in planned.values()])
            ids = tuple(str(record.get("message_id")) for name, record in line.pushed if name == agent)
            try:
                prepare_path(team, path)
                size = size_of(team.disk, path)
                is_whole = size == 0 or team.disk.read(path, size - 1)[0] == b"\n"
            except OSError as error:
                raise refused_push(path, error, ids) or error from error
            planned["inbox", agent] = Append(path, size, bytearray(b"" if is_whole else b"\n"), ids)
        planned["inbox", agent].data += inbox_line(pushed)
    return list(planned.values())


def refused_push(path: Path, error: OSError, ids: tuple[str, ...]) -> RefusedRowsError | None:
    """Return the error for messages that an agent's inbox does not take; None where the disk is at fault, not it."""
    if not ids or error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS):
        return None
    return RefusedRowsError({}, dict.fromkeys(ids, f"{path}: {error.strerror or error}"))


def inbox_line(pushed: dict[str, object]) -> bytes:
    """Write one pushed message as a line of JSON (seed 003, file delivery)."""
    return json.dumps(pushed, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace") + b"\n"


def prepare_path(team: LockedTeam, path: Path) -> None:
    """Make the folder of `path`, and move aside what stands in the place of either.

    Raises:
        OSError: It cannot be made, or is a link that leads out of the team.
    """
    folder = path.parent
    refuse_way_out(team.disk, team.layout, folder)
    found = team.disk.stat(folder)
    if found is not None and is_no_folder(team.disk, folder):
        move_aside(team, folder, _kind_in_words(found))
    make_folder(team, folder, mode=team.queue.mode_beside)
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


# What stands in the way of a file or folder of the team is moved aside, for a human to look at.

ASIDE = ".aside-"
"""Between a file's name and the moment, in the name of what was moved aside."""


def clear_file(team: LockedTeam, path: Path, *, most: int | None = None) -> None:
    """Move aside what is at `path` and is no plain file, or longer than `most` bytes.

    Raises:
        OSError: It cannot be moved.
    """
    found = team.disk.stat(path)
    if found is not None and found.kind != "file":
        move_aside(team, path, _kind_in_words(found))
    elif found is not None and most is not None and found.size > most:
        move_aside(team, path, f"a file of {found.size:,} bytes, of which {most:,} are read at most")


def is_no_folder(disk: Disk, path: Path) -> bool:
    """Return whether there is something at `path` that leads to no folder."""
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


def _kind_in_words(found: Stat) -> str:
    """Return what kind of thing is in the way, such as `a pipe, socket or device`."""
    return "a pipe, socket or device" if found.kind == "other" else f"a {found.kind}"
