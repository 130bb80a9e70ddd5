"""Requests whose record somebody damaged after it was read: still shown, marked, and not to be answered."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.views.rows import AttentionItem, Flag, RequestRow


class DamagedRequests(Struct, frozen=True):
    """Marks what rests on the messages with these ids."""

    ids: frozenset[str]

    def requests(self, rows: tuple[RequestRow, ...]) -> tuple[RequestRow, ...]:
        """The rows, those whose question is damaged marked."""
        return tuple(map(self._marked, rows)) if self.ids else rows

    def attention(self, items: tuple[AttentionItem, ...]) -> tuple[AttentionItem, ...]:
        """The items, those that ask for an answer to a damaged question without it."""
        return tuple(map(self._withheld, items)) if self.ids else items

    def _marked(self, row: RequestRow) -> RequestRow:
        return replace(row, flags=(*row.flags, Flag.DAMAGED)) if row.question.message_id in self.ids else row

    def _withheld(self, item: AttentionItem) -> AttentionItem:
        row = item.request
        if row is None or row.question.message_id not in self.ids:
            return item
        why = "its record in the queue is damaged, so it cannot be answered"
        return replace(item, request=self._marked(row), answerable=False, why=why)
