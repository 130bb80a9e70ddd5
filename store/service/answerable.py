"""Find the question of a request by its id, tell who may answer it now, and close it (decisions D10, D14)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from team_console.store.contract.snapshot import Snapshot, TeamState
from team_console.store.contract.transaction import ChangedError, Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.protocol.judgement import already_answered, judge, not_for_actor, with_bearing
from team_console.store.protocol.kinds import REUSED_IDS, SUPERSEDING, RequestKind
from team_console.store.protocol.parsing import asks
from team_console.store.protocol.request_row import RequestRow, RequestState
from team_console.store.protocol.rights import may_answer
from team_console.store.protocol.shown_when_decided import Face, Seen, digest_of
from team_console.store.service.writing import archive_as_read


def requests_in(state: TeamState, messages: Iterable[Message]) -> dict[Message, RequestRow]:
    """Return the requests that these messages open, as `judge` does by what is known in `state`."""
    return judge(messages, state.config, state.recorded, state.now)


def answerable_request(tx: Transaction, request_id: str, *, actor: str, seen: Seen) -> RequestRow:
    """Return the request `request_id`, when `actor` may answer it now; judged under the lock.

    Args:
        seen: What was shown of it; what was only named by its id may be whatever it is now, unless several have that
            id.

    Refused is first what was not seen, then who may not answer and hears nothing of the rest, then what is over, and
    last an id that several have: only of open requests does it matter which one is meant.

    Raises:
        ChangedError: It is not what was `seen`, or what was shown beside it is not.
        TeamError: `INVALID_REQUEST_ID` (also for one that was withdrawn, superseded or timed out, and for an id alone
            that several have), `NOT_PERMITTED`, `ALREADY_ANSWERED`.
    """
    case, asked = find_question(tx, request_id, seen.question)
    question = case.question
    tx.expect(question)
    # guard: seen-question
    _refuse_unseen(tx, request_id, question, seen)
    if not may_answer(tx.config.lead, actor=actor, kind=case.kind, addressee=case.addressee):
        is_named = actor in question.recipients  # and still not the one who decides such a request
        raise not_for_actor(actor, request_id, (tx.config.lead,) if is_named else question.recipients)
    refuse_decided(case)
    # guard: withdrawn-request-refused
    refuse_ended(tx, case)
    if seen.face is Face.NAMED:
        _refuse_ambiguous_id(case, asked)
    return case


def _refuse_ambiguous_id(case: RequestRow, asked: Iterable[RequestRow]) -> None:
    """Refuse an id alone that several requests have: whoever asked last chose it, and an answer must not land there."""
    question, request_id = case.question, case.request_id
    for other in asked:
        message = other.question
        # Of kinds whose ids agents use again (`DBG-001`), a request that is over stands in nobody's way.
        if digest_of(message) != digest_of(question) and (other.kind not in REUSED_IDS or other.is_open):
            text = f"{request_id} is the id of several requests: {question.message_id} and {message.message_id}"
            hint = f"Look at each with: team-console show {question.message_id}; it prints the word for --seen."
            raise TeamError(Code.INVALID_REQUEST_ID, text, hint, request_id=request_id)


def _newest_version(state: TeamState, case: RequestRow) -> str:
    """Return the id of the last request of those that replaced this one, each the one before."""
    rows = requests_in(state, state.everything()).values()
    later = {row.request_id: row.superseded_by for row in rows if (row.kind, row.asker) == (case.kind, case.asker)}
    request_id = case.request_id
    while (newer := later.pop(request_id, None)) is not None:
        request_id = newer
    return request_id


def _refuse_unseen(tx: Transaction, request_id: str, question: Message, seen: Seen) -> None:
    """Refuse what was not on the screen: another question, or another former version beside it."""
    is_named_alone = seen.face is Face.NAMED and not seen.question
    if not is_named_alone and digest_of(question) != seen.question:
        raise ChangedError(request_id, question)
    for other, digest in seen.before:
        # guard: former-version-shown
        if not any(digest_of(message) == digest for message in tx.thread(other)):
            raise ChangedError(request_id, question)


def find_question(
    state: TeamState, request_id: str, wanted: str = "", *, asker: str | None = None
) -> tuple[RequestRow, Sequence[RequestRow]]:
    """Return the request behind `request_id` as it stands, and everything that was asked under the id, oldest first.

    Args:
        wanted: `digest_of` the question that is meant where several have the id; else it is the first, and of
            those whose ids are used again the first that waits.
        asker: Whose is meant where several agents have asked under the id; two may both call theirs `DBG-001`.

    Raises:
        TeamError: `INVALID_REQUEST_ID`.
    """
    if not request_id:
        raise TeamError(Code.INVALID_REQUEST_ID, "the request id is empty", "Quote the id of the request.")
    thread = state.thread(request_id)
    rows = requests_in(state, with_bearing(thread, state.everything))
    asked = [row for message in thread if (row := rows.get(message)) is not None and row.request_id == request_id]
    own = [case for case in asked if case.asker == asker] or asked
    if not own:
        raise no_request(request_id)
    found = own[0]
    if wanted:
        found = next((case for case in own if digest_of(case.question) == wanted), found)
    elif found.kind in REUSED_IDS:
        found = next((case for case in own if case.is_open), found)
    return found, asked


def no_request(request_id: str, hint: str = "List the open ones with: team-console requests --open") -> TeamError:
    """Return the error for an id under which nothing is asked."""
    return TeamError(Code.INVALID_REQUEST_ID, f"no request {request_id}", hint, request_id=request_id)


def close_question(tx: Transaction, question: Message, *, actor: str) -> None:
    """Mark a question as read and archive it for whoever answered it: answering implies having read."""
    live = tx.get(question.message_id)
    if live is not None and live.is_unread_by(actor):
        archive_as_read(tx, live, actor)


# guard: first-answer-wins
def refuse_decided(case: RequestRow) -> None:
    """Refuse what has an answer that counts.

    Raises:
        TeamError: `ALREADY_ANSWERED`, with who and when.
    """
    if case.verdict is None or case.is_open:
        return
    word = case.state if case.kind is not RequestKind.QUESTION else RequestState.ANSWERED
    error = already_answered(case.request_id, case.verdict, word)
    if case.ending is not None:
        until = f" until {to_text(case.ending.due_at, milliseconds=False)}" if case.ending.due_at else ""
        error.message += f"; {case.ends} was asked to stop and has{until} to answer"
        error.hint = "AGENT_DESTROYED follows when it has answered, or after that time."
    raise error


def refuse_ended(state: TeamState, case: RequestRow) -> None:
    """Refuse what its asker took back or waits for no longer, and what a later request replaced (requirement 81).

    An agent may say that it stops, or not, to each order it was given: what it agreed to is done in any case.
    """
    request_id, question, newer = case.request_id, case.question, case.superseded_by
    if case.is_of_former_life:
        text = f"{request_id} needs no answer any more: {case.lapse}"
        hint = "Nothing was written. What it asks for is about the one before; ask anew for the one that is there now."
        raise TeamError(Code.INVALID_REQUEST_ID, text, hint, request_id=request_id, reason=case.lapse)
    if case.kind is RequestKind.SHUTDOWN and case.taken_back is None and question.status != Status.RECALLED:
        return
    if case.state is RequestState.SUPERSEDED and newer is not None:
        newest = _newest_version(state, case)
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"{request_id} was superseded by {newer}",
            f"Read and answer the newest {'plan' if case.kind is RequestKind.PLAN else 'request'}: {newest}",
            request_id=request_id,
            superseded_by=newer,
        )
    if case.state is RequestState.WITHDRAWN:
        notice, why = case.taken_back, case.reason or "taken back"
        if notice is not None:
            at = notice.created
        elif case.withdrawn_at:
            at = to_text(case.withdrawn_at)
        else:
            at = ""
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"{request_id} needs no answer any more: {why:.200}",
            f"{case.asker} withdrew it{f' at {at}' if at else ''}; nothing was written.",
            request_id=request_id,
            withdrawn_at=at or None,
            reason=why,
        )
    is_live = any(message.message_id == question.message_id for message in state.everything())
    if case.kind in SUPERSEDING and not is_live:
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"{request_id} is not open any more: it left the queue unanswered, because a later one took its place",
            f"If it still matters, let {case.asker} hand it in again.",
            request_id=request_id,
        )


def live_question(snapshot: Snapshot, request_id: str, wanted: str = "") -> Message | None:
    """Return the question of this id in the queue, of several that with the digest `wanted`; None when there is
    none.
    """
    asked = [message for message in snapshot.messages if asks(message, request_id)]
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
