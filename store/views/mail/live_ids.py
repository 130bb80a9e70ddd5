"""Ids of the messages in the queue; one may be there more than once."""

from __future__ import annotations

from collections.abc import Iterator

from team_console.store.model.problem import Problem
from team_console.store.model.reuse.tally import Tally
from team_console.store.protocol.entries import Entry


class LiveIds:
    """How many live messages have each id."""

    def __init__(self) -> None:
        self._counts = Tally[str]()
        self._twice: set[str] = set()

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        self._count(entry.message.message_id, 1)

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        self._count(entry.message.message_id, -1)

    def is_live(self, message_id: str) -> bool:
        """Whether a message with this id is in the queue."""
        return message_id in self._counts

    def doubled(self) -> Iterator[Problem]:
        """Ids that more than one live message has."""
        for message_id in sorted(self._twice):
            text = f"{self._counts[message_id]} messages in the queue have the id {message_id}"
            hint = "Each is handled as what it is; 'team-console check --heal' gives the later ones ids of their own."
            yield Problem("DUPLICATE_ID", "error", message_id, text, hint)

    def _count(self, message_id: str, step: int) -> None:
        if self._counts.count(message_id, step) > 1:
            self._twice.add(message_id)
        else:
            self._twice.discard(message_id)
