"""Asking the human what a client asks: a request opened, its verdict awaited and said in the client's own words."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace
from team_console.console.clients import claude_code
from team_console.console.clients.events import Event, Wish
from team_console.console.clients.hook.dialogs import Dialog
from team_console.console.clients.hook.session import ClientSession
from team_console.console.clients.hook.waiting import TIMED_OUT, undisturbed, wait_for_verdict
from team_console.console.clients.quick.proof import asked_by
from team_console.console.clients.quick.session_files import ASKED
from team_console.store.contract.team import Presence, new_name
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import Permission
from team_console.store.service.asking import LARGEST_BEFORE, ask_permission, ask_question
from team_console.store.service.caller import Receipt
from team_console.store.service.requests import submit_plan
from team_console.store.service.sessions import end_if_open
from team_console.store.service.waiting import is_human_awaited
from team_console.store.views.proposals import excerpt_of
from team_console.store.views.verdicts import mark_verdict_read

DEFAULT_TIMEOUT = 600.0
"""Seconds a client waits for its hook when nobody says otherwise."""
_MARGIN = 5.0
"""Seconds before the client's own limit at which the wait ends, so that the request ends as what it is."""
_FILE_KEYS = ("file_path", "notebook_path")
_CHANGING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
"""Tools that change the file they name."""


def ask_human(session: ClientSession) -> None:
    """Put what the client asks to the human and print the verdict; nothing where none comes.

    Raises:
        TeamError: The store's own; then nothing was printed, and the client's own dialog decides.
    """
    if session.event.wish is None or not is_human_awaited(session.team):
        return
    needs_human = session.config.wait_for_human == "present"
    session.meet_teammate()
    seconds = _seconds(session.call.timeout)
    asker = new_name()
    with undisturbed(), session.team.announce(Presence.ASKER, asker) as announced:
        receipt = _open(session, asker if announced else None, session.team.clock() + timedelta(seconds=seconds))
        if receipt is None or receipt.request_id is None:
            return
        session.files.write(ASKED + asker, asked_by(session.call.data, receipt.request_id, session.name))
        try:
            _finish(session, receipt, receipt.request_id, seconds, needs_human=needs_human)
        finally:
            session.files.remove(ASKED + asker)


def _finish(session: ClientSession, receipt: Receipt, request_id: str, seconds: float, *, needs_human: bool) -> None:
    """Wait, and say what was decided; without a verdict the request ends as what it was."""
    event = session.event
    has_dialog = session.client is claude_code and not event.thread  # a teammate's stands in another session's terminal
    decided = wait_for_verdict(
        session.team,
        request_id,
        me=session.name,
        seconds=seconds,
        needs_human=needs_human,
        asked=receipt.messages[0],
        dialog=Dialog(event.session) if has_dialog else None,
    )
    if isinstance(decided, str):
        end_if_open(session.caller(), request_id, asker=session.name, reason=decided)
    elif decided.message is not None:
        session.say(session.client.permission_reply(event, decided.message.payload))
        _mark_as_read(session, decided.message)
    elif decided.reason == TIMED_OUT:
        end_if_open(session.caller(), request_id, asker=session.name, reason=TIMED_OUT)


def _mark_as_read(session: ClientSession, verdict: Message) -> None:
    """The client has it, so it must not come again as mail."""
    with suppress(TeamError):
        mark_verdict_read(session.caller(), verdict)


def _seconds(given: str) -> float:
    try:
        limit = float(given)
    except ValueError:
        limit = DEFAULT_TIMEOUT
    return max(1.0, min(limit, 10 * 366 * 86_400.0) - _MARGIN)


def _open(session: ClientSession, asker: str | None, expires: datetime) -> Receipt | None:
    """Open the request in the client's own shape."""
    event, caller = session.event, session.caller()
    origin: dict[str, Any] = {"session": event.session, "client": event.client, "directory": event.directory}
    origin |= {"expires": expires, "asker": asker}
    if event.wish is Wish.PLAN:
        return submit_plan(caller, content=event.plan, modes=event.modes, **origin)
    if event.wish is Wish.QUESTION:
        return ask_question(caller, questions=event.questions, **origin)
    known = file_before(event, readers=_readers(session))
    return ask_permission(
        caller,
        tool=event.tool,
        input=event.input,
        suggestions=event.suggestions,
        before=excerpt_of(known) if isinstance(known.before, str) else known.before,
        is_private=known.is_private,
        **origin,
    )


def file_before(event: Event, *, readers: int = 0) -> Permission:
    """The permission with the text of the file that the tool would change, where that may be shown.

    Args:
        readers: Permission bits of those who can read the store: what they may not read stays out of it.
    """
    asked, path = Permission(event.tool, event.input), _changed_file(event.tool, event.input)
    if path is None:
        return asked
    whole = os.path.join(event.directory, path)
    try:
        descriptor = os.open(whole, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return replace(asked, before=None)
    except (OSError, ValueError):
        return asked
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            return asked
        if readers & ~mode:
            return replace(asked, is_private=True)
        data = file.read(LARGEST_BEFORE + 1)
    try:
        return replace(asked, before=data.decode()) if len(data) <= LARGEST_BEFORE else asked
    except UnicodeDecodeError:
        return asked


def _readers(session: ClientSession) -> int:
    """Which of group and others can read the files of the store; both, where it has none here."""
    places = session.team.places()
    try:
        return os.stat(places.get("queue") or places["database"]).st_mode & 0o044
    except (KeyError, OSError):
        return 0o044


def _changed_file(tool: str, given: Mapping[str, Any]) -> str | None:
    values = [given.get(key) for key in _FILE_KEYS] if tool in _CHANGING else []
    return next((value for value in values if isinstance(value, str) and value), None)
