"""Which message answers which request: the rule that the desk decides by and the ledger shows."""

from __future__ import annotations

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import answers_of
from team_console.store.protocol.kinds import FOR_CLIENTS, IN_WORDS, VERDICT_ONLY, RequestKind
from team_console.store.protocol.parsing import ParsedMessage, parse_message

WITHDRAWN = "request_withdrawn"
"""The kind by which an asker takes back a request."""


def answers(message: Message, kind: RequestKind, request_id: str) -> bool:
    """Whether `message` claims to answer the request `request_id` of this kind."""
    seen = parse_message(message)
    if seen.kind is None or seen.request_id != request_id or seen.opens is not None or seen.kind.withdraws:
        return False
    if kind in FOR_CLIENTS:
        # guard: answer-of-its-own-kind
        return seen.answers is kind and _decides(seen)
    if seen.answers is not None:
        return seen.answers is kind and (seen.approve is not None or kind not in VERDICT_ONLY)
    return kind in IN_WORDS or seen.approve is not None


def _decides(seen: ParsedMessage) -> bool:
    """Whether a client can act on this answer: a clear yes or no, and for a question what was chosen."""
    if seen.answers is RequestKind.QUESTION and seen.approve:
        return bool(answers_of(seen.body))
    return seen.approve is not None


def withdraws(message: Message, question: Message, request_id: str) -> bool:
    """Whether `message` takes back the request: only its asker can."""
    seen = parse_message(message)
    return (
        seen.kind is not None
        and seen.kind.withdraws
        and seen.request_id == request_id
        and message.sender == question.sender
    )


def already_answered(
    request_id: str,
    answer: Message,
    word: str = "answered",
    hint: str = "The first answer stands; send a message if you want to say more.",
) -> TeamError:
    """The refusal of a second answer, with who gave the first one and when."""
    text = f"{request_id} was already {word} by {answer.sender} at {answer.created}"
    by, at = answer.sender, answer.created
    return TeamError(Code.ALREADY_ANSWERED, text, hint, request_id=request_id, answered_by=by, answered_at=at)
