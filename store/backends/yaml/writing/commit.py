"""Makes one unit of work durable, all of it or nothing: stage, ledger line, archives, swap, folder.

The ledger line is the commit point. What follows it can be done again from the line, so a crash at any
place leaves a state that the next lock holder finishes or takes back.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.disk import Stat
from team_console.store.backends.yaml.files import FORBIDDEN, NOT_PLAIN, OutcomeUnknown, append, cut, write_new
from team_console.store.backends.yaml.recovery.ledger import Line
from team_console.store.backends.yaml.writing.appends import Append, make_room, plan_appends
from team_console.store.backends.yaml.writing.generation import Generation
from team_console.store.backends.yaml.writing.lock import not_writable
from team_console.store.backends.yaml.writing.locked_team import LockedTeam
from team_console.store.backends.yaml.writing.obstacles import move_aside
from team_console.store.backends.yaml.writing.queue_edit import apply
from team_console.store.backends.yaml.writing.standing import Standing
from team_console.store.contract.team import OUTCOME_UNKNOWN
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem
from team_console.store.model.recorded import TRAIL_LOST
from team_console.store.settings.loss import digest, on_record

KEPT = ".old"
"""Added to a staging file's name for the generation it replaced, where names cannot be exchanged."""
_NO_LINKS = frozenset({errno.EEXIST, errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
_BLOCKED = frozenset({errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST, errno.EPERM, errno.EACCES})
"""Why a name cannot be taken over, now or at any later try."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Slipped(Exception):
    """Somebody wrote the queue since it was read; nothing of ours is there yet."""


class Uncertain(Exception):
    """Writing failed at a point where the outcome cannot be told; the next lock holder finishes it."""


class Write:
    """One line on its way into ledger, archives and queue.

    Attributes:
        stands: How things stand as far as it came; as before where nothing is left of a write that failed.
    """

    def __init__(self, team: LockedTeam, stands: Standing, *, patient: bool, settings: bytes | None = None) -> None:
        """Begin where things stand.

        Args:
            patient: Whether to give way to somebody who wrote since the queue was read. Else we swap all the same,
                and what the swap displaced is merged.
            settings: Text of the settings in force, None while that is not known: what the ledger says goes on.
        """
        self._team, self._disk, self._layout = team, team.disk, team.layout
        self._before = self.stands = stands
        self._patient = patient
        self._settings = settings
        self._staged = team.layout.stage()

    def commit(self, line: Line, attachments: Mapping[str, bytes]) -> None:
        """Make `line` durable. Everything agrees afterwards, unless somebody else wrote at the same moment.

        Raises:
            Slipped: The queue is no longer what it was when it was read; recover and try again.
            Uncertain: The outcome is unknown.
            TeamError: Nothing was changed: `INVALID_FIELD` for text that YAML cannot hold, `READ_ONLY` when permissions
                forbid it, else `STORE_FAILED`.
        """
        before = self._before.generation
        try:
            text = apply(before.text, line)
            appends = plan_appends(self._team, line, text, mode=before.mode_beside)
            self._stage_and_swap(line, text, appends, attachments)
        except CodecError as error:
            what = f"the message cannot be written: {error.message}"
            raise TeamError(Code.INVALID_FIELD, what, error.hint) from error
        except OSError as error:
            needed = sum(len(str(record)) for record in line.writes) + len(before.text.data())
            raise failure(self._layout.queue, error, needed=needed) from error

    def record(self, line: Line) -> None:
        """Put a line on record that changes no file but the ledger."""
        mark = self.stands.generation.mark
        self._append_line(self._numbered(line, base=mark, queue=mark))

    def _stage_and_swap(
        self, line: Line, text: QueueText, appends: list[Append], attachments: Mapping[str, bytes]
    ) -> None:
        made: list[Path] = []
        before = self._before
        try:
            self._attach(attachments, made)
            staged = self._stage(text)
            self._check_unchanged()
            self.stands = before.doubted()
            sizes = {str(item.path).removeprefix(f"{self._layout.folder}/"): item.size for item in appends}
            marks = {"base": before.generation.mark, "queue": staged.mark}
            line = self._numbered(line, sizes=sizes, staged=self._staged.name, **marks)
            displaced = self._record_and_swap(line, appends, staged)
        except (OSError, TeamError, Slipped):
            if self.stands.tip is before.tip:
                self._remove(self._staged, *made)
                self.stands = before
            raise
        except BaseException:
            if self.stands.tip is before.tip:
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
            self._disk.rename_durably(staged, path)

    def _is_attached(self, path: Path, data: bytes) -> bool:
        """Whether the file is there already; the name says its content, and others may have changed that."""
        found = self._disk.stat(path)
        return found is not None and found.size == len(data) and self._disk.read(path)[0] == data

    def _stage(self, text: QueueText) -> Stat:
        old = self._before.generation
        return write_new(
            self._disk, self._staged, text.blocks(), mode=old.mode, group=old.stat.group if old.stat else -1
        )

    def _check_unchanged(self) -> None:
        """Refuse to go on under a lock that was taken away, or on a queue that somebody else wrote."""
        lock = self._disk.stat(self._layout.lock)
        if lock is None or lock.ino != self._team.lock.ino:
            raise TeamError(
                Code.STORE_FAILED,
                f"the lock file {self._layout.lock} was removed or the folder was moved while it was held",
                "Nothing was changed. Try again, and never delete the lock file.",
            )
        found = self._disk.stat(self._layout.queue)
        if (found.mark if found else None) != self._before.generation.mark and self._patient:
            raise Slipped

    def _numbered(self, line: Line, **facts: Any) -> Line:
        """The line with its place in the chain and what recovery needs to tell how far it came."""
        seq, at = self.stands.tip.seq + 1, to_text(self._team.clock())
        lost = {} if self.stands.lost is None else {TRAIL_LOST: list(self.stands.lost)}
        said = {**line.facts, **lost}
        return replace(line, seq=seq, at=at, facts=said, settings=self._recorded_settings(), **facts)

    def _recorded_settings(self) -> dict[str, object]:
        """The text once, whenever it changed; after that each line says where it stands."""
        known = self.stands.tip.settings
        if self._settings is None or known.get("sha256") == digest(self._settings):
            return known
        return on_record(self._settings)

    def _record_and_swap(self, line: Line, appends: list[Append], staged: Stat) -> Path | None:
        """From the ledger line to the swap; an error takes back what was done of it."""
        self._append_line(line)
        try:
            for item in appends:
                append(self._disk, item.path, item.data, mode=self._before.generation.mode_beside)
            return self._swap()
        except BaseException as error:
            found = self._disk.stat(self._layout.queue)
            if found is None or found.ino != staged.ino:
                self._take_back(line, appends)
            elif isinstance(error, OSError):
                raise Uncertain("writing failed after the queue was replaced") from error
            raise

    def _append_line(self, line: Line) -> None:
        mode = self._before.generation.mode_beside
        try:
            self.stands = self.stands.recorded(self._team.ledger.append(line, self.stands.tip, mode=mode))
        except OutcomeUnknown as error:
            raise Uncertain(f"the ledger could not be written: {error.strerror}") from error

    def _swap(self) -> Path | None:
        """Put the staged file in the queue's place; what it displaced keeps a name of its own, given back."""
        staged, queue = self._staged, self._layout.queue
        if self._before.generation.stat is None and self._link(staged, queue):
            self._disk.unlink(staged)
            return None
        if self._disk.stat(queue) is not None and self._disk.exchange(staged, queue):
            return staged
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

    def _take_back(self, line: Line, appends: list[Append]) -> None:
        """Undo the appends and the ledger line after an error that came before the swap."""
        try:
            for item in appends:
                now = self._disk.stat(item.path)
                if now is not None and now.size > item.size:
                    cut(self._disk, item.path, item.size)
        except OSError as error:
            raise Uncertain(f"writing failed and could not be taken back: {error.strerror}") from error
        try:
            self._team.ledger.take_back(self._before.tip)
            self.stands = self._before.doubted()
        except OSError as error:
            self._void(line, error)

    def _void(self, line: Line, cause: OSError) -> None:
        """The ledger cannot be cut: declare its last line undone by another."""
        try:
            self.record(Line("system", "abort", {"aborted": line.seq, "error": cause.strerror}, void=line.seq))
        except (OSError, Uncertain):
            raise Uncertain(f"writing failed and could not be taken back: {cause.strerror}") from cause

    def _remove(self, *paths: Path) -> None:
        for path in paths:
            with contextlib.suppress(OSError):
                if self._disk.stat(path) is not None:
                    self._disk.unlink(path)

    def _finish(self, written: Generation, appends: list[Append], displaced: Path | None) -> None:
        """After the swap: keep the old generation as `.prev`, make names durable; agree if it was the one we read."""
        self.stands = self.stands.swapped(written)
        archives = self._team.archives
        archives.forget()
        try:
            found = self._disk.stat(displaced) if displaced is not None else None
            alone = found is None or found.mark == self._before.generation.mark
            if displaced is not None and found is not None:
                keep_as_previous(self._team, displaced, ours=alone)
            else:
                self._disk.sync_folder(self._layout.folder)
        except OSError as error:
            raise Uncertain(f"the new queue may not be durable: {error.strerror}") from error
        if alone:
            self.stands = self.stands.agreed()
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
        team.disk.rename_durably(displaced, layout.prev)
        return
    except OSError as error:
        if not ours or error.errno not in _BLOCKED:
            raise
        why = error.strerror or str(error)
    aside = layout.queue.with_name(f"{layout.queue.name}.torn-{team.stamp()}")
    team.disk.rename_durably(displaced, aside)
    text = f"{layout.prev.name} cannot be replaced ({why}); the generation before was kept as {aside.name}"
    team.notices.append(Problem("PREV_BLOCKED", "warning", layout.prev.name, text, f"Move {layout.prev} away."))


def outcome_unknown(queue: Path, error: Uncertain) -> TeamError:
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
