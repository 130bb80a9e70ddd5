"""Questions: an open request found under its id, who may answer it now, and how it is closed (decisions D10, D14, D17).

What answers them stands above: `writing` dispatches, `creation` and `endings` answer for the Master.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from team_console.store.contract.changed import ChangedError
from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import Transaction
from team_console.store.desk.inbox import mark_as_read
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.reuse.last_result import LastResult
from team_console.store.protocol.client_requests import ONCE, TIMED_OUT, expiry_of
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.kinds.registry import SUPERSEDING
from team_console.store.protocol.kinds.templates import phrase
from team_console.store.protocol.permissions import may_answer
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.answering import REUSED_IDS, already_answered, answers, withdraws
from team_console.store.protocol.relations.succession import superseders
from team_console.store.protocol.seen import Face, Seen, digest_of
from team_console.store.protocol.verdicts.trust import objection

_MOST_USES = 64
"""Uses of one id that are looked at for the one that waits; for each of them the whole thread is."""


class Terms(Struct, frozen=True):
    """How far a yes goes.

    Attributes:
        scope: `once` or `always`.
        number: Which of the client's own suggestions is allowed always, from 1.
        mode: The mode in which the asker of a plan goes on.
        updated: What is approved in place of what was asked for: an edited plan or part of a tool's input as text, or
            the whole input.
    """

    scope: str = ONCE
    number: int | None = None
    mode: str | None = None
    updated: Mapping[str, Any] | str | None = None


class Verdict(Struct, frozen=True):
    """An answer to a request.

    Attributes:
        approve: None for an answer that is neither yes nor no.
        text: Note of an approval, reason of a refusal, words of an answer.
        suggestion: What would be accepted instead (requirement 94).
        terms: How far a yes goes.
        answers: Question text -> label, labels or own words.
        message_id: Id given by the answerer; None to make one.
    """

    approve: bool | None
    text: str | None = None
    suggestion: str | None = None
    terms: Terms = Terms()
    answers: Mapping[str, str | Sequence[str]] | None = None
    message_id: str | None = None

    @property
    def action(self) -> str:
        """The verb of the audit trail."""
        if self.approve is None or self.answers is not None:
            return "answer"
        return "approve" if self.approve else "reject"

    def content(self, language: str) -> str:
        """The words the asker reads, ours among them in the team's language."""
        offered = phrase(language, "{}: {}", phrase(language, "Suggestion"), self.suggestion)
        return "\n\n".join(filter(None, (self.text, offered if self.suggestion else "")))


def open_question(
    tx: Transaction, request_id: str, *, actor: str, seen: Seen | str | None = None
) -> tuple[Message, RequestKind]:
    """The question behind `request_id`, when `actor` may answer it now; judged under the lock.

    Args:
        seen: What was shown of it: everything, or the `digest_of` of the question alone; what was only named by its
            id may be whatever it is now, unless several have that id.

    Raises:
        ChangedError: It is not what was `seen`, or what was shown beside it is not.
        TeamError: `INVALID_REQUEST_ID` (also for one that was withdrawn, superseded or timed out, and for an id alone
            that several have), `NOT_PERMITTED`, `ALREADY_ANSWERED`.
    """
    wanted = (seen if isinstance(seen, str) else seen.question) if seen is not None else ""
    question, kind, thread = find_question(tx, request_id, wanted)
    tx.expect(question)
    if seen is not None:
        _refuse_unseen(tx, request_id, question, seen)
    if not may_answer(tx.config, actor=actor, kind=kind, addressee=question.recipients[0]):
        raise TeamError(
            Code.NOT_PERMITTED,
            f"{actor} may not answer {request_id}; it is for {', '.join(question.recipients)}",
            "Only the addressee of a request answers it (for plans and sprint requests: the lead).",
            request_id=request_id,
        )
    refuse_answered(tx, request_id, question, kind, thread)
    _refuse_gone(tx, request_id, question, kind, thread)
    _refuse_superseded(tx, request_id, question, kind)
    if seen is None or (isinstance(seen, Seen) and seen.face is Face.NAMED):
        _refuse_several(tx, request_id, question, thread)
    return question, kind


def _refuse_several(tx: Transaction, request_id: str, question: Message, thread: Sequence[Message]) -> None:
    """Refuse an id alone that several requests have: whoever asked last chose it, and an answer must not land there."""
    for place, other in enumerate(_asked_under(request_id, thread)):
        kind = opened_kind(other)
        if kind is None or digest_of(other) == digest_of(question):
            continue
        if kind not in REUSED_IDS or place >= _MOST_USES or _waits(tx, request_id, other, kind, thread):
            text = f"{request_id} is the id of several requests: {question.message_id} and {other.message_id}"
            hint = f"Look at each with: team-console show {question.message_id}; it prints the word for --seen."
            raise TeamError(Code.INVALID_REQUEST_ID, text, hint, request_id=request_id)


def _waits(tx: Transaction, request_id: str, question: Message, kind: RequestKind, thread: Sequence[Message]) -> bool:
    of_it = tx, request_id, question, kind, thread
    try:
        refuse_answered(*of_it)
        _refuse_gone(*of_it)
    except TeamError:
        return False
    return True


def _refuse_unseen(tx: Transaction, request_id: str, question: Message, seen: Seen | str) -> None:
    """Refuse what was not on the screen: another question, or another former version beside it."""
    wanted = seen if isinstance(seen, str) else seen.question
    is_named_alone = isinstance(seen, Seen) and seen.face is Face.NAMED and not wanted
    if not is_named_alone and digest_of(question) != wanted:
        raise ChangedError(request_id, question)
    for other, digest in () if isinstance(seen, str) else seen.before:
        if not any(digest_of(message) == digest for message in tx.thread(other)):
            raise ChangedError(request_id, question)


def find_question(
    tx: Transaction, request_id: str, wanted: str = "", *, asker: str | None = None
) -> tuple[Message, RequestKind, Sequence[Message]]:
    """The question behind `request_id` with its kind and everything that carries the id, oldest first.

    Args:
        wanted: `digest_of` of the one that is meant where several have the id; else it is the first, and of those
            whose ids are used again the first that waits.
        asker: Whose is meant where several agents have asked under the id; two may both call theirs `DBG-001`.

    Raises:
        TeamError: `INVALID_REQUEST_ID`.
    """
    thread = _thread(tx, request_id)
    asked = _asked_under(request_id, thread)
    asked = [message for message in asked if message.sender == asker] or asked
    question = asked[0] if asked else None
    if len(asked) > 1:
        question = next(_meant(tx, request_id, asked, thread, wanted), question)
    kind = opened_kind(question) if question is not None else None
    if question is None or kind is None:
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"no request {request_id}",
            "List the open ones with: team-console requests --open",
            request_id=request_id,
        )
    return question, kind, thread


def _asked_under(request_id: str, thread: Sequence[Message]) -> list[Message]:
    return [message for message in thread if opened_kind(message) and reading(message).request_id == request_id]


def _meant(
    tx: Transaction, request_id: str, asked: Sequence[Message], thread: Sequence[Message], wanted: str
) -> Iterator[Message]:
    """Of several questions under one id those that may be meant, the likeliest first."""
    if wanted:
        yield from (question for question in asked if digest_of(question) == wanted)
        return
    for question in asked[:_MOST_USES]:
        kind = opened_kind(question)
        if kind not in REUSED_IDS:
            return  # the first one has the id
        if _waits(tx, request_id, question, kind, thread):
            yield question


def withdrawal_of(question: Message, request_id: str, thread: Sequence[Message]) -> Message | None:
    """What took the question back, None while nothing did."""
    return next((message for message in thread if withdraws(message, question, request_id)), None)


def close_question(tx: Transaction, question: Message, *, actor: str) -> None:
    """Answering implies having read: the question is read and archived for whoever answered it."""
    live = tx.get(question.message_id)
    if live is not None and live.is_unread_by(actor):
        mark_as_read(tx, live, actor)


def _thread(tx: Transaction, request_id: str) -> list[Message]:
    if not request_id:
        raise TeamError(Code.INVALID_REQUEST_ID, "the request id is empty", "Quote the id of the request.")
    return tx.thread(request_id)


def refuse_answered(
    tx: Transaction, request_id: str, question: Message, kind: RequestKind, thread: Sequence[Message]
) -> None:
    """Refuse what has an answer that counts: one in time, by somebody who may give it, and before any withdrawal.

    Raises:
        TeamError: `ALREADY_ANSWERED`, with who and when.
    """
    end = expiry_of(kind, question.payload)
    for message in thread:
        if withdraws(message, question, request_id):
            return
        if not answers(message, kind, request_id) or _is_late(message, end):
            continue
        if objection(tx.config, message, question):
            continue  # what is forged must not keep the human from answering
        if may_answer(tx.config, actor=message.sender, kind=kind, addressee=question.recipients[0]):
            word = {True: "approved", False: "rejected", None: "answered"}[reading(message).approve]
            raise already_answered(request_id, message, word)


def _is_late(message: Message, end: datetime | None) -> bool:
    moment = message.created_at
    return end is not None and moment is not None and moment >= end


def _refuse_gone(
    tx: Transaction, request_id: str, question: Message, kind: RequestKind, thread: Sequence[Message]
) -> None:
    """Refuse a question that its asker took back, or waits for no longer."""
    notice, end = withdrawal_of(question, request_id, thread), expiry_of(kind, question.payload)
    if notice is not None:
        why, at = str(notice.payload.get("reason") or "taken back"), notice.created
    elif question.status == Status.RECALLED:
        why, at = "taken back", str(question.envelope("recalled_at") or "")
    elif end is not None and tx.now >= end:
        why, at = TIMED_OUT, to_text(end)
    else:
        return
    raise TeamError(
        Code.INVALID_REQUEST_ID,
        f"{request_id} needs no answer any more: {why:.200}",
        f"{question.sender} withdrew it{f' at {at}' if at else ''}; nothing was written.",
        request_id=request_id,
        withdrawn_at=at or None,
        reason=why,
    )


_superseders = LastResult[Sequence[Message], Mapping[str, Message]](superseders)
"""What superseded what in a queue that did not change since, for those who answer many one after the other."""


def _refuse_superseded(tx: Transaction, request_id: str, question: Message, kind: RequestKind) -> None:
    """Refuse a plan whose author handed in a newer one, and a stop that was asked for again (requirement 81)."""
    if kind not in SUPERSEDING:
        return
    if tx.get(question.message_id) is None:
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"{request_id} is not open any more: it left the queue unanswered, because a later one took its place",
            f"If it still matters, let {question.sender} hand it in again.",
            request_id=request_id,
        )
    later = _superseders(tx.everything()).get(question.message_id)
    if later is not None:
        what = "plan" if kind is RequestKind.PLAN else "request"
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"{request_id} was superseded by {later.request_id}",
            f"Read and answer the newer {what}: {later.request_id}",
            request_id=request_id,
            superseded_by=later.request_id,
        )


def opened_kind(message: Message) -> RequestKind | None:
    """The kind of request that this message opens."""
    kind = reading(message).kind
    return kind.opens if kind is not None else None


def live_question(snapshot: Snapshot, request_id: str, wanted: str = "") -> Message | None:
    """The question of this id in the queue, of several that with the fingerprint `wanted`; None when there is none."""
    asked = _asked_under(request_id, snapshot.messages)
    first = asked[0] if asked else None
    return next((question for question in asked if wanted and digest_of(question) == wanted), first)


def refuse_damaged(snapshot: Snapshot, request_id: str) -> None:
    """Refuse, by a look without the lock, a request whose record in the queue is damaged.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    if request_id in snapshot.damaged and live_question(snapshot, request_id) is None:
        text = f"the record of request {request_id} in the queue is damaged, so it cannot be answered"
        hint = "'team-console check' names file and line; repair it, or ask the sender to ask again."
        raise TeamError(Code.STORE_UNREADABLE, text, hint, request_id=request_id)
