"""Finds one agent's live messages without the lock; while the queue does not change it reads nothing."""

from __future__ import annotations

from team_console.store.backends.yaml.disk import Disk, FileVersion
from team_console.store.backends.yaml.layout import Layout, is_drop_file
from team_console.store.backends.yaml.lock import parse_released, read_text
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.contract.team import Addressed


class Addressees:
    """What was found for each agent in the last queue. Use it from one thread at a time."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._text: QueueText | None = None
        self._mark: FileVersion | None = None
        self._known: dict[str, Addressed] = {}

    def look(self, agent: str) -> Addressed | None:
        """See `Team.addressed`."""
        if self._has_drops():
            return None
        found = self._disk.stat(self._layout.queue)
        if found is None or found.mark != self._mark:
            self._mark, self._known = None, {}
            if not self._read():
                return None
        text = self._text
        if agent not in self._known and text is not None:
            mine = tuple(message for message in text.messages() if message.is_addressed_to(agent))
            damaged = text.damaged_count
            is_empty = not text.messages()
            self._known[agent] = Addressed(mine, is_empty=is_empty, damaged=damaged, is_complete=damaged == 0)
        return self._known[agent]

    def _read(self) -> bool:
        """Read the queue, if it is as the last holder of the lock left it.

        While somebody writes nothing is certain: what was known would be the answer of before, and no notice comes when
        the lock is let go, so that whoever waits would go on waiting for a message that is there.
        """
        released = parse_released(read_text(self._disk, self._layout.lock))
        if released is None or released.queue is None:
            return False
        try:
            data, found = self._disk.read(self._layout.queue)
            if found.mark != released.queue:
                return False
            self._text = QueueText.parse(data, self._text).with_unique_ids()
        except (OSError, TextError):
            return False
        self._mark = found.mark
        return True

    def _has_drops(self) -> bool:
        return any(map(is_drop_file, self._disk.names(self._layout.drop)))
