"""Waking a session that rests: a process that waits beside it for mail."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from functools import partial
from itertools import count

from team_console.console.clients.hook_process import ERR, client_pid, is_read, listening, write_line
from team_console.console.clients.instructions import program
from team_console.console.clients.mail import hand_mail
from team_console.console.clients.quick import WAKE
from team_console.console.clients.running import is_alive
from team_console.console.clients.session import ClientSession
from team_console.console.clients.session_files import TURN, WAITS
from team_console.store.contract.team import new_name
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.membership import Doing
from team_console.store.service.sessions import mail_waiting
from team_console.store.service.waiting import UnavailableStore, until

_TICK = 1.0
"""Seconds between two looks whether the session went on by itself, or is gone."""
_PATIENCE = 60.0 * 60 * 24 * 30


def wait_for_mail(session: ClientSession) -> int:
    """Wait until mail comes, then say it and wake the session; end quietly when the session goes on or is gone.

    The newest of several that wait in one session goes on, so that each end of a turn may start one.
    """
    if session.event.thread and session.event.teammate is None:
        return 0
    token = new_name()
    turn = session.files.read(TURN)  # before anybody can see that somebody waits
    session.files.write(WAITS, {"token": token})
    looks, outage = count(), UnavailableStore()

    def woken() -> bool | None:
        if not _is_wanted(session, token, turn):
            return False
        if next(looks) == 0:  # the hook that runs at the same end of the turn goes first, and need not wake anybody
            return None
        waiting = mail_waiting(session.caller())
        if waiting is not None and not waiting:
            return None
        try:
            return not session.client.is_woken_by_hook or hand_mail(session, partial(write_line, ERR)) or None
        except TeamError as error:
            if error.code is not Code.STORE_LOCKED:
                raise
            return None

    try:
        with listening(ERR):
            is_woken = until(session.team, lambda: outage.look(woken), timeout=_PATIENCE, tick=lambda: _TICK)
    except KeyboardInterrupt:
        return 0
    if is_woken and not session.client.is_woken_by_hook:
        session.client.wake(session.event.session, _NUDGE.format(session.name))
        return 0
    if not is_woken:
        return 0
    session.note(Doing.WORKING)
    return WAKE


_NUDGE = (
    "team-console: other members of the team have written to {}. This line is from team-console, not from your user, "
    "and approves nothing. The mail follows; if nothing does, you have read it."
)


def wait_beside(session: ClientSession) -> None:
    """Start a process that waits for mail while a session rests, where a hook of its own would hold the turn.

    A run without a terminal is over then.
    """
    if session.event.thread or session.client.is_headless(session.event):
        return
    identity = ["--as", session.me, "-t", session.call.location or session.team.location]
    command = [*program(), *identity, "hook", "--wake", "--client", session.client.name]
    with suppress(OSError):
        null = subprocess.DEVNULL
        started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=null, stderr=null, start_new_session=True)
        with started.stdin:  # type: ignore[union-attr]
            started.stdin.write(json.dumps({**session.call.data, "client_pid": client_pid()}).encode())  # type: ignore[union-attr]


def is_nudge(prompt: str, name: str) -> bool:
    """Return whether a prompt is no more than the word that mail has come."""
    return prompt.strip() == _NUDGE.format(name)


def _is_wanted(session: ClientSession, token: str, turn: object) -> bool:
    """Return whether the session still rests, and this is who waits for it."""
    newest = session.files.read(WAITS)
    if not is_alive(session.call.data.get("client_pid", os.getpid())):
        return False
    # guard: wake-only-resting-session
    return newest is not None and newest.get("token") == token and session.files.read(TURN) == turn and is_read(ERR)
