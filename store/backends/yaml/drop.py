"""The drop folder: messages that scripts renamed in because they cannot lock; the next lock holder takes them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.archives import HEADER
from team_console.store.backends.yaml.audit_log import Line
from team_console.store.backends.yaml.commit import LockedTeam, make_folder
from team_console.store.backends.yaml.disk import NOT_PLAIN, Disk
from team_console.store.backends.yaml.layout import leads_out
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue_edit import messages_named
from team_console.store.backends.yaml.queue_text import QueueText
from team_console.store.contract.team import DROP_UNREADABLE
from team_console.store.model.clock import from_file, to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, from_record, is_copy
from team_console.store.model.names import is_name
from team_console.store.protocol.verdicts import is_human, may_be_verdict
from team_console.store.settings.team_config import TeamConfig

_MAX_BYTES = 4 * 1024 * 1024
_AT_ONCE = 500
"""Files taken in by one turn, so that a full folder does not hold up whoever has the lock; looked at as one part."""
_TOLD = 20
"""Files that stay and are told of one by one; the others are counted, or each write would list them all."""


class Offer(Struct, frozen=True):
    """What one file brings.

    Attributes:
        messages: Messages nobody has yet.
        clashes: Ids in it that stand for something else already.
    """

    path: Path
    messages: tuple[Message, ...]
    clashes: tuple[str, ...] = ()


class DropFolder:
    """The drop folder of a team whose lock is held.

    `write` makes a line durable, recovering where somebody wrote the queue meanwhile; what is dropped is compared with
    the queue as it was found and with the archives.
    """

    def __init__(self, team: LockedTeam, write: Callable[[Line], None]) -> None:
        self._team, self._disk, self._layout = team, team.disk, team.layout
        self._queue = team.queue
        self._write = write
        self._taken: dict[str, Message] = {}
        self._left = 0

    def take_in(self) -> None:
        """Put every message in `drop/` into the queue, then remove its file; what is no message goes to `rejected/`.

        A crash in between leaves the file; its messages are known then, so the next turn only removes it.
        """
        folder = self._layout.drop
        if leads_out(self._disk, self._layout, folder):
            text = "drop/ is a link that leads out of the team: nothing is taken from there"
            return self._tell(DROP_UNREADABLE, "drop", text, "Make it a folder of the team, or remove the link.")
        names = [name for name in self._disk.names(folder) if is_drop_file(name)]
        for start in range(0, len(names), _AT_ONCE):
            part = names[start : start + _AT_ONCE]
            self._take_in([folder / name for name in part])
            # Files that stay do not count: enough of them would keep every later one out for ever.
            if start + len(part) - self._left >= _AT_ONCE:
                break
        if self._left > _TOLD:
            text = f"{self._left - _TOLD:,} more files in drop/ can be neither taken in nor removed"
            self._tell(DROP_UNREADABLE, "drop", text, _stays(folder))
        return None

    def _take_in(self, paths: Iterable[Path]) -> None:
        offers = [offer for path in paths if (offer := self._look(path)) is not None]
        for offer in self._write_all(self._against_known(offers)):
            if offer.clashes:
                ids = ", ".join(offer.clashes)
                self._reject(offer.path, f"another message has the id {ids} already", "Give it an id of its own and")
            else:
                self._clear_away(offer.path)

    def _look(self, path: Path) -> Offer | None:
        """What the file offers; None for one that was rejected, or has to stay."""
        try:
            offered = read_drop_file(self._disk, path)
            _refuse_verdicts(self._team.settings.config, offered)
            return Offer(path, tuple(offered))
        except (TextError, TeamError, ValueError) as error:
            self._reject(path, getattr(error, "message", None) or str(error))
        except OSError as error:
            if error.errno in NOT_PLAIN:
                self._reject(path, error.strerror or str(error))
            else:
                self._leave(path, f"cannot be read: {error.strerror or error}")
        return None

    def _against_known(self, offers: Iterable[Offer]) -> list[Offer]:
        """The offers without what is in the queue or an archive already, and with what only shares an id with that."""
        taken = self._taken  # of earlier parts, too: the queue as found does not have what they wrote
        judged: list[Offer] = []
        for offer in offers:
            fresh: list[Message] = []
            clashes: list[str] = []
            for message in offer.messages:
                known = self._known(message.message_id)
                if message.message_id in taken:
                    known.append(taken[message.message_id])
                if not known:
                    fresh.append(message)
                    taken[message.message_id] = message
                elif not any(_is_same(message, other) for other in known):
                    clashes.append(message.message_id)
            judged.append(replace(offer, messages=tuple(fresh), clashes=tuple(clashes)))
        return judged

    def _known(self, message_id: str) -> list[Message]:
        live = messages_named(self._queue.text, message_id)
        archived = self._team.archives.find(message_id) if not live else None
        return live if archived is None else [archived]

    def _write_all(self, offers: list[Offer]) -> list[Offer]:
        """Write all offers at once; where one of them cannot be written at all, each by itself, that one rejected."""
        messages = [message for offer in offers for message in offer.messages]
        if not messages:
            return offers
        try:
            ids = [message.message_id for message in messages]
            self._write(Line("drop", "drop", {"ids": ids}, writes=tuple(dict(message.record) for message in messages)))
        except TeamError as error:
            if error.code is not Code.INVALID_FIELD:
                raise
            if len(offers) > 1:
                return [written for offer in offers for written in self._write_all([offer])]
            self._reject(offers[0].path, error.message)
            return []
        return offers

    def _clear_away(self, path: Path) -> None:
        try:
            with contextlib.suppress(FileNotFoundError):
                self._disk.unlink(path)
        except OSError as error:
            self._leave(path, f"was taken in and cannot be removed: {error.strerror or error}")

    def _reject(self, path: Path, why: str, first: str = "Correct it and") -> None:
        target = self._layout.rejected / path.name
        try:
            make_folder(self._team, self._layout.rejected, mode=self._queue.mode_beside)
            if self._disk.stat(target) is not None:
                target = target.with_name(f"{path.stem}-{self._team.stamp()}{path.suffix}")
            self._disk.rename(path, target)
        except OSError as error:
            return self._leave(
                path, f"is no message ({why}) and cannot be moved to rejected/: {error.strerror or error}"
            )
        text, hint = f"drop/{path.name} went to drop/rejected/: {why}", f"{first} move it into drop/ again."
        return self._tell("DROP_REJECTED", f"drop/rejected/{target.name}", text, hint)

    def _leave(self, path: Path, why: str) -> None:
        """A file that cannot be dealt with must keep nobody from writing, and is neither lost nor taken in twice."""
        self._left += 1
        if self._left <= _TOLD:
            self._tell(DROP_UNREADABLE, f"drop/{path.name}", f"drop/{path.name} {why}", _stays(path.parent))

    def _tell(self, code: str, place: str, text: str, hint: str) -> None:
        self._team.notices.append(Problem(code, "warning", place, text, hint))


def is_drop_file(name: str) -> bool:
    """Whether a file of this name in `drop/` is meant to be taken in; others are still being written."""
    return name.endswith((".yaml", ".yml", ".json")) and not name.startswith(".")


def _stays(folder: Path) -> str:
    return f"It stays in drop/ and is tried again with each write; team-console may need permission on {folder}."


def _refuse_verdicts(config: TeamConfig, offered: Iterable[Message]) -> None:
    """Refuse what a human decided, and in a team of signed verdicts whatever a human says.

    Whoever can write a file here could have said it for that human, and words such as "approved" need no verdict.
    """
    for message in offered:
        # guard: drop-takes-no-verdicts
        if may_be_verdict(config, message):
            raise ValueError(f"{message.type} of {message.sender} is a verdict, and drop/ takes none")
        if config.verdicts == "signed" and is_human(config, message.sender):
            text = f"{message.type} bears the name of {message.sender}, for whom nobody else speaks in this team"
            raise ValueError(f"{text}; write it with team-console send")


def _is_same(message: Message, known: Message) -> bool:
    """Whether it was taken in before; the time is that of the file where the script did not say it."""
    return is_copy(message, known) or is_copy(message.with_changes(created=known.created), known)


def read_drop_file(disk: Disk, path: Path) -> list[Message]:
    """The messages in one file of `drop/`. Raises `TextError`, `ValueError` or `OSError` when it is none."""
    data, found = disk.read(path, 0, _MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"{found.size:,} bytes, the limit is {_MAX_BYTES:,}")
    queue, more = _as_queue(data)
    try:
        text = QueueText.parse(queue)
        for _, error in text.damaged():
            raise error
    except TextError as error:
        raise error.below(-more) from None
    arrived = to_text(from_file(found.mtime_ns))
    entries = text.distinct()
    if not entries:
        raise ValueError("there is no message in it")
    return [_completed(message, arrived) for message in entries]


def _as_queue(data: bytes) -> tuple[bytes, int]:
    """A single record, a list of records, or a whole queue file, as a queue file, and how many more lines it has."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    skipped = takewhile(lambda line: not line.strip() or line.startswith((b"#", b"---", b"%")), lines)
    above = sum(1 for _ in skipped)
    lines = lines[above:]
    first = lines[0] if lines else b""
    body = b"\n".join(lines)
    if first.startswith((b"messages:", b'"messages"')):
        return body, -above
    if first.startswith((b"- ", b"-\n")) or first == b"-":
        return HEADER + body, 1 - above
    return HEADER + b"-\n" + b"".join(b"  " + line + b"\n" for line in lines), 2 - above


def _completed(message: Message, arrived: str) -> Message:
    """What a script may leave out: the time, under whatever key, and the state. Names must be names."""
    for name in (message.sender, *message.recipients):
        if not is_name(name):
            raise ValueError(f"{name!r} is not an agent name")
    record = dict(message.record)
    if not message.created:
        record["created"] = arrived
    record.setdefault("status", "pending")
    return from_record(record)
