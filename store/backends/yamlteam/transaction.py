"""The YAML team's transaction: reads answered from text without understanding more of it than needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from store.backends.buffered import BufferedTransaction
from store.backends.yamlteam.commit import Store
from store.backends.yamlteam.layout import refuse_clash
from store.config import TeamConfig
from store.config_file import read_settings
from store.message import Message
from store.names import ALL, check_name, is_name


class YamlTransaction(BufferedTransaction):
    """Buffered changes over the queue's text and the archives."""

    def __init__(self, store: Store, config: TeamConfig) -> None:
        super().__init__(now=store.clock(), config=config)
        self._store = store
        self._pushed: set[str] = set()
        self.notices = store.notices

    def stored(self) -> Sequence[Message]:
        return self._store.generation.text.messages()

    def stored_message(self, message_id: str) -> Message | None:
        text = self._store.generation.text
        index = text.find(message_id)
        return None if index is None else text.entries[index].message

    def candidates(self, types: frozenset[str]) -> Sequence[Message]:
        """An entry whose text holds none of the words, and no escape that could hide one, is not even understood."""
        if not types:
            return self.everything()
        words = [word.encode("utf-8", "replace") for word in types]
        return self.changes.apply(self._store.generation.text.holding(words))

    def archived_message(self, message_id: str) -> Message | None:
        return self._store.archives.find(message_id)

    def archived_thread(self, request_id: str) -> Iterable[Message]:
        return self._store.archives.thread(request_id)

    def archived_for(self, agent: str, message_id: str) -> bool:
        return self._store.archives.holds(agent, message_id)

    def stored_settings(self) -> str:
        return read_settings(self._store.layout.config)

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
        return set(self._store.archives.agents())

    def is_archived(self, message_id: str) -> bool:
        """Its recipients' archives are looked at first."""
        message = self.get(message_id)
        likely = [name for name in message.recipients if is_name(name) and name != ALL] if message else []
        return any(self.archived_for(name, message_id) for name in likely) or super().is_archived(message_id)

    def remove(self, message: Message) -> None:
        """See `Transaction.remove`.

        Raises:
            ValueError: No archive proves to hold it; a programming error that would lose the message.
        """
        if message.message_id not in self.changes.added and not self.is_archived(message.message_id):
            raise ValueError(f"{message.message_id} is in no archive; archive it before it leaves the queue")
        super().remove(message)

    def push(self, agent: str, message: Message) -> None:
        check_name(agent, field="agent")
        if agent not in self._pushed:
            names = self._store.disk.names(self._store.layout.inboxes)
            refuse_clash(agent, {*self._pushed, *(name.removesuffix(".jsonl") for name in names)})
            self._pushed.add(agent)
        super().push(agent, message)
