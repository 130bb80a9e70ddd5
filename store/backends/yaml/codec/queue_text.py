"""The queue as text made of entries: parsed once, re-read in steps, edited without touching what did not change."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType

from msgspec.structs import replace
from team_console.store.backends.yaml.codec import held_words
from team_console.store.backends.yaml.codec.cutting.frame import Style, is_blank
from team_console.store.backends.yaml.codec.cutting.join import is_skipped, join_all
from team_console.store.backends.yaml.codec.cutting.pieces import read, reread
from team_console.store.backends.yaml.codec.editing.kept import starts_after, woven
from team_console.store.backends.yaml.codec.entry import QueueEntry
from team_console.store.backends.yaml.codec.errors import CodecError, Kind
from team_console.store.backends.yaml.codec.held_words import Held
from team_console.store.backends.yaml.codec.id_index import index_of, with_places
from team_console.store.backends.yaml.codec.known_ids import KnownIds
from team_console.store.backends.yaml.codec.parsing.anchors import SIGN
from team_console.store.backends.yaml.codec.parts import Parts
from team_console.store.backends.yaml.codec.stretches import Stretches
from team_console.store.backends.yaml.codec.word_search import HIDDEN_IDS, holds_one, is_written_plainly
from team_console.store.backends.yaml.text_change import Change, change_of
from team_console.store.model.chunked import Chunked
from team_console.store.model.message import Message, distinct

_NOTHING: Mapping[int, Message] = MappingProxyType({})
_FEW_JOINED, _FEW_UNJOINED = 4, 200
"""So many searches over the bytes cost less than an index; one that has to understand every entry first costs more."""


class QueueText:
    """A queue or an archive as read; immutable."""

    __slots__ = (
        "_absent",
        "_data",
        "_distinct",
        "_held",
        "_ids",
        "_index",
        "_is_tied",
        "_messages",
        "_parts",
        "_searches",
        "_starts",
        "_stretches",
    )

    def __init__(self, data: bytes | Stretches, parts: Parts, starts: Sequence[int] | None = None) -> None:
        """Use `parse`."""
        self._data = data if isinstance(data, bytes) else None
        self._stretches = Stretches.of(data) if isinstance(data, bytes) else data
        self._parts = parts
        self._starts = None if starts is None else (parts.entries, starts)
        self._messages: Chunked[Message] | None = None
        self._distinct: Chunked[Message] | None = None
        self._absent: set[str] = set()
        self._held: Held = {}
        self._searches = 0
        self._index: dict[str, int | list[int]] | None = None
        self._is_tied: bool | None = None
        self._ids: KnownIds | None = None

    @classmethod
    def empty(cls) -> QueueText:
        """A queue without messages."""
        return cls.parse(b"messages: []\n")

    @classmethod
    def parse(cls, data: bytes, previous: QueueText | None = None) -> QueueText:
        """Read a whole file; entries are only cut out here and understood when somebody looks at them.

        With `previous`, the text read before, only the stretch that changed is looked at, and the entries
        of the rest are the same objects.

        Raises:
            CodecError: The file as a whole cannot be understood. A blank file is not an empty queue (see `blank`).
        """
        if previous is None:
            return cls(data, read(data))
        before = previous.data()
        return previous if data == before else previous.followed(change_of(data, before))

    @property
    def stretches(self) -> Stretches:
        """The bytes of the file, in as many pieces as they are kept in."""
        return self._stretches

    def followed(self, change: Change) -> QueueText:
        """The text after a change: only the stretch that changed is looked at, the entries of the rest are the same.

        It shares the bytes of this one, so that following a long queue takes no second copy of it.

        Raises:
            CodecError: As `parse`.
        """
        stretches = self._stretches.exchanged(change.head, change.middle, change.tail)
        if not change.middle and stretches.size == self._stretches.size:
            return self
        cut = reread(stretches, change, self._parts, Chunked.of(self._known_starts()))
        text = QueueText(stretches, cut.parts, cut.starts)
        if cut.kept is not None:
            text._take_over(self, *cut.kept)
        return text

    def _take_over(self, previous: QueueText, head: int, tail: int) -> None:
        """Know all messages without a look at the `head` first and `tail` last entries, which are known from before.

        Only where each entry, old or new, is a message by itself: none is damaged, open, or tied to another.
        """
        before, entries = previous._messages, self._parts.entries
        fresh = [entry.outcome for entry in entries[head : len(entries) - tail]]
        messages = tuple([message for message in fresh if isinstance(message, Message)])
        if before is None or not previous._is_plain or len(messages) != len(fresh):
            return
        self._parts, self._is_tied = replace(self._parts, joined=True), False
        self._messages = before.exchanged(head, len(before) - tail, messages)
        came = entries[head : len(entries) - tail]
        self._held = held_words.after_exchange(previous._held, head, len(before) - tail, came)
        if previous._distinct is before:
            self._follow_ids(previous, before[head : len(before) - tail], messages)

    def _follow_ids(self, previous: QueueText, gone: Sequence[Message], came: Sequence[Message]) -> None:
        """Follow which ids there are; while no two messages share one, each is its only copy."""
        ids = previous._ids and previous._ids.followed(gone, came)
        if ids is None:  # asked for the first time, or another text follows the same one
            ids = KnownIds.of(previous._messages or ()).followed(gone, came)
        if ids is not None:
            self._distinct, self._ids = self._messages, ids

    @property
    def _is_plain(self) -> bool:
        """Whether every entry is a message by itself, so that none changes what another means."""
        if self._is_tied is None and self._parts.joined:
            ties = any(entry.ties is not None for entry in self._parts.entries)
            self._is_tied = ties or SIGN.search(self._parts.tail) is not None
        return self._parts.joined and not self._is_tied and len(self.messages()) == len(self._parts.entries)

    @staticmethod
    def is_blank(data: bytes) -> bool:
        """Whether a file is empty or holds nothing but comments."""
        return is_blank(data)

    @classmethod
    def blank(cls, data: bytes) -> QueueText:
        """A file that is blank, as a queue without messages; `parse` refuses it, since a harmed file looks so too."""
        return cls(data, Parts(data, Chunked.of(()), b"", Style(), joined=True, blank=True))

    @property
    def size(self) -> int:
        """How many entries there are, as they are cut at the moment."""
        return len(self._parts.entries)

    @property
    def head(self) -> bytes:
        """Everything before the first entry."""
        return self._parts.head

    @property
    def tail(self) -> bytes:
        """Everything after the last entry."""
        return self._parts.tail

    @property
    def whole(self) -> bool:
        """Whether columns did not tell where entries are, so that the file was read as one YAML document."""
        return self._parts.whole

    @property
    def style(self) -> Style:
        """How the file writes its list."""
        return self._parts.style

    @property
    def entries(self) -> Chunked[QueueEntry]:
        """All entries in order. Understands every one of them first, because an open quote may join some."""
        self.parse_all()
        return self._parts.entries

    def parse_all(self, progress: Callable[[int, int], bool] | None = None) -> None:
        """Understand every entry, so that nothing later costs time; `progress(done, total)` returns False to stop.

        Raises:
            InterruptedError: `progress` said so; what was understood so far is kept.
        """
        if not self._parts.joined:
            self._parts = join_all(self._parts, progress)

    def newest(self, limit: int) -> tuple[int, tuple[Message, ...]]:
        """How many entries are before the last `limit`, and the messages of those last, without a look at the others.

        Preliminary: whether an open quote before them swallows some is known only when all are understood.
        """
        last = self._parts.entries[-limit:]
        if any(entry.error is not None and entry.error.kind is Kind.ALIAS for entry in last):
            last = self.entries[-limit:]
        found = [entry.message for entry in last]
        return len(self._parts.entries) - len(last), tuple([message for message in found if message is not None])

    def data(self) -> bytes:
        """The bytes of the file; what was parsed comes out byte for byte."""
        data = self._data = self._stretches.join() if self._data is None else self._data
        return data

    def blocks(self) -> Iterator[bytes | memoryview]:
        """The same in blocks to be written one after the other; a text only just changed is not joined for that."""
        return self._stretches.blocks()

    def messages(self) -> Chunked[Message]:
        """The messages of all entries that are not damaged, in stored order."""
        if self._messages is None:
            found = [entry.outcome for entry in self.entries]
            self._messages = Chunked.of([message for message in found if isinstance(message, Message)])
        return self._messages

    def distinct(self) -> Chunked[Message]:
        """The messages, of further copies of one message the one that is furthest on its way."""
        if self._distinct is None:
            self._distinct = Chunked.of(distinct(self.messages()))
        return self._distinct

    def damaged(self) -> list[tuple[int, CodecError]]:
        """For each damaged entry the 1-based line of the file where it begins, and why (lines of the file).

        Of neighbours that were not even looked at, because too much before them is damaged, the first stands for all.
        """
        found, lines, position, skipped, data = [], 0, 0, False, self.data()
        for entry, start in zip(self.entries, self.starts(), strict=True):
            before, skipped = skipped, is_skipped(entry)
            if entry.error is not None and not (before and skipped):
                lines += data.count(b"\n", position, start)
                position = start
                found.append((lines + 1, entry.error.below(lines)))
        return found

    @property
    def damaged_count(self) -> int | None:
        """How many entries hold no message; None while they have not been understood."""
        if not self._parts.joined:
            return None
        return len(self._parts.entries) - len(self.messages())

    def near(self, positions: Sequence[int]) -> list[QueueEntry]:
        """The entries, as they are cut at the moment, that stand at these byte positions, which grow."""
        starts = self.starts()
        indices = dict.fromkeys(bisect_right(starts, place) - 1 for place in positions)
        return [self._parts.entries[index] for index in indices if index >= 0]

    def starts(self) -> list[int]:
        """Where each entry, as they are cut at the moment, begins in `data()`."""
        known = self._known_starts()
        if not isinstance(known, list):
            known = list(known)  # its items are found at once
            self._starts = self._parts.entries, known
        return known

    def _known_starts(self) -> Sequence[int]:
        entries, known = self._parts.entries, self._starts
        if known is None or known[0] is not entries:
            places = accumulate([entry.size for entry in entries], initial=len(self._parts.head))
            known = self._starts = entries, list(places)[: len(entries)]
        return known[1]

    def expect(self, count: int) -> None:
        """Say how many messages will be looked for by their ids: for many an index of all is made at once."""
        if self._index is None and count > _FEW_JOINED and self._parts.joined:
            self._index = index_of(self.entries, self.messages())

    def find(self, message_id: str) -> int | None:
        """The index in `entries` of the first message with this id; see `places`."""
        return next(iter(self.places(message_id)), None)

    def places(self, message_id: str) -> Sequence[int]:
        """The indices in `entries` of all messages with this id, in order; more than one where it was used again.

        A few ids are looked for as bytes, without understanding entries that do not hold them; many in an index.
        """
        if self._ids is not None and self._ids.lacks(message_id):
            return ()
        if self._index is None:
            self._searches += 1
            if self._searches <= (_FEW_JOINED if self._parts.joined else _FEW_UNJOINED):
                return self._search(message_id)
            self._index = index_of(self.entries, self.messages())
        places = self._index.get(message_id, ())
        return (places,) if isinstance(places, int) else places

    def _search(self, message_id: str) -> Sequence[int]:
        if message_id in self._absent:
            return ()
        near = self._near(message_id)
        if near and not self._parts.joined:
            self.parse_all()
            near = self._near(message_id)
        places = [index for index in near if self._parts.entries[index].message is not None]
        if not places:
            self._absent.add(message_id)
        return places

    def _near(self, message_id: str) -> list[int]:
        """Entries whose text may hold the id, but for those that are messages of another id."""
        outcomes = (
            (index, self._parts.entries[index].message) for index in dict.fromkeys(self._candidates(message_id))
        )
        return [index for index, message in outcomes if message is None or message.message_id == message_id]

    def holding(
        self, words: Collection[bytes], hidden: Collection[bytes] = (b"\\",), beside: Collection[bytes] = ()
    ) -> list[Message]:
        """Messages whose text holds one of `words` or a sign of what is `hidden`, as an escape, in stored order.

        Understands nothing when there are none. With `beside`, one of these is in the text as well; where they are is
        remembered and followed, so that always other words may be asked for beside the same few.
        """
        if not self._parts.joined:
            data = self.data()
            needed = (words, beside) if beside else (words,)
            if not any(sign in data for sign in hidden) and not all(holds_one(data, some) for some in needed):
                return []
            self.parse_all()
        key = (*hidden, *(beside or words))
        places = self._held.get(key)  # one verdict asks several times for the same
        if places is None:
            places = held_words.places_with(key, self._parts.entries, self.data(), self.starts())
        self._held = held_words.remembered(self._held, key, places)
        found = [self._parts.entries[place] for place in places]
        if beside:
            found = [entry for entry in found if held_words.may_hold((*words, *hidden), entry)]
        return [entry.message for entry in found if entry.message is not None]

    def edit(
        self,
        *,
        append: Sequence[Message] = (),
        replace: Mapping[int, Message] = _NOTHING,
        remove: Collection[int] = (),
    ) -> QueueText:
        """The text after a change; entries that are not named stay byte for byte. Indices are those of `entries`.

        Raises:
            CodecError: A message cannot be written, or a damaged entry was to be replaced.
        """
        from team_console.store.backends.yaml.codec.editing.edits import QueueEdit, edit

        if replace or remove or self._parts.flow or (self._parts.entries and self._parts.entries[-1].error):
            self.parse_all()
        done = edit(self._stretches, self._parts, self.starts, QueueEdit(append, replace, frozenset(remove)))
        changed = done.changed
        known = self._starts if self._starts is not None and self._starts[0] is self._parts.entries else None
        starts = starts_after(known[1], self._parts, changed, done.parts) if known and changed is not None else None
        text = QueueText(done.content, done.parts, starts)
        if changed is not None:
            text._follow(self, changed, done.added)
        return text

    def _follow(
        self, previous: QueueText, changed: Mapping[int, QueueEntry | None], added: Sequence[QueueEntry]
    ) -> None:
        """Know all messages, and where each is, from what was known before these entries changed or came."""
        before = previous._messages
        fresh = [*(entry for entry in changed.values() if entry is not None), *added]
        came = [entry.message for entry in fresh if entry.ties is None and entry.message is not None]
        if before is None or not previous._is_plain or len(came) != len(fresh) or self.tail != previous.tail:
            return
        outcomes = {index: None if entry is None else entry.message for index, entry in changed.items()}
        self._is_tied, self._messages = False, woven(before, outcomes, came[len(came) - len(added) :])
        gone, behind = [before[index] for index in changed], came[len(came) - len(added) :]
        now = [None if message is None else message.message_id for message in outcomes.values()]
        stay = now == [message.message_id for message in gone]
        if stay and previous._index is not None:
            places = enumerate(behind, start=len(before))
            self._index = with_places({**previous._index}, places) if behind else previous._index
        self._held = held_words.after_edit(previous._held, len(before), changed, added)
        if stay and not behind and previous._distinct is before:
            self._distinct, self._ids = self._messages, previous._ids
        elif previous._distinct is before:
            self._follow_ids(previous, gone, came)

    def _candidates(self, message_id: str) -> Iterator[int]:
        """Indices of the entries whose text may hold this id, written plainly or with escapes."""
        if not is_written_plainly(message_id):
            yield from range(len(self._parts.entries))
            return
        needle, data = message_id.encode(), self.data()
        position = data.find(needle)
        while position >= 0:
            index = bisect_right(self.starts(), position) - 1
            if index >= 0:
                yield index
            following = index + 1
            position = data.find(needle, self.starts()[following]) if following < len(self.starts()) else -1
        for byte, sign, hidden in HIDDEN_IDS if self._parts.entries else ():
            if byte in data and sign in data:
                for found in hidden.finditer(data, len(self._parts.head)):
                    yield min(bisect_right(self.starts(), found.end() - 1), len(self.starts())) - 1
