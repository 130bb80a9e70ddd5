"""Requests left behind: whose asker waited in a process that has ended, so that nobody would carry out an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from team_console.store.contract.presence import Presence, is_presence_name
from team_console.store.contract.team import Snapshot, Team
from team_console.store.desk.asking import end_request
from team_console.store.desk.caller import Caller
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.reuse.last_result import LastResult
from team_console.store.protocol.client_requests import asker_of, origin_of
from team_console.store.protocol.judgement import Case, RequestState, judge
from team_console.store.protocol.kinds.registry import KINDS
from team_console.store.protocol.reading import reading

SESSION_ENDED = "session ended"
"""Why a request of a process that is gone needs no answer."""
_OVER = (Code.ALREADY_ANSWERED, Code.INVALID_REQUEST_ID)
"""Errors that say that somebody else ended the request first."""


def left_behind(team: Team, questions: Mapping[str, Message]) -> Mapping[str, Message]:
    """Those of the open requests (request id -> question) whose asker has certainly ended; takes no lock."""
    named = {key: asker for key, question in questions.items() if is_presence_name(asker := asker_of(question.payload))}
    if not named:
        return {}
    attendance = team.attendance(Presence.ASKER)
    return {key: questions[key] for key, asker in named.items() if attendance.is_gone(asker)}


def end_left_behind(caller: Caller, questions: Mapping[str, Message]) -> tuple[str, ...]:
    """Withdraw what is left behind, in the name of its askers; the ids of the requests that were ended by this.

    Args:
        questions: Request id -> question of the open requests, as of a look without a lock.

    Raises:
        TeamError: The store's own.
    """
    return tuple(
        request_id
        for request_id, question in left_behind(caller.team, questions).items()
        if end_if_open(caller, request_id, asker=question.sender, reason=SESSION_ENDED)
    )


def end_if_open(caller: Caller, request_id: str, *, asker: str, reason: str) -> bool:
    """Withdraw a request unless it has been answered or withdrawn meanwhile; whether this did it.

    Raises:
        TeamError: The store's own.
    """
    try:
        return not end_request(caller, request_id=request_id, asker=asker, reason=reason).repeated
    except TeamError as error:
        if error.code not in _OVER:
            raise
        return False


def refuse_left_behind(caller: Caller, snapshot: Snapshot, request_id: str) -> None:
    """Refuse to answer a request whose asker is gone: a yes would be on record that nobody carries out.

    Raises:
        TeamError: `INVALID_REQUEST_ID`.
    """
    question = left_behind(caller.team, open_requests(snapshot)).get(request_id)
    if question is None:
        return
    end_if_open(caller, request_id, asker=question.sender, reason=SESSION_ENDED)
    text = f"{request_id} needs no answer any more: {SESSION_ENDED}"
    raise TeamError(
        Code.INVALID_REQUEST_ID, text, f"{question.sender} asks again if it matters.", request_id=request_id
    )


def open_requests(snapshot: Snapshot, *, session: str | None = None) -> Mapping[str, Message]:
    """Request id -> question of every request of a client, or of one session, that nothing has ended yet.

    A look at the live messages alone: an answer that left the queue took its question along.
    """
    questions = {
        request_id: message
        for request_id, message in _asked(snapshot.messages)
        if session is None or origin_of(message.payload).session == session
    }
    if not questions:
        return {}
    about = [item for item in snapshot.messages if not item.is_letter and reading(item).request_id in questions]
    cases = judge(about, snapshot.config, snapshot.recorded, snapshot.taken_at)
    return {key: question for key, question in questions.items() if _is_waited_for(cases.get(question))}


def _questions(messages: Sequence[Message]) -> Iterator[tuple[str, Message]]:
    for message in messages:
        kind = KINDS.get(message.type)
        if kind is not None and kind.opens is not None and origin_of(message.payload).client:
            read = reading(message)
            if read.opens is not None and read.request_id is not None:
                yield read.request_id, message


_asked = LastResult[Sequence[Message], tuple[tuple[str, Message], ...]](lambda messages: tuple(_questions(messages)))
"""The questions of clients in a queue that did not change since, for those who answer many one after the other."""


def _is_waited_for(case: Case | None) -> bool:
    """Whether nothing ended it; a superseded plan would be open again once the later one is withdrawn."""
    return case is not None and (case.is_open or case.state is RequestState.SUPERSEDED)
