"""The YAML team's transaction: reads answered from text without understanding more of it than needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from store.backends.buffered import BufferedTransaction
from store.backends.yamlteam.commit import Store
from store.backends.yamlteam.layout import refuse_clash
from store.config import TeamConfig
from store.message import Message
from store.names import ALL, check_name, is_name


class YamlTransaction(BufferedTransaction):
    """Buffered changes over the queue's text and the archives."""

    def __init__(self, store: Store, config: TeamConfig) -> None:
        super().__init__(now=store.clock(), config=config)
        self._store = store
        self._archived: set[tuple[str, str]] = set()
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
        changes = self.changes
        if not types or changes.added or changes.replaced or changes.removed:
            return self.everything()
        words = (b"\\", *(word.encode("utf-8", "replace") for word in types))
        entries = self._store.generation.text.entries
        found = (one.message for one in entries if any(word in one.raw for word in words))
        return [one for one in found if one is not None]

    def archived_message(self, message_id: str) -> Message | None:
        return self._store.archives.find(message_id)

    def archived_thread(self, request_id: str) -> Iterable[Message]:
        return self._store.archives.thread(request_id)

    def archived_for(self, agent: str, message_id: str) -> bool:
        return self._store.archives.holds(agent, message_id)

    def archive(self, agent: str, message: Message) -> None:
        check_name(agent, field="agent")
        pair = agent, message.message_id
        if pair not in self._archived and not self.archived_for(*pair):
            refuse_clash(agent, {*self._store.archives.agents(), *(who for who, _ in self._archived)})
            self._archived.add(pair)
            self.changes.archived.append((agent, message))

    def is_archived(self, message_id: str) -> bool:
        if any(message_id == one for _, one in self._archived):
            return True
        message = self.get(message_id)
        likely = [name for name in message.recipients if is_name(name) and name != ALL] if message else []
        return any(self.archived_for(name, message_id) for name in likely) or (
            self.archived_message(message_id) is not None
        )

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
