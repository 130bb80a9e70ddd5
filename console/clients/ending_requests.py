"""Ending requests that need no answer from here any more, as an event of a session shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from team_console.console.clients.event import EventName
from team_console.console.clients.session import LOCK_WAIT, ClientSession
from team_console.console.clients.session_files import (
    ASKED,
    PASSED,
    passed_file,
)
from team_console.console.clients.verdict_wait import WaitEnd
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import origin_of
from team_console.store.service.sessions import end_if_open, open_requests, orphaned_requests

HURRY = 0.7
"""Seconds a write at the end of a session waits for the lock: the client gives all its hooks 1.5 s then."""
_ONE_TOOL = (EventName.AFTER_TOOL, EventName.AFTER_FAILED_TOOL)
"""Events that say that one tool was used."""
_TURN_OVER = (EventName.STOP, EventName.INTERRUPT, EventName.SUBAGENT_STOP, EventName.TEAMMATE_IDLE, EventName.PROMPT)
"""Events that say that a turn is over: nothing that it asked is waited for any more."""


def end_requests(session: ClientSession) -> None:
    """Withdraw what the session decided itself, and what processes that are gone had asked, of any session.

    The store says what is open; files only tell of which thread in the session it is, so a lost one costs nothing.

    Raises:
        TeamError: The store's own.
    """
    asked_files = dict(
        session.files.all(ASKED)
    )  # before the store is read, or a new request would look like a gone one
    snapshot = session.team.snapshot()
    if not snapshot.is_known:
        return
    questions = open_requests(snapshot)
    orphans = orphaned_requests(session.team, questions)
    for name, asked in asked_files.items():
        if asked["request_id"] not in questions or asked["request_id"] in orphans:
            session.files.remove(name)
    is_session_end = session.event.name == EventName.SESSION_END
    caller_wait = HURRY if is_session_end else LOCK_WAIT
    reason = str(WaitEnd.SESSION_ENDED if is_session_end else WaitEnd.ANSWERED_THERE)
    for request_id, question in orphans.items():
        is_own = origin_of(question.payload).session == session.event.session
        why = reason if is_own else str(WaitEnd.SESSION_ENDED)
        end_if_open(session.caller(wait=caller_wait), request_id, asker=question.sender, reason=why)
    session.sweep_askers()
    if session.event.name in _TURN_OVER:
        while session.files.take(PASSED):  # what was let pass in the turn and not used
            continue
    asked_by_id = {str(asked["request_id"]): asked for asked in asked_files.values()}
    for request_id, question in _requests_decided(session, questions, asked_by_id):
        end_if_open(session.caller(wait=caller_wait), request_id, asker=question.sender, reason=reason)


def _requests_decided(
    session: ClientSession, questions: Mapping[str, Message], asked_by_id: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[str, Message]]:
    """Yield id and question of the requests that this event shows as decided; of equal ones that one tool call decides,
    the first.

    Args:
        asked_by_id: What the files of the session say of those that wait (`ASKED`).
    """
    call, data = session.call.text("tool_use_id"), session.call.data
    is_one_tool = session.event.name in _ONE_TOOL
    # guard: call-of-a-yes-decides-no-other
    if is_one_tool and session.files.take(
        passed_file(data.get("tool_name"), data.get("tool_input"), session.event.thread)
    ):
        return
    for request_id, question in questions.items():
        asked = asked_by_id.get(request_id, {})
        # guard: call-decides-its-own-request
        if is_one_tool and call and asked.get("call") not in (None, "", call):
            continue
        if origin_of(question.payload).session != session.event.session:
            continue
        # guard: request-without-a-file
        thread = _thread_of(session, question) if not asked else asked["thread"]
        # guard: answered-in-session
        if _shows_decided(session, question.payload, thread):
            yield request_id, question
            if is_one_tool:
                return


def _shows_decided(session: ClientSession, asked: Mapping[str, Any], thread: object) -> bool:
    """Return whether this event shows that what was asked needs no answer from here any more.

    The end of a session decides all of it; the end of a turn what its own thread asked; a tool that was used, with what
    was asked for, that. A plan comes back without its text, a question with its answers. Nobody waits for what the
    client denied by itself, so no turn ends it.

    Args:
        asked: The payload of the request.
        thread: Of the session, which asked it.
    """
    event = session.event
    if event.name == EventName.SESSION_END:
        return True
    if asked.get("denied") and event.name not in _ONE_TOOL:
        return False
    # guard: event-of-other-thread
    if thread != event.thread:
        return False
    if event.name not in _ONE_TOOL:
        return event.name in _TURN_OVER
    if "questions" in asked:
        return list(asked["questions"]) == event.input.get("questions")
    is_same_tool = event.tool == asked.get("tool", session.client.plan_tool)
    return is_same_tool and bool(event.input == asked.get("input", event.input))


def _thread_of(session: ClientSession, question: Message) -> str:
    """Return the thread of a request that no file tells of, as far as its asker tells it."""
    if question.sender == session.me:
        return ""
    return session.event.thread if question.sender == session.name else question.sender
