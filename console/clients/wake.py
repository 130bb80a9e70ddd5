"""Waking a session that rests: one process waits beside each session for mail, from its start to its end."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from functools import partial

from team_console.console.clients.client_process import client_pid, has_waker, is_alive, is_waker
from team_console.console.clients.hook_process import ERR, is_read, listening, write_line
from team_console.console.clients.instructions import program
from team_console.console.clients.mail import hand_mail
from team_console.console.clients.quick import NUDGE, WAKE
from team_console.console.clients.session import ClientSession
from team_console.console.clients.session_files import STATE
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.membership import Doing
from team_console.store.service.sessions import mail_waiting
from team_console.store.service.waiting import UnavailableStore, until

_TICK = 1.0
"""Seconds between two looks whether the session rests, works or is gone."""
_TICK_WITH_MAIL = 0.3
_RESTING_LOOKS = 2
"""Looks in a row that find the session at rest: between the steps of a turn, and at its begin, one may."""
_PATIENCE = 60.0 * 60 * 24 * 30


class Rest:
    """Whether a session rests: as its client's own record says, else as its last event.

    A turn that the user breaks off ends without an event, so what its client says is noted for the roster.
    """

    def __init__(self, session: ClientSession) -> None:
        self._session = session
        self._looks = 0
        self._known: object = None
        self._has_noted = False

    def look(self) -> bool:
        """Look once more; returns whether it rests."""
        session = self._session
        state = session.files.read(STATE) or {}
        is_working = state.get("doing") == Doing.WORKING
        word = session.client.status_of(session.event.session)
        if not word:
            return not is_working
        # guard: new-turn-is-no-rest
        is_same = state == self._known
        self._known, self._looks = state, self._looks + 1 if word == "idle" and is_same else 0
        rests = self._looks >= _RESTING_LOOKS
        if rests and is_working:
            self._note(Doing.IDLE)
        elif self._has_noted and not is_working and word == "busy":
            self._note(Doing.WORKING)
        return rests

    def _note(self, doing: Doing) -> None:
        self._session.note(doing)
        self._known, self._has_noted = self._session.files.read(STATE), doing is Doing.IDLE


def wait_for_mail(session: ClientSession, held: int) -> int:
    """Wait beside the session until mail comes while it rests, then say it and wake the session; returns the status.

    Ends quietly when the session or its client has ended.

    Args:
        held: Holds the lock of the one process that waits.
    """
    rest, outage = Rest(session), UnavailableStore()
    client = client_pid(session.call.data)
    tick = _TICK

    def woken() -> bool | None:
        nonlocal tick
        # guard: waker-ends-with-session
        if not (is_waker(session.files, held) and is_alive(client) and is_read(ERR)):
            return False
        rests = rest.look()
        waiting = mail_waiting(session.caller())
        has_mail = waiting is None or bool(waiting)
        tick = _TICK_WITH_MAIL if has_mail else _TICK
        # guard: wake-only-resting-session
        if not (has_mail and rests):
            return None
        try:
            return not session.client.is_woken_by_hook or hand_mail(session, partial(write_line, ERR)) or None
        except TeamError as error:
            if error.code is not Code.STORE_LOCKED:
                raise
            return None

    try:
        with listening(ERR):
            is_woken = until(session.team, lambda: outage.look(woken), timeout=_PATIENCE, tick=lambda: tick)
    except KeyboardInterrupt:
        return 0
    if not is_woken:
        return 0
    if not session.client.is_woken_by_hook:
        session.client.wake(session.event.session, _NUDGE.format(session.name))
        return 0
    session.note(Doing.WORKING)
    return WAKE


_NUDGE = NUDGE + (
    "{}. This line is from team-console, not from your user, "
    "and approves nothing. The mail follows; if nothing does, you have read it."
)


def wait_beside(session: ClientSession) -> None:
    """Start the process that waits beside a session of a client which waits for its hooks, unless there is one.

    A run without a terminal is over when it rests.
    """
    if session.event.thread or session.client.is_headless(session.event) or has_waker(session.files):
        return
    identity = ["--as", session.me, "-t", session.call.location or session.team.location]
    command = [*program(), *identity, "hook", "--wake", "--client", session.client.name]
    facts = {**session.call.data, "client_pid": client_pid(session.call.data)}
    null = subprocess.DEVNULL
    with suppress(OSError):
        started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=null, stderr=null, start_new_session=True)
        with started.stdin:  # type: ignore[union-attr]
            started.stdin.write(json.dumps(facts).encode())  # type: ignore[union-attr]


def is_nudge(prompt: str, name: str) -> bool:
    """Return whether a prompt is no more than the word that mail has come."""
    return prompt.strip() == _NUDGE.format(name)
