"""Calls that a client denied by itself: put on the human's list, and let pass once where they are allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from team_console.console.clients.asking import WaitEnd, mark_as_read, session_origin, wait_in_hook
from team_console.console.clients.event import specific_reply
from team_console.console.clients.quick_answer import member_files
from team_console.console.clients.session import ClientSession
from team_console.console.clients.session_files import (
    ALLOWED,
    QUIET,
    REFUSED,
    checksum_of,
)
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.client_answer import sent_back
from team_console.store.protocol.client_requests import Permission, denial_of, origin_of, permission_of
from team_console.store.protocol.foreign_fields import mapping_in, text_in
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.tool_input import headline_of
from team_console.store.service.asking import ask_permission
from team_console.store.service.inbox import trust_check
from team_console.store.service.sessions import use_up_permission
from team_console.store.service.waiting import human_present
from team_console.store.views.verdicts import verdict_of

_OFFERED_FOR = timedelta(hours=1)
"""How long a denied call may still be allowed: later nobody knows what it was good for."""
_DENIED_WAIT = 120.0
"""Seconds for which a denied call waits for a human who is there; later its session is told by mail."""


def offer_denied(session: ClientSession) -> None:
    """Put a denied call on the human's list, and let it be tried again where it is allowed within the turn.

    Without a human, and after a while, the agent goes on without it; a yes then comes as mail.
    """
    event = session.event
    if session.config.wait_for_human == "never" or not event.tool:
        return
    session.meet_teammate()
    receipt = ask_permission(
        session.caller(),
        tool=event.tool,
        input=event.input,
        expires=session.team.clock() + _OFFERED_FOR,
        summary=f"Denied by the client: {headline_of(Permission(event.tool, event.input))}",
        denied=event.reason.strip() or "the client gave no reason",
        **session_origin(session),
    )
    if receipt.request_id is None or not human_present(session.team):
        return
    decided = wait_in_hook(session, receipt, seconds=_DENIED_WAIT, needs_human=True)
    if isinstance(decided, WaitEnd) or decided.verdict is None or not allowed_call(session, receipt.request_id):
        return
    keep_allowed(session, [decided.verdict])
    if session.say(specific_reply(event, retry=True)):
        mark_as_read(session, decided.verdict)


def record_refused(session: ClientSession) -> None:
    """Put on record what the client refused by itself while nobody could be asked; nobody can allow it any more."""
    now = session.team.clock()
    for name, facts in list(session.files.all(REFUSED)):
        session.files.remove(name)
        tool, given = text_in(facts, "tool_name"), mapping_in(facts, "tool_input")
        ask_permission(
            session.caller(session.me),
            tool=tool,
            input=given,
            directory=text_in(facts, "cwd"),
            session=session.event.session,
            client=session.event.client,
            expires=now,
            summary=f"Refused by the client: {headline_of(Permission(tool, given))}",
            denied="nobody was at its terminal, and nobody at a console",
        )


def keep_allowed(session: ClientSession, messages: Sequence[Message]) -> None:
    """Leave a hint of what these messages allow once, for when the agent tries it again."""
    for message in messages:
        read = parse_message(message)
        request_id = read.request_id
        if request_id and read.answers is RequestKind.PERMISSION and allowed_call(session, request_id):
            session.files.write(f"{ALLOWED}{checksum_of(request_id):08x}", {"request_id": request_id})
            member_files(session.call).remove(QUIET)


def allow_once(session: ClientSession) -> bool:
    """Let a call pass that the human allowed, in the form and the folder that was shown; returns whether it was said.

    The store uses the permission up.

    The file is a hint: whoever can write one allows nothing by it, because the store says what was allowed and used.
    """
    event = session.event
    for name in session.files.names(ALLOWED):
        request_id = str((session.files.read(name) or {}).get("request_id", ""))
        allowed = allowed_call(session, request_id)
        # guard: offer-ends
        if allowed is None or (allowed.ends_at is not None and session.team.clock() >= allowed.ends_at):
            session.files.remove(name)
        elif allowed.key == _key_of_call(event.tool, event.input, event.directory):
            session.files.remove(name)
            reply = session.client.allow_reply(event, allowed.edited_input)
            # guard: allowed-once
            if reply is not None and use_up_permission(
                session.caller(session.me),
                request_id,
                session=event.session,
                client=event.client,
                teammate=session.teammate,
            ):
                return session.say(reply)
    return False


class AllowedCall(Struct, frozen=True):
    """A call that the human allowed once.

    Attributes:
        key: Tells it from every other (`_key_of_call`).
        edited_input: What it goes on with; None where nothing was edited.
        ends_at: When the offer ends; None for never.
    """

    key: str
    edited_input: Mapping[str, Any] | None
    ends_at: datetime | None


def allowed_call(session: ClientSession, request_id: str) -> AllowedCall | None:
    """Return the call that the human allowed once, as the store judges the verdict; None without a valid one.

    Raises:
        TeamError: `STORE_UNREADABLE`; then the client's own rules go on.
    """
    try:
        row = verdict_of(session.team, request_id, me=session.name)
    except TeamError as error:
        if error.code is Code.INVALID_REQUEST_ID:
            return None
        raise
    verdict, question = row.verdict, row.question
    is_yes = verdict is not None and parse_message(verdict).approve is True and question.sender == session.name
    # guard: hint-of-another-allows-nothing
    if verdict is None or not is_yes or not denial_of(question.payload):
        return None
    if trust_check(session.team, [verdict]).mark(verdict):
        return None
    asked = permission_of(question.payload)
    key = _key_of_call(asked.tool, asked.input, origin_of(question.payload).directory)
    return AllowedCall(key, sent_back(question, verdict.payload).input, row.expires_at)


def _key_of_call(tool: str, given: Mapping[str, Any], directory: str) -> str:
    """Return what tells one call from every other, which a yes rests on: Python holds two inputs for equal that have 1
    and true in one place, and their texts are not.
    """
    return json.dumps([tool, dict(given), directory], sort_keys=True)
