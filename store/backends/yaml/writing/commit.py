"""Makes one unit of work durable, all of it or nothing: stage, ledger line, archives, swap, folder.

The ledger line is the commit point. What follows it can be done again from the line, so a crash at any
place leaves a state that the next lock holder finishes or takes back.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.disk import Disk, Held, Stat
from team_console.store.backends.yaml.files import NOT_PLAIN, OutcomeUnknown, append, cut, shared_mode, write_new
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.reading.archives import Archives
from team_console.store.backends.yaml.reading.settings_in_force import ReadSettings
from team_console.store.backends.yaml.recovery.ledger import Ledger, Line, Tip
from team_console.store.backends.yaml.writing.appends import Append, make_room, plan_appends
from team_console.store.backends.yaml.writing.generation import Generation
from team_console.store.backends.yaml.writing.lock import not_writable
from team_console.store.backends.yaml.writing.lock_owner import Released
from team_console.store.backends.yaml.writing.obstacles import move_aside
from team_console.store.backends.yaml.writing.queue_edit import apply
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.problem import Problem
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


class LockedQueue(Struct):
    """The files of one team while the lock is held.

    Attributes:
        left: The state in which everything last agreed, by the lock file or by our own last write; None after a
            holder that died. It never says anything of what another program wrote and nobody has compared yet.
        known: The queue's text in that state, as far as this process has seen it.
        generation: The queue as last read or written.
        tip: The end of the ledger.
        reached: Number of the last line that this process itself brought into the queue, 0 for none.
        agrees: Whether ledger, archives and queue agree now, so that the lock may be released as clean.
        notices: What was repaired.
        patience: How often we begin anew when somebody writes meanwhile. After that we swap all the same and
            merge what the swap displaced, so that a busy writer cannot keep us from ever finishing.
        settings: The settings as this turn found them.
        in_force: Text of the settings in force, None while that is not known: what the ledger says of them goes on.
    """

    disk: Disk
    layout: Layout
    lock: Held
    clock: Clock
    ledger: Ledger
    archives: Archives
    generation: Generation
    known: Generation
    settings: ReadSettings
    left: Released | None = None
    tip: Tip = field(default_factory=Tip)
    reached: int = 0
    agrees: bool = False
    notices: list[Problem] = field(default_factory=list)
    patience: int = 3
    in_force: bytes | None = None

    @property
    def mode(self) -> int:
        """Permission bits of new files other than the queue."""
        return shared_mode(self.generation.stat)

    def stamp(self) -> str:
        """The time as part of a file name."""
        return to_text(self.clock()).replace(":", "").replace("-", "")

    def finish_recovery(self) -> None:
        """Everything agrees at this moment: what comes later is compared with it."""
        self.left = Released(self.tip.seq, self.generation.mark)
        self.known = self.generation
        self.agrees = True

    def commit(self, line: Line, attachments: Mapping[str, bytes] | None = None) -> None:
        """Make `line` durable. Everything `agrees` afterwards, unless somebody else wrote at the same moment.

        Raises:
            Slipped: The queue is no longer what it was when it was read; recover and try again.
            TeamError: `STORE_FAILED`: nothing was changed, or, when the text says so, the outcome is unknown;
                `INVALID_FIELD` for text that YAML cannot hold; `READ_ONLY` when permissions forbid it.
        """
        try:
            text = apply(self.generation.text, line)
            appends, problems = plan_appends(
                self.disk, self.layout, self.archives, line, text, stamp=self.stamp(), mode=self.mode
            )
            self.notices += problems
            self._stage_and_swap(line, text, appends, attachments or {})
        except CodecError as error:
            what = f"the message cannot be written: {error.message}"
            raise TeamError(Code.INVALID_FIELD, what, error.hint) from error
        except OSError as error:
            needed = sum(len(str(record)) for record in line.writes) + len(self.generation.text.data())
            raise failure(self.layout.queue, error, needed=needed) from error
        except Uncertain as error:
            raise TeamError(
                Code.STORE_FAILED,
                f"{self.layout.queue}: {error}; the outcome is unknown",
                "Repeat it with the same id: what was done is not done twice.",
            ) from error

    def write_line(self, line: Line) -> None:
        """Put a line on record that changes no file but the ledger."""
        mark, settings = self.generation.mark, self._recorded_settings()
        at = to_text(self.clock())
        self._append_line(replace(line, seq=self.tip.seq + 1, at=at, base=mark, queue=mark, settings=settings))

    def _stage_and_swap(
        self, line: Line, text: QueueText, appends: list[Append], attachments: Mapping[str, bytes]
    ) -> None:
        path = self.layout.stage()
        made: list[Path] = []
        before, agreed = self.tip, self.agrees
        try:
            self._attach(attachments, made)
            staged = self._stage(path, text)
            self._check_unchanged()
            self.agrees = False
            displaced = self._record_and_swap(self._numbered(line, appends, staged, path), appends, path, staged)
        except (OSError, TeamError, Slipped):
            if self.tip is before:
                self._remove(path, *made)
                self.agrees = agreed
            raise
        except BaseException:
            if self.tip is before:
                self._remove(path)
            raise
        if self._finish(text, staged, displaced):
            self.finish_recovery()
            for item in appends:
                if item.ids:
                    self.archives.appended(item.path, item.size, item.size + len(item.data), item.ids)

    def _stage(self, path: Path, text: QueueText) -> Stat:
        old = self.generation.stat
        if old is None:
            return write_new(self.disk, path, text.blocks())
        return write_new(self.disk, path, text.blocks(), mode=old.mode, group=old.group)

    def _numbered(self, line: Line, appends: list[Append], staged: Stat, path: Path) -> Line:
        """The line with its place in the chain and what recovery needs to tell how far it came."""
        return replace(
            line,
            seq=self.tip.seq + 1,
            at=to_text(self.clock()),
            sizes={self._relative(item.path): item.size for item in appends},
            base=self.generation.mark,
            queue=staged.mark,
            staged=path.name,
            settings=self._recorded_settings(),
        )

    def _record_and_swap(self, line: Line, appends: list[Append], path: Path, staged: Stat) -> Path | None:
        """From the ledger line to the swap; an error takes back what was done of it."""
        before = self.tip
        self._append_line(line)
        try:
            for item in appends:
                self._append(item)
            return self._swap(path)
        except BaseException as error:
            found = self.disk.stat(self.layout.queue)
            if found is not None and found.ino == staged.ino:
                if isinstance(error, OSError):
                    raise Uncertain("writing failed after the queue was replaced") from error
                raise
            self._take_back(before, line, appends)
            raise

    def _check_unchanged(self) -> None:
        """Refuse to go on under a lock that was taken away, or on a queue that somebody else wrote."""
        lock = self.disk.stat(self.layout.lock)
        if lock is None or lock.ino != self.lock.ino:
            raise TeamError(
                Code.STORE_FAILED,
                f"the lock file {self.layout.lock} was removed or the folder was moved while it was held",
                "Nothing was changed. Try again, and never delete the lock file.",
            )
        found = self.disk.stat(self.layout.queue)
        if (found.mark if found else None) != self.generation.mark and self.patience > 0:
            self.patience -= 1
            raise Slipped

    def _recorded_settings(self) -> dict[str, object]:
        """The text once, whenever it changed; after that each line says where it stands."""
        known = self.tip.settings
        if self.in_force is None or known.get("sha256") == digest(self.in_force):
            return known
        return on_record(self.in_force)

    def _append_line(self, line: Line) -> None:
        try:
            self.tip = self.ledger.append(line, self.tip, mode=self.mode)
        except OutcomeUnknown as error:
            raise Uncertain(f"the ledger could not be written: {error.strerror}") from error

    def _append(self, item: Append) -> None:
        append(self.disk, item.path, item.data, mode=self.mode)
        if item.fresh:
            self.disk.sync_folder(item.path.parent)

    def _swap(self, staged: Path) -> Path | None:
        """Put the staged file in the queue's place; what it displaced keeps a name of its own, given back."""
        queue = self.layout.queue
        if self.generation.stat is None:
            linked = self._link(staged, queue)
            if linked:
                self.disk.unlink(staged)
                return None
        if self.disk.stat(queue) is not None and self.disk.exchange(staged, queue):
            return staged
        kept = staged.with_name(staged.name + KEPT)
        linked = self.disk.stat(queue) is not None and self._link(queue, kept)
        self.disk.rename(staged, queue)
        return kept if linked else None

    def _link(self, source: Path, target: Path) -> bool:
        """Give a second name; False when the target exists or the file system knows no links."""
        try:
            self.disk.link(source, target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return False
        return True

    def _take_back(self, before: Tip, line: Line, appends: list[Append]) -> None:
        """Undo the appends and the ledger line after an error that came before the swap."""
        try:
            for item in appends:
                now = self.disk.stat(item.path)
                if now is not None and now.size > item.size:
                    cut(self.disk, item.path, item.size)
        except OSError as error:
            raise Uncertain(f"writing failed and could not be taken back: {error.strerror}") from error
        try:
            self.ledger.take_back(before)
            self.tip = before
        except OSError as error:
            self._void(line, error)

    def _void(self, line: Line, cause: OSError) -> None:
        """The ledger cannot be cut: declare its last line undone by another."""
        abort = Line("system", "abort", {"aborted": line.seq, "error": cause.strerror}, void=line.seq)
        try:
            self.write_line(abort)
        except (OSError, Uncertain):
            raise Uncertain(f"writing failed and could not be taken back: {cause.strerror}") from cause

    def _remove(self, *paths: Path) -> None:
        for path in paths:
            with contextlib.suppress(OSError):
                if self.disk.stat(path) is not None:
                    self.disk.unlink(path)

    def _finish(self, text: QueueText, staged: Stat, displaced: Path | None) -> bool:
        """After the swap: keep the old generation as `.prev`, make names durable; whether it was the one we read."""
        old = self.generation
        self.generation = Generation(text, staged)
        self.reached = self.tip.seq
        self.archives.forget()
        try:
            found = self.disk.stat(displaced) if displaced is not None else None
            alone = found is None or found.mark == old.mark
            if displaced is not None and found is not None:
                keep_as_previous(self, displaced, ours=alone)
            self.disk.sync_folder(self.layout.folder)
        except OSError as error:
            raise Uncertain(f"the new queue may not be durable: {error.strerror}") from error
        return alone

    def _attach(self, attachments: Mapping[str, bytes], made: list[Path]) -> None:
        """Attachments are there before the line that refers to them; their names say their content."""
        for reference, data in attachments.items():
            path = self.layout.folder / reference
            self.notices += make_room(self.disk, self.layout, path, stamp=self.stamp(), mode=self.mode)
            if self._is_attached(path, data):
                continue
            if self.disk.stat(path) is not None:
                self.notices.append(move_aside(self.disk, path, "not what it is named after", stamp=self.stamp()))
            staged = self.layout.stage()
            write_new(self.disk, staged, data, mode=self.mode)
            self.disk.rename(staged, path)
            made.append(path)
            self.disk.sync_folder(path.parent)

    def _is_attached(self, path: Path, data: bytes) -> bool:
        """Whether the file is there already; the name says its content, and others may have changed that."""
        found = self.disk.stat(path)
        return found is not None and found.size == len(data) and self.disk.read(path)[0] == data

    def _relative(self, path: Path) -> str:
        return str(path.relative_to(self.layout.folder)) if path.is_relative_to(self.layout.folder) else str(path)


def keep_as_previous(queue: LockedQueue, displaced: Path, *, ours: bool) -> None:
    """Give a displaced generation the name `.prev`.

    Where something is in the way that cannot be replaced (a folder, a file that may not be touched), a generation
    of `ours` keeps a name of its own: what was built upon it stands. One of somebody else has to be merged yet.

    Raises:
        OSError: It could not be renamed.
    """
    layout = queue.layout
    try:
        queue.disk.rename(displaced, layout.prev)
        return
    except OSError as error:
        if not ours or error.errno not in _BLOCKED:
            raise
        why = error.strerror or str(error)
    aside = layout.queue.with_name(f"{layout.queue.name}.torn-{queue.stamp()}")
    queue.disk.rename(displaced, aside)
    text = f"{layout.prev.name} cannot be replaced ({why}); the generation before was kept as {aside.name}"
    queue.notices.append(Problem("PREV_BLOCKED", "warning", layout.prev.name, text, f"Move {layout.prev} away."))


def failure(queue: Path, error: OSError, *, needed: int = 0) -> TeamError:
    """The error for what the system refused before anything was changed; `needed` bytes would have been written."""
    path = error.filename or queue
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
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
