"""Ending requests that need no answer from here any more, as an event of a session shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from team_console.console.clients.events import EventName
from team_console.console.clients.hook.session import LOCK_WAIT, ClientSession
from team_console.console.clients.hook.waiting import ANSWERED_THERE, SESSION_ENDED
from team_console.console.clients.quick.proof import Data, asked_in, shows_decided
from team_console.console.clients.quick.session_files import ASKED
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import origin_of
from team_console.store.service.sessions import end_if_open, left_behind, open_requests

HURRY = 0.7
"""Seconds a write at the end of a session waits for the lock: the client gives all its hooks 1.5 s then."""
_ONE_TOOL = (EventName.AFTER_TOOL, EventName.AFTER_FAILED_TOOL)


def end_requests(session: ClientSession) -> None:
    """Withdraw what the session decided itself, and what processes that are gone had asked, of any session.

    The store says what is open; files only tell of which thread in the session it is, so a lost one costs nothing.

    Raises:
        TeamError: The store's own.
    """
    snapshot = session.team.snapshot()
    if not snapshot.is_known:
        return
    questions = open_requests(snapshot)
    ends = session.event.name == EventName.SESSION_END
    wait = HURRY if ends else LOCK_WAIT
    for request_id, question in left_behind(session.team, questions).items():
        own = origin_of(question.payload).session == session.event.session
        reason = ANSWERED_THERE if own and not ends else SESSION_ENDED
        end_if_open(session.caller(wait=wait), request_id, asker=question.sender, reason=reason)
    session.sweep_askers()
    for request_id, question in _decided(session, questions):
        reason = SESSION_ENDED if ends else ANSWERED_THERE
        end_if_open(session.caller(wait=wait), request_id, asker=question.sender, reason=reason)


def _decided(session: ClientSession, questions: Mapping[str, Message]) -> Iterator[tuple[str, Message]]:
    """What this event shows to be decided; of equal requests that one used tool decides, the first."""
    known = {str(asked.get("request_id")): asked for asked in _asked(session)}
    for request_id, question in questions.items():
        if origin_of(question.payload).session != session.event.session:
            continue
        asked = known.get(request_id) or asked_in(dict(question.payload), _thread_of(session, question))
        if shows_decided(session.call.data, asked):
            yield request_id, question
            if session.event.name in _ONE_TOOL:
                return


def _thread_of(session: ClientSession, question: Message) -> str:
    """The thread of a request that no file tells of, as far as its asker tells it."""
    if question.sender == session.me:
        return ""
    return session.event.thread if question.sender == session.name else question.sender


def _asked(session: ClientSession) -> Iterator[Data]:
    for name in session.files.names(ASKED):
        asked = session.files.read(name)
        if asked is not None:
            yield asked
