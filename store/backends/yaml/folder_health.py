"""Find what is wrong with the files of a team: leftovers, copies, losses, and what other programs did to the queue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shlex import quote

from msgspec import Struct
from team_console.store.backends.locked_files import missing_locks
from team_console.store.backends.presence_folder import PresenceFolder
from team_console.store.backends.yaml.archives import Archives, closed_ids, usable_size
from team_console.store.backends.yaml.audit_trail import AuditTrail, TransactionLine
from team_console.store.backends.yaml.commit import ASIDE, is_no_folder
from team_console.store.backends.yaml.disk import Disk, FileVersion
from team_console.store.backends.yaml.entry_format import TextError
from team_console.store.backends.yaml.healing import (
    CHANGED,
    HEALED_ANSWER,
    HEALED_CUT,
    HEALED_LOST,
    HEALED_STATE,
    ExpectedQueue,
    MessagesById,
    reconcile,
)
from team_console.store.backends.yaml.layout import (
    Layout,
    archive_part,
    is_private_to_other,
    leads_out,
    names_in,
    private_problem,
)
from team_console.store.backends.yaml.lock import ReleaseMark, parse_released, read_text
from team_console.store.backends.yaml.queue import QueueFile, QueueText
from team_console.store.backends.yaml.recovery import audit_problem, is_cut_short
from team_console.store.contract.snapshot import (
    ARCHIVE_LOST,
    AUDIT_LOST,
    CONFLICTED_COPY,
    FOREIGN_WRITE,
    NO_LOCKS,
    NO_LOCKS_HINT,
    ROLLED_BACK,
)
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.message import Message, Status, ids_of, is_copy
from team_console.store.model.names import is_name
from team_console.store.model.safe import counted, safe_line

_LARGEST_COPY = 32 << 20
"""Bytes of a copy in which messages are counted."""
_MOST_COPIES = 50
"""Copies that are looked at."""
_SYNCED = re.compile(
    r"(?P<stem>.+?)(?: \((?P<words>[^()]*(?:\([^()]*\)[^()]*)*)\)"  # (Anna's conflicted copy 2026-11-27)
    r"|\.sync-conflict-[0-9]{8}-[0-9]{6}(?:-[A-Z0-9]+)?"  # Syncthing
    r"|_conflict-[0-9]{8}-[0-9]{6}"  # ownCloud
    r"| (?P<number>[0-9]{1,3}))(?P<end>\.[^.]+)"  # iCloud: name 2.yaml
)
"""The name of a copy that a program which syncs folders made: the name before it, and what it put in between."""
_CONFLICT = re.compile(r"(?i)conflict|konflikt|conflit|conflitt|conflicto|конфликт|冲突|衝突|競合|충돌")
"""How words in parentheses say, in several languages, that two wrote at once: `name (2).yaml` may be any copy."""


class ConflictedCopies(Struct):
    """Looks for copies, and for what is only in them; a copy that did not change is read once."""

    disk: Disk
    layout: Layout
    seen: dict[tuple[str, FileVersion], tuple[Message, ...] | None] = {}
    told: dict[tuple[str, FileVersion, FileVersion | None], Problem | None] = {}

    def problems(self, queue: QueueFile | None) -> list[Problem]:
        """Return each copy that a program for synced folders made; of a mere `name (1)` only one with news."""
        found = [*self._copies()][:_MOST_COPIES]
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
                data = self.disk.read(path)[0] if mark[1] <= _LARGEST_COPY else None
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
"""Lines at the end of the trail of which healings are told."""
_HEALED = (
    ("restored", "message", "put back"),
    ("changed", "state", "put back"),
    ("removed", "archived message", "taken out again"),
)
"""Fact of a line that healed, what its ids stand for, and what was done with it."""


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
        counts = [(facts[name], *what) for name, *what in _HEALED if isinstance(facts.get(name), list) and facts[name]]
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


# What archives and the audit trail have lost, by the trail's end and the lock file.

_DELETE_ARCHIVED = "delete_archived"
"""The one action that takes messages out of archives; its fact `left` says what stays of which file."""
_LOOK_BACK = 1 << 19
"""Bytes of the trail's end that are believed; what older lines say is not looked at."""
_SPAN = 1 << 21
"""Bytes at the end of each part of an archive in which messages are looked for."""
_ASKED = 20
"""How many missing messages are looked for in whole files, one by one."""
_TRIES = 3
"""How often it is looked again while somebody writes."""
_RECOVERY = frozenset({"heal", "undo", "abort"})
"""Actions of lines that finish or take back what a line before them began."""
_RESTORE = "Restore it from a copy; until then history shows only what is left."


Claims = dict[str, tuple[int, set[str]]]
"""What must be in the archives of each agent: bytes that the current file has at least, ids of messages they hold."""


def _claims(lines: Iterable[TransactionLine]) -> Claims:
    """Collect what lines of the trail, newest first, say of archives; what a deletion shortened ends it for an agent.

    A line that was declared undone says nothing, and a deletion that does not say what it left ends all of it.
    """
    claims: Claims = {}
    undone, shortened = set[int](), set[str]()
    for line in lines:
        undone.add(line.void)
        if line.seq in undone:
            continue
        left = _sizes_left(line)
        if left is None:
            break
        for name, size in left.items():
            agent, number = archive_part(name) or ("", None)
            if number is None and is_name(agent) and agent not in shortened:
                claims.setdefault(agent, (size, set()))
            shortened.add(agent)
        sizes = {archive_part(Path(name).name): size for name, size in line.sizes.items()}
        for agent, message_id, _ in line.archived:
            if (agent, None) in sizes and is_name(agent) and agent not in shortened:
                claims.setdefault(agent, (sizes[agent, None], set()))[1].add(message_id)
    return claims


def history_losses(disk: Disk, layout: Layout) -> tuple[Problem, ...]:
    """Return what archives lack by the audit trail, and harm to the trail; nothing during a write. Takes no lock.

    Legitimate deletions (`Team.delete_archived`) are on the trail themselves.
    """
    for _ in range(_TRIES):
        before = _marks_of_trail(disk, layout)
        try:
            found = _find_losses(disk, layout)
        except FileNotFoundError:
            continue
        except TeamError:
            return ()
        except OSError as error:
            return () if is_private_to_other(error) else (_unreadable(layout, error),)
        if not found or _marks_of_trail(disk, layout) == before:
            return found
    return ()


def _unreadable(layout: Layout, error: OSError) -> Problem:
    """Return the finding that archives were not checked, since something could not be read."""
    text = f"{error.filename or layout.audit} cannot be read: {error.strerror or error}; archives were not checked"
    return Problem(AUDIT_LOST, "error", layout.audit.name, text, "Look at what is there and its permissions.")


def _marks_of_trail(disk: Disk, layout: Layout) -> object:
    """Return what trail and lock file are now; compare for equality only."""
    found = disk.stat(layout.audit)
    return found.mark if found else None, read_text(disk, layout.lock)


def _find_losses(disk: Disk, layout: Layout) -> tuple[Problem, ...]:
    """Return what the trail lacks by the lock file, and the archives by the trail, as far as both are finished."""
    released = parse_released(read_text(disk, layout.lock))
    trail = AuditTrail(disk, layout.audit)
    lines = trail.last(window=_LOOK_BACK)
    lost = audit_problem(disk, layout, released, trail.tip().seq)
    finished = released.seq if released is not None else _finished_through(lines)
    claims = _claims(line for line in reversed(lines) if line.seq <= finished)
    archives = Archives(disk, layout)
    checked = (_archive_loss(disk, layout, archives, agent, *claim) for agent, claim in sorted(claims.items()))
    return tuple(problem for problem in (lost, *checked) if problem is not None)


def _finished_through(lines: Sequence[TransactionLine]) -> int:
    """Return the number of the last line that surely reached the archives while somebody writes, or died in writing.

    The last line may be under way. A recovery cuts archives before it does or undoes the line before its own again.
    """
    end = len(lines)
    while end and lines[end - 1].action in _RECOVERY:
        end -= 1
    return lines[end - 2].seq if end > 1 else 0


def _sizes_left(line: TransactionLine) -> dict[str, int] | None:
    """Return the size of each file that a deletion shortened; None for a deletion that does not say."""
    for action, facts in ((line.action, line.facts), *line.also):
        if action == _DELETE_ARCHIVED:
            left = facts.get("left")
            if not isinstance(left, dict):
                return None
            return {name: size for name, size in left.items() if isinstance(size, int)}
    return {}


def _archive_loss(
    disk: Disk, layout: Layout, archives: Archives, agent: str, least: int, claimed: set[str]
) -> Problem | None:
    """Return what the archive of an agent lacks of what is claimed of it; None where it lacks nothing.

    Args:
        least: Bytes that its current file has had.
        claimed: Ids of messages that were put into it.
    """
    files = archives.files(agent)
    try:
        found = [(path, usable_size(disk, path)) for path in files]
    except OSError:  # told with the history
        return None
    missing = _missing(disk, archives, agent, found, claimed)
    size = max((size for _, size in found), default=0)
    if not missing and size >= least:
        return None
    what = f"the archive of {agent} lacks what was put into it" if missing else f"the archive of {agent} was cut short"
    if not files:
        what = f"the archive of {agent} is gone"
    if missing:
        what += f": {counted(len(missing), 'message')}, {safe_line(min(missing), 64)} among them"
    elif files:
        what += f": {size:,} bytes are there, and {least:,} were"
    place = f"{layout.archives.name}/{archives.current(agent).name}"
    return Problem(ARCHIVE_LOST, "error", place, f"{what} (told by {layout.audit.name})", _RESTORE)


def _missing(disk: Disk, archives: Archives, agent: str, found: list[tuple[Path, int]], claimed: set[str]) -> set[str]:
    """Find those of the claimed ids that no file has, newest file and its end first, where they nearly always are."""
    missing = set(claimed)
    for path, size in reversed(found):
        if missing:
            missing -= set(closed_ids(disk.read(path, max(0, size - _SPAN))[0]))
    asked = sorted(missing)[:_ASKED]
    lost = {question for question in asked if archives.find(question, agent) is None}
    return missing if len(lost) == len(asked) else lost


# What a program that does not lock took out of the queue or put back, told before the next write heals it.

_MOST_SEARCHED = 50
"""For how many missing messages the archives are searched."""
_HEAL = "The next write puts back what the audit trail (audit.jsonl) knows; 'team-console check --heal' does it now."
_DONE_TO_QUEUE = {
    HEALED_LOST: "took {} out of the queue",
    HEALED_CUT: "cut {} short",
    HEALED_STATE: "put {} back to an earlier state",
    HEALED_ANSWER: "changed the answers to requests in {}",
}


class ForeignWrite(Struct, frozen=True):
    """What is known of one foreign write.

    Attributes:
        problem: How to tell it.
        missing: Ids of messages that the trail says are in the queue, and that are not.
        changed: Messages that say something else than the trail has of them, told one by one.
    """

    problem: Problem
    missing: frozenset[str] = frozenset()
    changed: tuple[Problem, ...] = ()


class ForeignWrites:
    """Compares a queue that somebody else wrote with the trail, once for each such queue; takes no lock."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._archives = Archives(disk, layout)
        self._found: tuple[tuple[FileVersion, bytes], ForeignWrite | None] | None = None
        """What the last look found, behind the queue's mark and the lock file's text then."""

    def look(self, now: QueueFile, ours: QueueFile | None, lock_text: bytes) -> ForeignWrite | None:
        """Return what the queue lacks; None when that is unknown, or during a write.

        Args:
            ours: The queue as one of us left it, as far as it was seen.
            lock_text: The lock file's text, read after the queue while nobody held the lock.
        """
        mark = now.mark
        if mark is None:
            return None
        key = mark, lock_text
        if self._found is None or self._found[0] != key:
            found = self._compare(now, ours, parse_released(lock_text))
            if not self._is_still(mark, lock_text):
                return None
            self._found = key, found
        return self._found[1]

    def _is_still(self, mark: FileVersion, lock_text: bytes) -> bool:
        """Return whether queue and lock file are what they were, so that nobody wrote while they were compared."""
        found = self._disk.stat(self._layout.queue)
        same = found is not None and found.mark == mark
        return same and read_text(self._disk, self._layout.lock) == lock_text

    def _compare(self, now: QueueFile, ours: QueueFile | None, released: ReleaseMark | None) -> ForeignWrite | None:
        """Return what the queue lacks by our own account; None where nothing can be told."""
        try:
            expected = self._expected(now, ours, released)
            if expected is None:
                return ForeignWrite(_uncompared_write(self._layout)) if released is not None else None
            return _compare_messages(expected, now, self._layout, self._archives)
        except OSError as error:
            return None if is_private_to_other(error) else ForeignWrite(_uncompared_write(self._layout))
        except TeamError:
            return ForeignWrite(_uncompared_write(self._layout))
        finally:
            self._archives.forget()

    def _expected(self, now: QueueFile, ours: QueueFile | None, released: ReleaseMark | None) -> MessagesById | None:
        """Return the content of the queue by our own trail; None without one, or when the queue is as we left it."""
        line = AuditTrail(self._disk, self._layout.audit).tip().line
        if line is None or (released is None and now.mark in (line.queue, line.base)):
            return None
        trusted = released.queue if released is not None else None
        prev = self._disk.stat(self._layout.prev) if released is None else None
        is_before_line = released is None and is_cut_short(line, now, prev)
        return ExpectedQueue(
            self._disk, self._layout, ours or now, line, trusted=trusted, is_before_line=is_before_line
        ).expected()


def _compare_messages(expected: MessagesById, now: QueueFile, layout: Layout, archives: Archives) -> ForeignWrite:
    """Return what the queue lacks of the expected messages, and what else was done to them.

    Read messages are in an archive; of the others that are gone, some may be too when the trail is damaged.
    """
    asked: set[str] = set()

    def is_done(message: Message) -> bool:
        """Return whether a message may be gone: it was expected and read, or an archive has it (asked of some only)."""
        if message.message_id not in expected or message.status == Status.READ:
            return message.message_id in expected
        asked.add(message.message_id)
        return len(asked) <= _MOST_SEARCHED and archives.has_copy_of(message)

    healing = reconcile(expected, now.text, archived=is_done, taken_out=lambda _: False)
    missing = frozenset(ids_of(healing.adds))
    counts = Counter(problem.code for problem in healing.problems)
    words = [text.format(counted(counts[code], "message")) for code, text in _DONE_TO_QUEUE.items() if counts[code]]
    changed = tuple(problem for problem in healing.problems if problem.code == CHANGED)
    if not words:
        return ForeignWrite(_harmless_write(layout), changed=changed)
    text = f"another program {', '.join(words)}"
    return ForeignWrite(Problem(ROLLED_BACK, "error", layout.queue.name, text, _HEAL), missing, changed)


def _uncompared_write(layout: Layout) -> Problem:
    """Return the finding on a foreign write of which the trail cannot say what it changed."""
    text = "the queue was last written by another program"
    hint = "It cannot be compared with the audit trail (audit.jsonl), so it is not known whether messages are missing."
    return Problem(FOREIGN_WRITE, "notice", str(layout.queue), text, hint)


def _harmless_write(layout: Layout) -> Problem:
    """Return the finding on a foreign write by which nothing was lost."""
    text = "another program wrote the queue last; nothing is missing by the audit trail (audit.jsonl)"
    return Problem("UNLOCKED_WRITE", "notice", str(layout.queue), text, "The next write takes over what it added.")
