"""Finds one agent's live messages without the lock, reading as little of an unchanged queue as tells for certain.

While nothing changed it reads nothing; a change that the ledger explains, and that is not for the agent, costs its
ledger line; any other change costs a search over the queue's bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.audit_log import Line, line_of_bytes, whole_lines
from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.codec.cutting.address_search import may_be_addressed
from team_console.store.backends.yaml.disk import Disk, Mark, Stat
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.lock import parse_released, read_text
from team_console.store.backends.yaml.queue_file import Generation
from team_console.store.backends.yaml.text_change import Change
from team_console.store.contract.team import Addressed
from team_console.store.model.message import ADDRESS_KEYS, Message, distinct, from_record

_SMALL = 1 << 16
"""Bytes up to which a queue is simply read as a whole."""


class _Known(Struct, frozen=True):
    """An answer, the generation of the queue it holds for, and how far the ledger was read by then."""

    mark: Mark
    answer: Addressed
    ledger: int


class Addressees:
    """What was found for each agent, kept as long as it holds. Use it from one thread at a time."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._known: dict[str, _Known] = {}

    def look(self, agent: str) -> Addressed | None:
        """See `Team.addressed`."""
        if self._has_drops():
            return None
        mark = self._mark()
        known = self._known.get(agent)
        if known is not None and mark is not None:
            if mark == known.mark:
                return known.answer
            end = self._end_of_explanation(known, mark, agent)
            if end is not None:
                self._known[agent] = _Known(mark, known.answer, end)
                return known.answer
        return self._look_anew(agent)

    def _look_anew(self, agent: str) -> Addressed | None:
        """Read the queue, if it is as the last holder of the lock left it.

        While somebody writes nothing is certain: what was known would be the answer of before, and no notice comes when
        the lock is let go, so that whoever waits would go on waiting for a message that is there.
        """
        released = parse_released(read_text(self._disk, self._layout.lock))
        if released is None or released.queue is None or released.damaged is None:
            return None
        try:
            ledger = self._disk.stat(self._layout.audit)
            data, found = self._disk.read(self._layout.queue)
            if found.mark != released.queue:
                return None
            answer = replace(search(data, agent, damaged=released.damaged), is_complete=released.damaged == 0)
        except (OSError, CodecError):
            return None
        self._known[agent] = _Known(found.mark, answer, ledger.size if ledger is not None else 0)
        return answer

    def _end_of_explanation(self, known: _Known, mark: Mark, agent: str) -> int | None:
        """How long the ledger is whose new lines lead from what was known to the present queue, none for `agent`.

        None when they do not, or may be for it.
        """
        ids = {message.message_id for message in known.answer.messages}
        reached, end = known.mark, known.ledger
        try:
            blocks = whole_lines(self._disk, self._layout.audit, known.ledger)
            for row in (row + b"\n" for block in blocks for row in block.split(b"\n")[:-1]):
                line, end = line_of_bytes(row), end + len(row)
                if line is None or line.void or (line.base == reached and _concerns(line, agent, ids)):
                    return None
                if line.base == reached and line.queue is not None:
                    reached = line.queue
        except OSError:
            return None
        return end if reached == mark else None

    def _has_drops(self) -> bool:
        names = self._disk.names(self._layout.drop)
        if not names:
            return False
        from team_console.store.backends.yaml.drop import is_drop_file

        return any(map(is_drop_file, names))

    def _mark(self) -> Mark | None:
        found = self._disk.stat(self._layout.queue)
        return found.mark if found is not None else None


def search(data: bytes, agent: str, *, damaged: int = 0) -> Addressed:
    """The messages of `agent` in the bytes of a queue. Raises `CodecError` when it cannot be read as one."""
    places = may_be_addressed(data, agent) if len(data) > _SMALL else None
    if places is None:
        return _read_all(QueueText.parse(data), agent)
    if not places:
        return Addressed((), is_empty=False, damaged=damaged)
    text = QueueText.parse(data)
    messages = [entry.message for entry in text.near(places)]
    if any(message is None for message in messages):
        return _read_all(text, agent)
    mine = tuple(message for message in messages if message is not None and message.is_addressed_to(agent))
    return Addressed(tuple(distinct(mine)), is_empty=False, damaged=damaged)


def _read_all(text: QueueText, agent: str) -> Addressed:
    mine = tuple(message for message in text.distinct() if message.is_addressed_to(agent))
    return Addressed(mine, is_empty=not text.messages(), damaged=text.damaged_count or 0)


def _concerns(line: Line, agent: str, ids: set[str]) -> bool:
    """Whether a transaction may have changed what `agent`, whose live messages have these ids, finds in the queue."""
    if any(patch.handle[0] in ids or not ADDRESS_KEYS.isdisjoint(patch.keys) for patch in line.changes):
        return True
    if not ids.isdisjoint(message_id for message_id, _ in (*line.removed, *line.merged)):
        return True
    return any(_is_for(record, agent) for record in (*line.writes, *line.noted))


def _is_for(record: dict[str, object], agent: str) -> bool:
    try:
        message: Message = from_record(record)
    except ValueError:
        return True
    return message.is_addressed_to(agent)


# What our own writers append to a long queue, told by the ledger: most changes then cost what they add, not the
# file.

COMPARE_SECONDS = 10.0
"""After so long the next look, a timed one where nothing changes, is at all bytes of the queue again."""
LONG = 1 << 20
"""Bytes from which on a queue is long: a shorter one is compared in no time."""
_NOTHING = msgspec.Raw()


class _Line(Struct):
    """Of a line of the ledger what it did to the queue."""

    base: Mark | None = None
    queue: Mark | None = None
    void: int = 0
    changes: msgspec.Raw = _NOTHING
    removed: msgspec.Raw = _NOTHING
    merged: msgspec.Raw = _NOTHING
    noted: msgspec.Raw = _NOTHING
    torn: msgspec.Raw = _NOTHING

    @property
    def only_adds(self) -> bool:
        return not (self.void or any(map(bytes, (self.changes, self.removed, self.merged, self.noted, self.torn))))


_LINES = msgspec.json.Decoder(_Line)


class AppendedMessages:
    """Follows one queue; used from one thread at a time."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk, self._layout = disk, layout
        self._reached = 0
        self._believed_since: float | None = None

    def follow(self, known: Generation | None) -> Generation | None:
        """The present generation after `known`, not compared; None when all of the file must be looked at."""
        stat = self._disk.stat(self._layout.queue)
        if known is None or known.stat is None or stat is None or self._is_due():
            return None
        if known.mark == stat.mark:
            return known if known.stat == stat else replace(known, stat=stat)
        if not _is_open_ended(known):
            return None
        try:
            return self._read_end(known, known.stat, stat) if self._leads(known.stat.mark, stat.mark) else None
        except OSError:  # a ledger that another user keeps to itself; a queue that cannot be read says so itself
            return None

    def will_compare(self) -> int:
        """All bytes will be looked at: where the ledger ends before that, for `compared`."""
        found = self._disk.stat(self._layout.audit)
        return found.size if found is not None else 0

    def compared(self, reached: int) -> None:
        """All bytes were looked at, when the ledger had at least `reached` bytes."""
        self._reached, self._believed_since = reached, None

    def _is_due(self) -> bool:
        return self._believed_since is not None and monotonic() - self._believed_since >= COMPARE_SECONDS

    def _leads(self, mark: Mark, goal: Mark) -> bool:
        """Whether lines that only add lead from one generation to the other."""
        for line, end in self._lines():
            if line.base == mark and line.queue is not None and line.queue != mark:
                if not line.only_adds:
                    return False
                mark = line.queue
            if mark == goal:
                self._reached = end
                return True
        return False

    def _lines(self) -> Iterator[tuple[_Line, int]]:
        """The lines since those that were looked at, each with where it ends; up to one that is none."""
        place = self._reached
        for block in whole_lines(self._disk, self._layout.audit, place):
            for row in block.splitlines(keepends=True):
                place += len(row)
                try:
                    yield _LINES.decode(row), place
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    return

    def _read_end(self, known: Generation, before: Stat, now: Stat) -> Generation | None:
        """What stands behind the last entry, if that and the head are as they were."""
        path, head, last = self._layout.queue, known.text.head, known.text.entries[-1].raw
        data, found = self._disk.read(path, before.size - len(last))
        same = found == now and data.startswith(last) and self._disk.read(path, 0, len(head))[0] == head
        if not same:
            return None
        if self._believed_since is None:
            self._believed_since = monotonic()
        return Generation(known.text.followed(Change(before.size, data[len(last) :], 0)), found, compared=False)


def _is_open_ended(known: Generation) -> bool:
    """Whether what is added to the queue stands behind all that is there."""
    text = known.text
    ends = known.stat is not None and known.stat.size >= LONG and not text.tail and not text.whole and text.size > 0
    return ends and text.entries[-1].raw.endswith(b"\n")
