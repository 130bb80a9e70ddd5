"""What lies beside the queue and deserves a look: torn ends, rejected messages, healings, permissions, copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from msgspec import Struct
from team_console.store.backends.locked_files import missing_locks
from team_console.store.backends.presence_folder import PresenceFolder
from team_console.store.backends.yaml.archives import Archives
from team_console.store.backends.yaml.audit_trail import AuditTrail, TransactionLine
from team_console.store.backends.yaml.commit import ASIDE, is_no_folder
from team_console.store.backends.yaml.disk import Disk, FileVersion
from team_console.store.backends.yaml.layout import (
    Layout,
    archive_part,
    is_private_to_other,
    leads_out,
    names_in,
    private_problem,
)
from team_console.store.backends.yaml.lock import parse_released
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.backends.yaml.queue_file import QueueFile
from team_console.store.backends.yaml.recovery import audit_problem
from team_console.store.contract.snapshot import CONFLICTED_COPY, NO_LOCKS, NO_LOCKS_HINT
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.message import Message, ids_of, is_copy
from team_console.store.model.safe import counted

_LARGEST = 32 << 20
"""Bytes of a copy in which messages are counted."""
_MOST = 50
"""Copies that are looked at."""
_SYNCED = re.compile(
    r"(?P<stem>.+?)(?: \((?P<words>[^()]*(?:\([^()]*\)[^()]*)*)\)"  # (Anna's conflicted copy 2026-11-27)
    r"|\.sync-conflict-[0-9]{8}-[0-9]{6}(?:-[A-Z0-9]+)?"  # Syncthing
    r"|_conflict-[0-9]{8}-[0-9]{6}"  # ownCloud
    r"| (?P<number>[0-9]{1,3}))(?P<end>\.[^.]+)"  # iCloud: name 2.yaml
)
_CONFLICT = re.compile(r"(?i)conflict|konflikt|conflit|conflitt|conflicto|конфликт|冲突|衝突|競合|충돌")


class ConflictedCopies(Struct):
    """Looks for copies, and for what is only in them; a copy that did not change is read once."""

    disk: Disk
    layout: Layout
    seen: dict[tuple[str, FileVersion], tuple[Message, ...] | None] = {}
    told: dict[tuple[str, FileVersion, FileVersion | None], Problem | None] = {}

    def problems(self, queue: QueueFile | None) -> list[Problem]:
        """Return each copy that a program for synced folders made; of a mere `name (1)` only one with news."""
        found = [*self._copies()][:_MOST]
        if not found:
            return []
        mark = queue.mark if queue is not None else None
        before, self.told = self.told, {}
        archives = Archives(self.disk, self.layout)
        for path, is_sure in found:
            stat = self.disk.stat(path)
            if stat is None or stat.kind != "file":
                continue
            key = str(path), stat.mark, mark
            if key not in before:
                before[key] = self._problem(path, stat.mark, is_sure, queue, archives)
            self.told[key] = before[key]
        return [problem for problem in self.told.values() if problem is not None]

    def _copies(self) -> Iterator[tuple[Path, bool]]:
        """Yield each file whose name is that of the queue or of an archive with words for a copy in it."""
        layout = self.layout
        for folder in dict.fromkeys((layout.folder, layout.archives)):
            for name in names_in(self.disk, layout, folder):
                match = _SYNCED.fullmatch(name)
                if match is None:
                    continue
                base = match["stem"] + match["end"]
                if not (folder / base == layout.queue or (folder == layout.archives and archive_part(base))):
                    continue
                words = match["words"]
                is_sure = words is None or _CONFLICT.search(words) is not None
                if is_sure or words.isdigit():
                    yield folder / name, is_sure

    def _problem(
        self, path: Path, mark: FileVersion, is_sure: bool, queue: QueueFile | None, archives: Archives
    ) -> Problem | None:
        """Return what to tell of one copy; None where it need not be one, or nothing is only there."""
        messages = self._messages(path, mark)
        place = path.name if path.parent == self.layout.folder else f"{path.parent.name}/{path.name}"
        what = f"{place} is a copy that a synced folder made when two machines wrote at once"
        if messages is None:
            if not is_sure:
                return None
            hint = "It cannot be read, so it is not known what is only there. Look into it before you delete it."
            return Problem(CONFLICTED_COPY, "warning", place, what, hint)
        try:
            new = self._only_there(messages, queue, archives)
        except (TeamError, OSError):
            new = list(messages)
        if not new:
            if not is_sure:
                return None
            hint = f"Every message in it is elsewhere, too; delete it: rm {quote(str(path))}"
            return Problem(CONFLICTED_COPY, "notice", place, f"{what}; nothing is only there", hint)
        ids = ", ".join(ids_of(new[:3]))
        text = f"{what}: {counted(len(new), 'message')} in it {'is' if len(new) == 1 else 'are'} nowhere else ({ids})"
        drop = quote(str(self.layout.drop))
        hint = f"For the next write to take them in: mkdir -p {drop} && cp {quote(str(path))} {drop}/copy.yaml"
        return Problem(CONFLICTED_COPY, "warning", place, text, hint)

    def _messages(self, path: Path, mark: FileVersion) -> tuple[Message, ...] | None:
        """Return the messages in a copy, read once; None where it cannot be read."""
        key = str(path), mark
        if key not in self.seen:
            try:
                data = self.disk.read(path)[0] if mark[1] <= _LARGEST else None
                self.seen[key] = QueueText.parse(data, every_list=True).messages() if data is not None else None
            except (TextError, OSError):
                self.seen[key] = None
        return self.seen[key]

    @staticmethod
    def _only_there(messages: tuple[Message, ...], queue: QueueFile | None, archives: Archives) -> list[Message]:
        """Return the messages of a copy that are neither in the queue nor in an archive."""
        left = []
        for message in messages:
            here = queue.text.message(message.message_id) if queue is not None else None
            if here is None or not is_copy(here, message):
                left.append(message)
        archives.expect(ids_of(left))
        return [message for message in left if not archives.has_copy_of(message)]


_RECENT = 20
_COUNTS = (
    ("restored", "message", "put back"),
    ("changed", "state", "put back"),
    ("removed", "archived message", "taken out again"),
)


class FolderHealth(Struct):
    """Looks at the other files of a team; at the trail only when it changed.

    Attributes:
        of_trail: What the last look at the trail found, behind its mark and the lock file's text then.
        locks: Why the file system has no locks; empty where it has them, None until it was asked.
    """

    disk: Disk
    layout: Layout
    copies: ConflictedCopies
    of_trail: tuple[object, list[Problem]] = (None, [])
    locks: str | None = None

    def problems(self, queue: QueueFile | None, lock_text: bytes) -> list[Problem]:
        """Return everything to tell, and what of it cannot be looked at; `lock_text` is what the lock file says."""
        found = _loose_mode(self.layout, queue)
        looks = (
            (self._leftovers, self.layout.folder),
            (lambda: self._problems_of_trail(lock_text), self.layout.audit),
            (lambda: self.copies.problems(queue), self.layout.folder),
            (self._folders, self.layout.folder),
            (self._no_lock_file, self.layout.lock),
        )
        for look, path in looks:
            try:
                found += look()
            except OSError as error:
                if not is_private_to_other(error):
                    found.append(_unusable_file(Path(error.filename or path), error.strerror or str(error)))
        closed = private_problem(self.layout)
        found += [closed] if closed is not None else []
        return found + self._without_locks(queue)

    def _without_locks(self, queue: QueueFile | None) -> list[Problem]:
        """Say that nobody can write because the file system has no locks; asked once."""
        if self.locks is None and queue is not None and queue.stat is not None:
            self.locks = missing_locks(self.layout.queue)
        if not self.locks:
            return []
        text = f"{self.layout.folder} is on a file system without locks ({self.locks}): nobody can write to this team"
        return [Problem(NO_LOCKS, "error", str(self.layout.folder), text, NO_LOCKS_HINT)]

    def _folders(self) -> list[Problem]:
        """Return findings on what stands in place of a folder: nothing is written through a link out of the team."""
        found: list[Problem] = []
        layout = self.layout
        for folder in (layout.archives, layout.inboxes, layout.attachments, layout.drop):
            there = self.disk.stat(folder)
            if there is None or there.kind == "folder":  # as nearly always: what follows looks again and closer
                continue
            if is_no_folder(self.disk, folder):
                found.append(_unusable_file(folder, "not a folder"))
            elif leads_out(self.disk, layout, folder):
                text = f"{folder} is a link that leads out of the team, and is not followed"
                hint = f"Remove the link: rm {folder}; the folder is made when it is needed."
                found.append(Problem("LINK_OUT", "error", str(folder), text, hint))
        return [*found, *PresenceFolder(layout.presence).problems()]

    def _no_lock_file(self) -> list[Problem]:
        """Return the finding that something else stands in place of the lock file."""
        lock = self.disk.stat(self.layout.lock)
        if lock is None or lock.kind == "file":
            return []
        return [_unusable_file(self.layout.lock, "not a plain file", "Nothing can be written while it is so.")]

    def _leftovers(self) -> list[Problem]:
        """Return findings on torn ends, on what was moved aside, and on rejected messages."""
        layout, found = self.layout, list[Problem]()
        for name in (*self.disk.names(layout.folder), *names_in(self.disk, layout, layout.archives)):
            if ".torn-" in name:
                text = f"{name} holds what a crash or another program left unfinished"
                hint = "Look into it before you delete it: it may hold whole records."
                found.append(Problem("TORN_END", "notice", name, text, hint))
            elif ASIDE in name:
                text = f"{name} stood in the place of a file of the team and was moved aside"
                found.append(Problem("SET_ASIDE", "notice", name, text, "Find out who put it there, and delete it."))
        hint = "It is no message, or another one has its id. Correct it and move it into drop/ again, or delete it."
        for name in names_in(self.disk, layout, layout.rejected):
            place = f"drop/rejected/{name}"
            found.append(Problem("DROP_REJECTED", "warning", place, f"{place} was not taken in", hint))
        return found

    def _problems_of_trail(self, lock_text: bytes) -> list[Problem]:
        """Return healings among the trail's last lines, and what it lacks of what was written."""
        found = self.disk.stat(self.layout.audit)
        key = found.mark if found else None, lock_text
        if found is None or self.of_trail[0] != key:
            trail = AuditTrail(self.disk, self.layout.audit)
            lines = trail.last(_RECENT)
            lost = audit_problem(self.disk, self.layout, parse_released(lock_text), trail.tip().seq)
            told = [_healing_notice(line) for line in lines if line.action == "heal"]
            self.of_trail = key, [lost, *told] if lost is not None else told
        return self.of_trail[1]


def _healing_notice(line: TransactionLine) -> Problem:
    """Tell of a repair that a line of the trail has."""
    facts = line.facts
    if "completed" in facts:
        text = f"{facts.get('action')} was cut short and was finished"
    else:
        counts = [(facts[name], *what) for name, *what in _COUNTS if isinstance(facts.get(name), list) and facts[name]]
        text = "; ".join(f"{counted(len(ids), noun)} {done}" for ids, noun, done in counts)
        text = text or "what another program wrote was taken over"
    return Problem("HEALED", "notice", f"audit.jsonl, line {line.seq}", f"{line.at}: {text}")


def _unusable_file(path: Path, why: str, until: str = "The next write moves it aside if it can.") -> Problem:
    """Return the finding on what cannot be used as it should; `until` says what is so meanwhile."""
    hint = f"{until} Look at what is there: ls -ld {path}"
    return Problem("UNUSABLE_FILE", "error", str(path), f"{path} cannot be used: {why}", hint)


def _loose_mode(layout: Layout, queue: QueueFile | None) -> list[Problem]:
    """Tell of a queue that everybody on the machine may write."""
    if queue is None or queue.stat is None or not queue.stat.mode & 0o002:
        return []
    text = f"everybody on this machine may write {layout.queue.name} (mode {queue.stat.mode:04o})"
    return [Problem("LOOSE_MODE", "warning", str(layout.queue), text, f"chmod o-w {layout.queue}")]
