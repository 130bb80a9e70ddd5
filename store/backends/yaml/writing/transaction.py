"""The YAML team's transaction: reads answered from text without understanding more of it than needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from team_console.store.backends.yaml.codec.word_search import is_written_plainly
from team_console.store.backends.yaml.layout import refuse_clash
from team_console.store.backends.yaml.writing.commit import LockedQueue
from team_console.store.contract.transaction import Transaction
from team_console.store.model.copies import distinct, is_copy
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, check_name, is_name
from team_console.store.settings.settings_file import read_settings
from team_console.store.settings.team_config import TeamConfig

_FEW = 4
"""After so many looks for messages in archives, the files are searched for all messages of the queue at once."""


class YamlTransaction(Transaction):
    """Buffered changes over the queue's text and the archives."""

    def __init__(self, queue: LockedQueue, config: TeamConfig) -> None:
        super().__init__(now=queue.clock(), config=config)
        self._queue = queue
        self._text = queue.generation.text
        self._archives = queue.archives
        self._pushed: set[str] = set()
        self._named: dict[str, list[Message]] = {}
        self._looks = 0
        self.notices = queue.notices

    @property
    def damaged(self) -> int:
        return self._queue.generation.text.damaged_count or 0

    def stored(self) -> Sequence[Message]:
        return self._text.distinct()

    def stored_named(self, message_id: str) -> Sequence[Message]:
        return distinct(self._records(message_id))

    def prefetch(self, ids: Iterable[str]) -> None:
        self._text.expect(len(list(ids)))

    def stored_copies(self, message: Message) -> int:
        records = self._records(message.message_id)
        return len(records) if len(records) < 2 else sum(is_copy(message, record) for record in records)

    def _records(self, message_id: str) -> list[Message]:
        known = self._named.get(message_id)
        if known is None:
            found = (self._text.entries[place].message for place in self._text.places(message_id))
            known = self._named[message_id] = [message for message in found if message is not None]
        return known

    def candidates(self, types: frozenset[str]) -> Sequence[Message]:
        """An entry whose text holds none of the words, and no escape that could hide one, is not even understood."""
        if not types:
            return self.everything()
        words = [word.encode("utf-8", "replace") for word in types]
        return self.changes.apply(distinct(self._text.holding(words)))

    def naming(self, word: str) -> Sequence[Message]:
        """An entry whose bytes do not hold an id, and nothing that could hide it, does not name it.

        What begins with no letter may be a number, which can be written in other ways.
        """
        if not is_written_plainly(word) or not word[0].isalpha():
            return self.everything()
        held = self._text.holding([word.encode()], hidden=(b"\\", b" !"))
        changed = [old for old in self.changes.replaced if old not in set(held)]
        return self.changes.apply(distinct([*held, *changed]))

    def archived_message(self, message_id: str) -> Message | None:
        return self._archives.find(message_id)

    def archived_thread(self, request_id: str) -> Iterable[Message]:
        return self._archives.thread(request_id)

    def archived_for(self, agent: str, message: Message) -> bool:
        self._look(message)
        return self._archives.keeps(message, agent)

    def archived_anywhere(self, message: Message) -> bool:
        """Its recipients' archives are looked at first."""
        likely = [name for name in message.recipients if is_name(name) and name != ALL]
        return any(self.archived_for(name, message) for name in likely) or self._archives.keeps(message)

    def _look(self, message: Message) -> None:
        """A search for each of many messages in all of an archive would take the square of the time."""
        self._looks += 1
        if self._looks == _FEW and not self._archives.is_expected(message.message_id):
            self._archives.expect([message.message_id for message in self.stored()])

    def stored_settings(self) -> str:
        return read_settings(self._queue.layout.config)

    def archive(self, agent: str, message: Message) -> None:
        check_name(agent, field="agent")
        if agent not in self._archive_owners:
            refuse_clash(agent, self._archive_owners)
        before = len(self.changes.archived)
        super().archive(agent, message)
        if len(self.changes.archived) > before:
            self._archive_owners.add(agent)

    @cached_property
    def _archive_owners(self) -> set[str]:
        """Agents that have an archive, or will have one after this transaction."""
        return set(self._archives.agents())

    def remove(self, message: Message) -> None:
        """See `Transaction.remove`.

        Raises:
            ValueError: No archive proves to hold it; a programming error that would lose the message.
        """
        if message.message_id not in self.changes.added and not self.is_archived(message):
            raise ValueError(f"{message.message_id} is in no archive; archive it before it leaves the queue")
        super().remove(message)

    def push(self, agent: str, message: Message) -> None:
        check_name(agent, field="agent")
        if agent not in self._pushed:
            names = self._queue.disk.names(self._queue.layout.inboxes)
            refuse_clash(agent, {*self._pushed, *(name.removesuffix(".jsonl") for name in names)})
            self._pushed.add(agent)
        super().push(agent, message)
