"""Allowing once what the client denied by itself, as it does in its auto mode: offered to the human, never awaited."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from team_console.console.clients.hook.session import ClientSession
from team_console.console.clients.quick.session_files import ALLOWED, digest
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import Permission, denial_of, headline_of, origin_of, permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import reading
from team_console.store.service.asking import ask_permission
from team_console.store.service.handing_on import trust_in
from team_console.store.views.verdicts import verdict_of

_OFFERED_FOR = timedelta(hours=1)
"""How long a denied call may still be allowed: later nobody knows what it was good for."""


def offer_denied(session: ClientSession) -> None:
    """Put a denied call on the human's list; the agent goes on without it meanwhile."""
    event = session.event
    if session.config.wait_for_human == "never" or not event.tool:
        return
    session.meet_teammate()
    reason = event.reason.strip() or "the client gave no reason"
    headline = headline_of(Permission(event.tool, event.input))
    ask_permission(
        session.caller(),
        tool=event.tool,
        input=event.input,
        session=event.session,
        client=event.client,
        directory=event.directory,
        expires=session.team.clock() + _OFFERED_FOR,
        summary=f"Denied by the client: {headline}",
        denied=reason,
    )


def keep_allowed(session: ClientSession, messages: Sequence[Message]) -> None:
    """Leave a hint of what these messages allow once, for when the agent tries it again."""
    for message in messages:
        request_id = reading(message).request_id
        if request_id and reading(message).answers is RequestKind.PERMISSION and _allowed(session, request_id):
            session.files.write(f"{ALLOWED}{digest(request_id):08x}", {"request_id": request_id})


def allow_once(session: ClientSession) -> None:
    """Let a call pass that the human allowed, in the form and the folder that was shown; the store uses it up.

    The file is a hint: whoever can write one allows nothing by it, because the store says what was allowed and used.
    """
    event = session.event
    for name in session.files.names(ALLOWED):
        request_id = str((session.files.read(name) or {}).get("request_id", ""))
        allowed = _allowed(session, request_id)
        if allowed is None or allowed.is_over(session.team.clock()):
            session.files.remove(name)
        elif allowed.call == _name_of(event.tool, event.input, event.directory):
            session.files.remove(name)
            reply = session.client.allow_reply(event, allowed.instead)
            if reply is not None and session.use_once(request_id):
                session.say(reply)
                return


class _Allowed(Struct, frozen=True):
    """A call that the human allowed once, by its name; `instead` is the input to go on with where it was edited."""

    call: str
    instead: Mapping[str, Any] | None
    ends: datetime | None

    def is_over(self, now: datetime) -> bool:
        """Whether it may not be used any more."""
        return self.ends is not None and now >= self.ends


def _allowed(session: ClientSession, request_id: str) -> _Allowed | None:
    """What the human allowed once under this id, judged by the store; None when nothing that counts says so.

    Raises:
        TeamError: `STORE_UNREADABLE`; then the client's own rules go on.
    """
    try:
        row = verdict_of(session.team, request_id, me=session.name).row
    except TeamError as error:
        if error.code is Code.INVALID_REQUEST_ID:
            return None
        raise
    verdict, question = row.verdict, row.question
    is_yes = verdict is not None and reading(verdict).approve is True and question.sender == session.name
    if verdict is None or not is_yes or not denial_of(question.payload):
        return None
    if trust_in(session.team, [verdict]).mark(verdict):
        return None
    asked, instead = permission_of(question.payload), verdict.payload.get("updated_input")
    changed = instead if isinstance(instead, Mapping) else None
    directory = origin_of(question.payload).directory
    return _Allowed(_name_of(asked.tool, asked.input, directory), changed, row.expires_at)


def _name_of(tool: str, given: Mapping[str, Any], directory: str) -> str:
    """Tells one call from every other: here a yes rests on it, so nobody may be able to make another call with it."""
    return hashlib.sha256(json.dumps([tool, dict(given), directory], sort_keys=True).encode()).hexdigest()
