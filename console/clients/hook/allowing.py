"""Allowing once what the client denied by itself, as it does in its auto mode: offered to the human, never awaited."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from team_console.console.clients.hook.session import ClientSession
from team_console.console.clients.quick.session_files import ALLOWED, digest
from team_console.store.desk.asking import ask_permission
from team_console.store.desk.delivery.handing_on import trust_in
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import Permission, denial_of, headline_of, permission_of
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.reading import reading
from team_console.store.protocol.seen import REQUEST, digest_of

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
    """Remember what these messages allow once, until the agent tries it again."""
    answers = [message for message in messages if reading(message).answers is RequestKind.PERMISSION]
    trust = trust_in(session.team, answers)
    good = [message for message in answers if reading(message).approve and not trust.mark(message)]
    yes = {reading(message).request_id: message.payload for message in good}
    if not yes:
        return
    for message in session.team.snapshot().messages:
        request_id = reading(message).request_id
        is_meant = request_id in yes and yes[request_id].get(REQUEST) in (None, digest_of(message))
        if is_meant and message.sender == session.name and denial_of(message.payload):
            asked = permission_of(message.payload)
            allowed = {"call": _name_of(asked.tool, asked.input), "instead": yes[request_id].get("updated_input")}
            session.files.write(f"{ALLOWED}{digest(request_id):08x}", allowed)


def allow_once(session: ClientSession) -> None:
    """Let a call pass that the human allowed, in the form that was allowed; the permission is used up by it."""
    event = session.event
    for name in session.files.names(ALLOWED):
        allowed = session.files.read(name) or {}
        if allowed.get("call") == _name_of(event.tool, event.input):
            session.files.remove(name)
            instead = allowed.get("instead")
            session.say(session.client.allow_reply(event, instead if isinstance(instead, dict) else None))
            return


def _name_of(tool: str, given: Mapping[str, Any]) -> str:
    """Tells one call from every other: here a yes rests on it, so nobody may be able to make another call with it."""
    return hashlib.sha256(json.dumps([tool, dict(given)], sort_keys=True).encode()).hexdigest()
