"""The YAML team's transaction: reads answered from text without understanding more of it than needed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from team_console.store.backends.yaml.codec import QueueText
from team_console.store.backends.yaml.codec.word_search import is_written_plainly
from team_console.store.backends.yaml.writing.locked_team import LockedTeam
from team_console.store.backends.yaml.writing.queue_edit import messages_named
from team_console.store.contract.transaction import Transaction
from team_console.store.model.copies import Letters, distinct
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, is_name
from team_console.store.protocol.reading import ID_KEYS
from team_console.store.settings.settings_file import read_settings

_FEW = 4
"""After so many looks for messages in archives, the files are searched for all messages of the queue at once."""
_MAY_BE_NUMBER = re.compile(r"[-+.:0-9eTZ]+").fullmatch
"""What a number or a time may come to, however YAML has it: 0x1F, 1_000 and 1:30 are written without these digits."""
_ID_KEYS = tuple(key.encode() for key in ID_KEYS)


class YamlTransaction(Transaction):
    """Buffered changes over the queue's text and the archives."""

    def __init__(self, team: LockedTeam, text: QueueText) -> None:
        super().__init__(now=team.clock(), config=team.settings.config, recorded=team.recorded)
        self._team = team
        self._text = text
        self._archives = team.archives
        self._named: dict[str, list[Message]] = {}
        self._distinct: dict[str, Sequence[Message]] = {}
        self._letters: dict[str, Letters] = {}
        self._looks = 0
        self.notices = team.notices

    @property
    def damaged(self) -> int:
        return self._text.damaged_count or 0

    def stored(self) -> Sequence[Message]:
        return self._text.distinct()

    def stored_named(self, message_id: str) -> Sequence[Message]:
        if message_id not in self._distinct:  # asked for again at each of many that share it
            self._distinct[message_id] = distinct(self._records(message_id))
        return self._distinct[message_id]

    def prefetch(self, ids: Iterable[str]) -> None:
        self._text.expect(len(list(ids)))

    def stored_copies(self, message: Message) -> int:
        message_id = message.message_id
        records = self._records(message_id)
        if len(records) < 2:
            return len(records)
        if message_id not in self._letters:
            self._letters[message_id] = Letters(records)
        return self._letters[message_id].copies(message)

    def _records(self, message_id: str) -> list[Message]:
        if message_id not in self._named:
            self._named[message_id] = messages_named(self._text, message_id)
        return self._named[message_id]

    def candidates(self, types: frozenset[str]) -> Sequence[Message]:
        """An entry whose text holds none of the words, and no escape that could hide one, is not even understood."""
        if not types:
            return self.everything()
        words = [word.encode("utf-8", "replace") for word in types]
        return self.changes.apply(distinct(self._text.holding(words)))

    def naming(self, word: str) -> Sequence[Message]:
        """An entry whose bytes do not hold an id, and nothing that could hide it, does not name it.

        A number or a time can be written in other ways.
        """
        return self._holding(word)

    def asking(self, request_id: str) -> Sequence[Message]:
        """Looked for only in entries with a key for such an id; which these are is followed from write to write.

        Every send under an id of the sender's asks this, and a search in all bytes would be the longest part of it.
        """
        return self._holding(request_id, beside=_ID_KEYS)

    def _holding(self, word: str, *, beside: Collection[bytes] = ()) -> Sequence[Message]:
        if not is_written_plainly(word) or _MAY_BE_NUMBER(word):
            return self.everything()
        held = self._text.holding([word.encode()], hidden=(b"\\", b" !"), beside=beside)
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
        return read_settings(self._team.layout.config)

    def remove(self, message: Message) -> None:
        """See `Transaction.remove`.

        Raises:
            ValueError: No archive proves to hold it; a programming error that would lose the message.
        """
        if message.message_id not in self.changes.added and not self.is_archived(message):
            raise ValueError(f"{message.message_id} is in no archive; archive it before it leaves the queue")
        super().remove(message)
