"""Copies that programs for synced folders leave beside a queue or an archive when two machines wrote at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from msgspec import Struct
from team_console.store.backends.yaml.archives import Archives
from team_console.store.backends.yaml.disk import Disk, FileVersion
from team_console.store.backends.yaml.layout import Layout, archive_part, names_in
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.backends.yaml.queue_file import QueueFile
from team_console.store.contract.problem_codes import CONFLICTED_COPY
from team_console.store.model.counted import counted
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.message import Message, ids_of
from team_console.store.model.message_copies import is_copy

_LARGEST = 32 << 20
"""Bytes of a copy in which messages are counted."""
_MOST = 50
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
