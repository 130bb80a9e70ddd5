"""Superseded requests: which later question of the same author takes the place of an earlier one (decision D8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from team_console.store.model.message import Message, Status
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.kinds.registry import SUPERSEDING
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.answering import withdraws


def superseders(messages: Sequence[Message]) -> dict[str, Message]:
    """Message id of each question that was superseded -> the latest question of its author that stands.

    The order is the stored one, which is that of arrival: a date may come from a clock that was ahead.

    Args:
        messages: In stored order, with what withdrew any of them.
    """
    chains: dict[tuple[RequestKind, str, str], list[Message]] = {}
    withdrawing: dict[str, list[Message]] = {}
    for message in messages:
        read = reading(message)
        if read.opens is not None and read.opens in SUPERSEDING:
            chains.setdefault(_chain_of(message, read.opens), []).append(message)
        elif read.kind is not None and read.kind.withdraws and read.request_id is not None:
            withdrawing.setdefault(read.request_id, []).append(message)
    found: dict[str, Message] = {}
    for questions in chains.values():
        standing = [question for question in questions if not _is_gone(question, withdrawing.get(_id_of(question), ()))]
        if standing:
            before = questions[: questions.index(standing[-1])]
            found.update(
                {message.message_id: standing[-1] for message in before if _id_of(message) != _id_of(standing[-1])}
            )
    return found


def _chain_of(message: Message, kind: RequestKind) -> tuple[RequestKind, str, str]:
    """Questions of which the newest counts: the plans of one author, the stops one asker asked of one agent."""
    return kind, message.sender, message.recipients[0] if kind is RequestKind.SHUTDOWN else ""


def _is_gone(question: Message, withdrawing: Iterable[Message]) -> bool:
    taken_back = any(withdraws(message, question, _id_of(question)) for message in withdrawing)
    return taken_back or question.status == Status.RECALLED


def _id_of(question: Message) -> str:
    return reading(question).request_id or question.message_id
