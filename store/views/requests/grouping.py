"""Groups of messages: by the request id they quote, and by what question and answer share where none is quoted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from team_console.store.protocol.entries import Entry
from team_console.store.views.requests.pairing import Pool, pool_of_answer, pool_of_question

Thread = str
"""The id that a question has and its answers quote."""
Group = Thread | Pool


class Groups:
    """Messages that concern requests, by group and by id. What is learnt of a group is kept elsewhere."""

    def __init__(self) -> None:
        self._members: dict[Group, list[Entry]] = {}
        self._by_id: dict[str, list[Entry]] = {}

    def put(self, entry: Entry) -> None:
        """A message came; it joins its groups."""
        self._by_id.setdefault(entry.message.message_id, []).append(entry)
        for group in groups_of(entry):
            self._members.setdefault(group, []).append(entry)

    def drop(self, entry: Entry) -> None:
        """A message went out of its groups."""
        _drop(self._by_id, entry.message.message_id, entry)
        for group in groups_of(entry):
            _drop(self._members, group, entry)

    def questions(self, group: Group) -> list[Entry]:
        """The questions of a group, in no order."""
        return [entry for entry in self._members.get(group, ()) if entry.read.opens is not None]

    def others(self, group: Group) -> list[Entry]:
        """What is no question: answers, and messages that may be one."""
        return [entry for entry in self._members.get(group, ()) if entry.read.opens is None]

    def with_id(self, message_id: str) -> Sequence[Entry]:
        """Every message that has this id."""
        return self._by_id.get(message_id, ())


def groups_of(entry: Entry) -> Iterator[Group]:
    """The thread and the pool of a message. An answer that is paired in a pool quotes no id that is one question's."""
    question, answer = pool_of_question(entry), pool_of_answer(entry)
    if question is not None:
        yield question
    if answer is not None:
        yield answer
    elif entry.read.request_id is not None:
        yield entry.read.request_id


def thread_of(question: Entry) -> Thread:
    """The id an answer must quote."""
    return question.read.request_id or question.message.message_id


def _drop(members: dict[Group, list[Entry]] | dict[str, list[Entry]], key: Group, entry: Entry) -> None:
    entries: list[Entry] = members[key]  # type: ignore[index]
    entries.remove(entry)
    if not entries:
        del members[key]  # type: ignore[arg-type]
