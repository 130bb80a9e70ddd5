"""What the queue held by our own account: from memory, from the generation before, or from the whole ledger."""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import Protocol

from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.disk import Disk, Mark
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.reading.archives import Archives
from team_console.store.backends.yaml.recovery.healing import Held, expected_after, replay
from team_console.store.backends.yaml.recovery.ledger import Ledger, Line
from team_console.store.backends.yaml.writing.generation import Generation
from team_console.store.model.message import Message


class Files(Protocol):
    """The files an account is made from."""

    @property
    def disk(self) -> Disk:
        """Where they are."""

    @property
    def layout(self) -> Layout:
        """How they are called."""

    @property
    def ledger(self) -> Ledger:
        """Every transaction on record."""

    @property
    def archives(self) -> Archives:
        """What left the queue, or may."""


class ExpectedQueue:
    """The account up to the ledger's last line, or `without` the effects of that line.

    `trusted` is the generation that the last holder of the lock left, whoever wrote it.
    """

    def __init__(self, store: Files, known: Generation, line: Line, *, trusted: Mark | None, without: bool) -> None:
        self._store = store
        self._known = known
        self._line = line
        self._marks = {mark for mark in (line.queue, trusted) if mark is not None}
        self._without = without

    def expected(self) -> Held:
        """Messages by id, from the nearest source that is still whole."""
        line = self._line
        if not self._without:
            if self._known.mark in self._marks:
                return expected_after(self._known.text.messages(), None)
            previous = self._generation_before(line)
            if previous is not None:
                return expected_after(previous.messages(), line)
        return self._replayed[0]

    def is_archived(self, message: Message) -> bool:
        """Whether the message is in an archive."""
        return self._store.archives.keeps(message)

    def was_taken_out(self, message_id: str) -> bool:
        """Whether a transaction of ours took it out of the queue."""
        return message_id in self._replayed[1]

    @cached_property
    def _replayed(self) -> tuple[Held, set[str]]:
        lines = [tip.line for tip, _ in self._store.ledger.lines() if tip.line is not None]
        return replay(lines[:-1] if self._without and lines and lines[-1].seq == self._line.seq else lines)

    def _generation_before(self, line: Line) -> QueueText | None:
        """The text that the last line was applied to, when it is still there as it was."""
        prev = self._store.layout.prev
        found = self._store.disk.stat(prev)
        if found is None or found.mark != line.base or line.base == line.queue:
            return None
        with contextlib.suppress(CodecError, OSError):
            return QueueText.parse(self._store.disk.read(prev)[0], self._known.text)
        return None
