"""What the queue held by our own account: from memory, from the generation before, or from the whole ledger."""

from __future__ import annotations

import contextlib
from functools import cached_property

from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.disk import Disk, Mark
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.recovery.healing import Held, expected_after, replay
from team_console.store.backends.yaml.recovery.ledger import Ledger, Line
from team_console.store.backends.yaml.writing.generation import Generation


class ExpectedQueue:
    """The account up to the ledger's last line, or `without` the effects of that line.

    `trusted` is the generation that the last holder of the lock left, whoever wrote it.
    """

    def __init__(
        self, disk: Disk, layout: Layout, known: Generation, line: Line, *, trusted: Mark | None, without: bool
    ) -> None:
        self._disk = disk
        self._layout = layout
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

    def was_taken_out(self, message_id: str) -> bool:
        """Whether a transaction of ours took it out of the queue."""
        return message_id in self._replayed[1]

    @cached_property
    def _replayed(self) -> tuple[Held, set[str]]:
        lines = [tip.line for tip, _ in Ledger(self._disk, self._layout.audit).lines() if tip.line is not None]
        return replay(lines[:-1] if self._without and lines and lines[-1].seq == self._line.seq else lines)

    def _generation_before(self, line: Line) -> QueueText | None:
        """The text that the last line was applied to, when it is still there as it was."""
        found = self._disk.stat(self._layout.prev)
        if found is None or found.mark != line.base or line.base == line.queue:
            return None
        with contextlib.suppress(CodecError, OSError):
            return QueueText.parse(self._disk.read(self._layout.prev)[0], self._known.text)
        return None
