"""The drop folder: messages that scripts renamed in because they cannot lock; the next lock holder takes them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct
from team_console.store.backends.yaml.audit_trail import TransactionLine
from team_console.store.backends.yaml.commit import LockedTeam, make_folder
from team_console.store.backends.yaml.disk import NOT_PLAIN, Disk, FileVersion
from team_console.store.backends.yaml.entry_format import TextError
from team_console.store.backends.yaml.layout import Layout, is_drop_file, leads_out, names_in
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.contract.snapshot import DROP_UNREADABLE
from team_console.store.model.clock import from_nanoseconds, to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, from_record, ids_of, is_copy
from team_console.store.model.names import is_name
from team_console.store.protocol.verdicts import may_be_verdict
from team_console.store.settings.team_config import TeamConfig

_MAX_BYTES = 4 * 1024 * 1024
_AT_ONCE = 500
"""Files taken in by one turn, so that a full folder does not hold up whoever has the lock; looked at as one part."""
_TOLD = 20
"""Files that stay and are told of one by one; the others are counted, or each write would list them all."""


class DropFolder:
    """The drop folder of a team whose lock is held; `write` commits a line, recovering as often as that is needed."""

    def __init__(self, team: LockedTeam, write: Callable[[TransactionLine], None]) -> None:
        self._team, self._disk, self._layout = team, team.disk, team.layout
        self._write = write
        self._left = 0
        self._spoiled: dict[Path, str] = {}

    def take_in(self) -> None:
        """Put every message in `drop/` into the queue, then remove its file; what is no message goes to `rejected/`.

        A crash in between leaves the file; its messages are known then, so the next turn only removes it.
        """
        folder = self._layout.drop
        if leads_out(self._disk, self._layout, folder):
            text = "drop/ is a link that leads out of the team: nothing is taken from there"
            self._tell(DROP_UNREADABLE, "drop", text, "Make it a folder of the team, or remove the link.")
            return
        paths = [folder / name for name in self._disk.names(folder) if is_drop_file(name)]
        for start in range(0, len(paths), _AT_ONCE):
            self._take_in(paths[start : start + _AT_ONCE])
            # Files that stay do not count: enough of them would keep every later one out for ever.
            if start >= self._left:
                break
        if self._left > _TOLD:
            text = f"{self._left - _TOLD:,} more files in drop/ can be neither taken in nor removed"
            self._tell(DROP_UNREADABLE, "drop", text, _hint_for_left_file(folder))

    def _take_in(self, paths: Iterable[Path]) -> None:
        """Look at all files, write what is new in one line, then remove them."""
        team, taken = self._team, dict[str, Message]()
        fresh: dict[Path, list[Message]] = {}
        clashes: dict[Path, list[str]] = {}
        for path in paths:
            for message in self._read(path, fresh):
                message_id = message.message_id
                known = taken.get(message_id) or team.queue.text.message(message_id) or team.archives.find(message_id)
                if known is None:
                    fresh[path].append(message)
                    taken[message_id] = message
                elif not _was_taken_in(message, known):
                    clashes.setdefault(path, []).append(message_id)
        for path in self._write_all(fresh):
            if path in clashes:
                ids = ", ".join(clashes[path])
                self._reject(path, f"another message has the id {ids} already", "Give it an id of its own and")
            elif path in self._spoiled:
                self._reject(path, f"{self._spoiled.pop(path)}; the other entries of it were taken in")
            else:
                self._clear_away(path)

    def _read(self, path: Path, offered: dict[Path, list[Message]]) -> list[Message]:
        """Return the messages of a file, which is `offered` then; none of one that was rejected, or has to stay."""
        try:
            messages, wrong = read_drop_file(self._disk, path)
            _refuse_verdicts(self._team.settings.config, messages)
            if wrong:
                self._spoiled[path] = wrong
            offered[path] = []
            return messages
        except (TextError, TeamError, ValueError) as error:
            self._reject(path, getattr(error, "message", None) or str(error))
        except OSError as error:
            if error.errno in NOT_PLAIN:
                self._reject(path, error.strerror or str(error))
            else:
                self._leave(path, f"cannot be read: {error.strerror or error}")
        return []

    def _write_all(self, fresh: dict[Path, list[Message]]) -> list[Path]:
        """Write all at once; where one file cannot be written at all, each by itself, that one rejected."""
        messages = [message for found in fresh.values() for message in found]
        ids = ids_of(messages)
        try:
            if messages:
                records = tuple(dict(message.record) for message in messages)
                self._write(TransactionLine("drop", "drop", {"ids": ids}, writes=records))
            return list(fresh)
        except TeamError as error:
            if error.code is not Code.INVALID_FIELD:
                raise
            if len(fresh) > 1:
                return [path for item in fresh.items() for path in self._write_all(dict([item]))]
            self._reject(next(iter(fresh)), error.message)
            return []

    def _clear_away(self, path: Path) -> None:
        """Remove a file that was taken in."""
        try:
            with contextlib.suppress(FileNotFoundError):
                self._disk.unlink(path)
        except OSError as error:
            self._leave(path, f"was taken in and cannot be removed: {error.strerror or error}")

    def _reject(self, path: Path, why: str, first: str = "Correct it and") -> None:
        """Move a file that is no message to `rejected/`, and tell why."""
        target = self._layout.rejected / path.name
        try:
            make_folder(self._team, self._layout.rejected, mode=self._team.queue.mode_beside)
            if self._disk.stat(target) is not None:
                target = target.with_name(f"{path.stem}-{self._team.stamp()}{path.suffix}")
            self._disk.rename(path, target)
        except OSError as error:
            why = f"is no message ({why}) and cannot be moved to rejected/: {error.strerror or error}"
            self._leave(path, why)
            return
        text, hint = f"drop/{path.name} went to drop/rejected/: {why}", f"{first} move it into drop/ again."
        self._tell("DROP_REJECTED", f"drop/rejected/{target.name}", text, hint)

    def _leave(self, path: Path, why: str) -> None:
        """Leave a file where it is that cannot be dealt with, and tell of it: it must keep nobody from writing."""
        self._left += 1
        if self._left <= _TOLD:
            place = f"drop/{path.name}"
            self._tell(DROP_UNREADABLE, place, f"{place} {why}", _hint_for_left_file(path.parent))

    def _tell(self, code: str, place: str, text: str, hint: str) -> None:
        self._team.notices.append(Problem(code, "warning", place, text, hint))


def _hint_for_left_file(folder: Path) -> str:
    return f"It stays in drop/ and is tried again with each write; team-console may need permission on {folder}."


def _refuse_verdicts(config: TeamConfig, offered: Iterable[Message]) -> None:
    """Refuse what a human decided, and in a team of signed verdicts whatever a human says.

    Whoever can write a file here could have said it for that human, and words such as "approved" need no verdict.
    """
    for message in offered:
        # guard: drop-takes-no-verdicts
        if may_be_verdict(config, message):
            raise ValueError(f"{message.type} of {message.sender} is a verdict, and drop/ takes none")
        if config.verdicts == "signed" and config.is_human(message.sender):
            text = f"{message.type} bears the name of {message.sender}, for whom nobody else speaks in this team"
            raise ValueError(f"{text}; write it with team-console send")


def _was_taken_in(message: Message, known: Message) -> bool:
    """Return whether it was taken in before; the time is that of the file where the script did not say it."""
    return is_copy(message, known) or is_copy(message.with_changes(created=known.created), known)


def read_drop_file(disk: Disk, path: Path) -> tuple[list[Message], str]:
    """Return the messages in one file of `drop/`, and what is wrong with the first entry that is none, if any.

    Raises:
        TextError, ValueError, OSError: There is no message in it.
    """
    data, found = disk.read(path, 0, _MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"{found.size:,} bytes, the limit is {_MAX_BYTES:,}")
    text = QueueText.parse(data, every_list=True)
    wrong = next((error for _, error in text.damaged()), None)
    arrived = to_text(from_nanoseconds(found.mtime_ns))
    entries = text.with_unique_ids().messages()
    if not entries and wrong is not None:
        raise wrong
    if not entries:
        raise ValueError("there is no message in it")
    return [_with_defaults(message, arrived) for message in entries], wrong.message if wrong is not None else ""


def _with_defaults(message: Message, arrived: str) -> Message:
    """Add what a script may leave out: the time, under whatever key, and the state. Names must be names."""
    for name in (message.sender, *message.recipients):
        if not is_name(name):
            raise ValueError(f"{name!r} is not an agent name")
    record = dict(message.record)
    if not message.created:
        record["created"] = arrived
    record.setdefault("status", "pending")
    return from_record(record)


# Messages in `drop/` that no lock holder took in yet, read without a lock and without touching them.


class DropContents(Struct, frozen=True):
    """What `drop/` holds.

    Attributes:
        messages: Those of all files that can be read, in the order in which they will be taken in.
        problems: The files that cannot, and why.
        marks: The files, for comparing two looks.
    """

    messages: tuple[Message, ...] = ()
    marks: tuple[tuple[str, FileVersion], ...] = ()
    problems: tuple[Problem, ...] = ()


class DropReader(Struct):
    """Looks into `drop/`; a file that did not change is read once."""

    disk: Disk
    layout: Layout
    seen: dict[tuple[str, FileVersion], tuple[tuple[Message, ...], Problem | None]] = {}

    def look(self) -> DropContents:
        """Return the present drop files; a file that is no message is reported, and left to the next lock holder."""
        try:
            names = names_in(self.disk, self.layout, self.layout.drop)
        except OSError:
            return DropContents()
        seen = [name for name in names if not name.startswith(".") and name != self.layout.rejected.name]
        marks = [(name, mark) for name in seen if (mark := self._mark(name)) is not None]
        self.seen = {key: self.seen[key] if key in self.seen else self._read(key[0]) for key in marks}
        found = [self.seen[key] for key in marks]
        messages = tuple(message for readable, _ in found for message in readable)
        return DropContents(messages, tuple(marks), tuple(problem for _, problem in found if problem is not None))

    def _mark(self, name: str) -> FileVersion | None:
        """Return which version of a file in `drop/` is there; None where it cannot be told."""
        try:
            found = self.disk.stat(self.layout.drop / name)
        except OSError:
            return None
        return found.mark if found is not None else None

    def _read(self, name: str) -> tuple[tuple[Message, ...], Problem | None]:
        # guard: left-file-named
        if not is_drop_file(name):
            text = f"drop/{name} is not taken in: its name does not end with .yaml, .yml or .json"
            hint = "Rename it once it is whole, or delete it."
            return (), Problem(DROP_UNREADABLE, "notice", f"drop/{name}", text, hint)
        try:
            messages, wrong = read_drop_file(self.disk, self.layout.drop / name)
        except (TextError, TeamError, ValueError, OSError) as error:
            messages, wrong = [], getattr(error, "message", None) or getattr(error, "strerror", None) or str(error)
        if not wrong:
            return tuple(messages), None
        hint = "Correct it; as it is, the next write moves it to drop/rejected/, if it can."
        what = (
            f"drop/{name} holds an entry that is no message: {wrong}"
            if messages
            else f"drop/{name} is no message: {wrong}"
        )
        return tuple(messages), Problem(DROP_UNREADABLE, "warning", f"drop/{name}", what, hint)
