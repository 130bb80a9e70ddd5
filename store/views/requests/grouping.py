"""Groups of messages: by the request id they quote, and by what question and answer share where none is quoted."""

from __future__ import annotations

from collections.abc import Iterator

from team_console.store.model.reuse.memo import Multimap
from team_console.store.protocol.entries import Entry
from team_console.store.views.requests.pairing import Pool, pool_of_answer, pool_of_question

Thread = str
"""The id that a question has and its answers quote."""
Group = Thread | Pool


class Groups(Multimap[Group, Entry]):
    """Messages that concern requests, by group."""

    def __init__(self) -> None:
        super().__init__(groups_of)

    def questions(self, group: Group) -> list[Entry]:
        """The questions of a group, in no order."""
        return [entry for entry in self.of(group) if entry.read.opens is not None]

    def others(self, group: Group) -> list[Entry]:
        """What is no question: answers, and messages that may be one."""
        return [entry for entry in self.of(group) if entry.read.opens is None]


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
