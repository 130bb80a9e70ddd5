"""The ids of all messages of a queue, followed from text to text while no two messages share one."""

from __future__ import annotations

from collections.abc import Iterable

from team_console.store.model.message import Message


class KnownIds:
    """Of one text. The ids themselves go on to the first text that follows it, so that no change copies all of them."""

    __slots__ = ("_ids",)

    def __init__(self, ids: set[str]) -> None:
        """Use `of`."""
        self._ids = [ids]

    @classmethod
    def of(cls, messages: Iterable[Message]) -> KnownIds:
        """Those of `messages`, no two of which share one."""
        return cls({message.message_id for message in messages})

    def lacks(self, message_id: str) -> bool:
        """Whether no message has this id; False as well where that is no longer known."""
        is_absent = all(message_id not in ids for ids in self._ids)
        return is_absent and bool(self._ids)  # asked last: whoever takes them does so before changing them

    def followed(self, gone: Iterable[Message], came: Iterable[Message]) -> KnownIds | None:
        """Those of the text in which some messages went and others came.

        None where two share an id now. A second text that follows the same one gets none either.
        """
        try:
            ids = self._ids.pop()  # whichever thread asks first
        except IndexError:
            return None
        ids.difference_update([message.message_id for message in gone])
        new = [message.message_id for message in came]
        size = len(ids)
        ids.update(new)
        return KnownIds(ids) if len(ids) == size + len(new) else None
