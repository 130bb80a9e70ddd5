"""Makes one unit of work durable, all of it or nothing: stage, ledger line, archives, swap, folder.

The ledger line is the commit point. What follows it can be done again from the line, so a crash at any
place leaves a state that the next lock holder finishes or takes back (`RELIABILITY.md` section 4).
"""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path

from msgspec import Struct, field

from store.backends.yamlteam.appends import Append, make_folder, plan_appends
from store.backends.yamlteam.archives import Archives
from store.backends.yamlteam.codec import CodecError, QueueText
from store.backends.yamlteam.disk import Disk, Held, Mark, Stat
from store.backends.yamlteam.files import NOT_PLAIN, Unsettled, append, cut, shared_mode, write_new
from store.backends.yamlteam.generation import Generation
from store.backends.yamlteam.layout import Layout
from store.backends.yamlteam.ledger import Ledger, Line, Tip
from store.backends.yamlteam.lock import not_writable
from store.backends.yamlteam.work import Work, apply
from store.clock import Clock, to_text
from store.errors import Code, TeamError
from store.settings_loss import digest, on_record
from store.team import Problem

KEPT = ".old"
"""Added to a staging file's name for the generation it replaced, where names cannot be exchanged."""
_NO_LINKS = frozenset({errno.EEXIST, errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
_LOOK = "Look into the cause and repeat it."
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Slipped(Exception):
    """Somebody wrote the queue since it was read; nothing of ours is there yet."""


class Uncertain(Exception):
    """Writing failed at a point where the outcome cannot be told; the next lock holder settles it."""


class Store(Struct):
    """The files of one team while the lock is held.

    Attributes:
        generation: The queue as last read or written.
        agreed: The queue as it was when everything last agreed in this turn, None before that; unlike
            `generation` it never holds what somebody else wrote and nobody has compared yet.
        tip: The end of the ledger.
        settled: Whether ledger, archives and queue agree, so that the lock may be released as clean.
        notices: What was repaired.
        patience: How often we begin anew when somebody writes meanwhile. After that we swap all the same and
            merge what the swap displaced, so that a busy writer cannot keep us from ever finishing.
        settings: Text of the settings in force as read in this turn, None while that is not known: what the ledger says
            of them goes on.
        intruded: Whether our last swap displaced a generation of somebody else; `.prev` holds it.
    """

    disk: Disk
    layout: Layout
    held: Held
    clock: Clock
    ledger: Ledger
    archives: Archives
    generation: Generation
    tip: Tip = field(default_factory=Tip)
    agreed: Generation | None = None
    settled: bool = False
    notices: list[Problem] = field(default_factory=list)
    intruded: bool = False
    patience: int = 3
    settings: bytes | None = None

    @property
    def mode(self) -> int:
        """Permission bits of new files other than the queue."""
        return shared_mode(self.generation.stat)

    def stamp(self) -> str:
        """The time as part of a file name."""
        return to_text(self.clock()).replace(":", "").replace("-", "")

    def commit(self, work: Work) -> None:
        """Make `work` durable.

        Raises:
            Slipped: The queue is no longer what it was when it was read; settle and try again.
            TeamError: `STORE_FAILED`: nothing was changed, or, when the text says so, the outcome is unknown;
                `INVALID_FIELD` for text that YAML cannot hold; `READ_ONLY` when permissions forbid it.
        """
        try:
            text = apply(self.generation.text, work)
            self._stage_and_swap(work, text, self._appends(work, text))
        except CodecError as error:
            what = f"the message cannot be written: {error.message}"
            raise TeamError(Code.INVALID_FIELD, what, error.hint) from error
        except OSError as error:
            raise self._failure(error, work) from error
        except Uncertain as error:
            raise TeamError(
                Code.STORE_FAILED,
                f"{self.layout.queue}: {error}; the outcome is unknown",
                "Repeat it with the same id: what was done is not done twice.",
            ) from error

    def _appends(self, work: Work, text: QueueText) -> list[Append]:
        appends, problems = plan_appends(
            self.disk,
            self.layout,
            self.archives,
            work,
            text,
            stamp=self.stamp(),
            mode=self.mode,
        )
        self.notices += problems
        return appends

    def _stage_and_swap(self, work: Work, text: QueueText, appends: list[Append]) -> None:
        path = self.layout.stage()
        made: list[Path] = []
        before, was_settled = self.tip, self.settled
        try:
            self._attach(work, made)
            staged = self._stage(path, text)
            self._check_unchanged()
            self.settled = False
            displaced = self._record_and_swap(self._line(work, appends, staged.mark, path.name), appends, path, staged)
        except (OSError, TeamError, Slipped):
            if self.tip is before:
                self._remove(path, *made)
                self.settled = was_settled
            raise
        except BaseException:
            if self.tip is before:
                self._remove(path)
            raise
        self._finish(text, staged, displaced)
        self.settled = was_settled

    def _stage(self, path: Path, text: QueueText) -> Stat:
        old = self.generation.stat
        if old is None:
            return write_new(self.disk, path, text.data())
        return write_new(self.disk, path, text.data(), mode=old.mode, group=old.group)

    def _record_and_swap(self, line: Line, appends: list[Append], path: Path, staged: Stat) -> Path | None:
        """From the ledger line to the swap; an error takes back what was done of it."""
        before = self.tip
        self._append_line(line)
        try:
            for one in appends:
                self._append(one)
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
        if lock is None or lock.ino != self.held.ino:
            raise TeamError(
                Code.STORE_FAILED,
                f"the lock file {self.layout.lock} was removed or the folder was moved while it was held",
                "Nothing was changed. Try again, and never delete the lock file.",
            )
        found = self.disk.stat(self.layout.queue)
        if (found.mark if found else None) != self.generation.mark and self.patience > 0:
            self.patience -= 1
            raise Slipped

    def _line(self, work: Work, appends: list[Append], queue: Mark | None, name: str = "") -> Line:
        return Line(
            seq=self.tip.seq + 1,
            at=to_text(self.clock()),
            actor=work.actor,
            action=work.action,
            facts=work.facts,
            also=work.also,
            writes=tuple(dict(one.record) for one in work.adds),
            changes=tuple((message_id, dict(change.keys)) for message_id, change in work.changes.items()),
            removed=work.removed,
            archived=work.archived,
            pushed=work.pushed,
            noted=work.noted,
            void=work.void,
            sizes={self._relative(one.path): one.size for one in appends},
            base=self.generation.mark,
            queue=queue,
            staged=name,
            settings=self._in_force(),
        )

    def _in_force(self) -> dict[str, object]:
        """The text once, whenever it changed; after that each line says where it stands."""
        known = self.tip.settings
        if self.settings is None or known.get("sha256") == digest(self.settings):
            return known
        return on_record(self.settings)

    def _append_line(self, line: Line) -> None:
        try:
            self.tip = self.ledger.append(line, self.tip, mode=self.mode)
        except Unsettled as error:
            raise Uncertain(f"the ledger could not be written: {error.strerror}") from error

    def write_line(self, work: Work) -> None:
        """Put a line on record that changes no file but the ledger."""
        self._append_line(self._line(work, [], self.generation.mark))

    def _append(self, one: Append) -> None:
        append(self.disk, one.path, one.data, mode=self.mode)
        if one.fresh:
            self.disk.sync_folder(one.path.parent)

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
            for one in appends:
                now = self.disk.stat(one.path)
                if now is not None and now.size > one.size:
                    cut(self.disk, one.path, one.size)
        except OSError as error:
            raise Uncertain(f"writing failed and could not be taken back: {error.strerror}") from error
        try:
            self.ledger.take_back(before)
            self.tip = before
        except OSError as error:
            self._void(line, error)

    def _void(self, line: Line, cause: OSError) -> None:
        """The ledger cannot be cut: declare its last line undone by another."""
        abort = Work("system", "abort", {"aborted": line.seq, "error": cause.strerror}, void=line.seq)
        try:
            self.write_line(abort)
        except (OSError, Uncertain):
            raise Uncertain(f"writing failed and could not be taken back: {cause.strerror}") from cause

    def _remove(self, *paths: Path) -> None:
        for path in paths:
            with contextlib.suppress(OSError):
                if self.disk.stat(path) is not None:
                    self.disk.unlink(path)

    def _finish(self, text: QueueText, staged: Stat, displaced: Path | None) -> None:
        """After the swap: keep the old generation as `.prev`, make the names durable, look what was displaced."""
        old = self.generation
        self.generation = self.agreed = Generation(text, staged)
        self.archives.forget()
        try:
            found = self.disk.stat(displaced) if displaced is not None else None
            if displaced is not None and found is not None:
                self.intruded = found.mark != old.mark
                self.disk.rename(displaced, self.layout.prev)
            self.disk.sync_folder(self.layout.folder)
        except OSError as error:
            raise Uncertain(f"the new queue may not be durable: {error.strerror}") from error

    def _attach(self, work: Work, made: list[Path]) -> None:
        """Attachments are there before the line that refers to them; their names say their content."""
        for reference, data in work.attachments.items():
            path = self.layout.folder / reference
            make_folder(self.disk, path.parent, mode=self.mode)
            if self.disk.stat(path) is None:
                staged = self.layout.stage()
                write_new(self.disk, staged, data, mode=self.mode)
                self.disk.rename(staged, path)
                made.append(path)
                self.disk.sync_folder(path.parent)

    def _relative(self, path: Path) -> str:
        return str(path.relative_to(self.layout.folder)) if path.is_relative_to(self.layout.folder) else str(path)

    def _failure(self, error: OSError, work: Work) -> TeamError:
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            return not_writable(Path(str(error.filename or self.layout.queue)), error)
        needed = sum(len(one.content) for one in work.adds) + len(self.generation.text.data())
        full = f"; {needed} bytes are needed" if error.errno in _FULL else ""
        other = "Move it away: it must be a plain file." if error.errno in NOT_PLAIN else _LOOK
        return TeamError(
            Code.STORE_FAILED,
            f"{error.filename or self.layout.queue}: {error.strerror or error}; nothing was changed{full}",
            "Free space on that disk and repeat it." if full else other,
            errno=error.errno,
        )
