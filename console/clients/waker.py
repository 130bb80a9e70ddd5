"""Waker: the process that waits beside a session, and wakes it when mail comes while the session rests."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from functools import partial

from team_console.console.clients.client import TakesPrompts
from team_console.console.clients.client_process import client_pid, has_waker, is_alive, is_waker
from team_console.console.clients.hook_process import ERR, has_reader, signals_end_wait, write_line
from team_console.console.clients.instructions import program
from team_console.console.clients.mail import hand_mail
from team_console.console.clients.quick import NUDGE, WAKE
from team_console.console.clients.session import ClientSession
from team_console.console.clients.session_files import STATE
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.client_sessions import Doing
from team_console.store.service.sessions import mail_waiting
from team_console.store.service.waiting import UnavailableStore, until

_TICK = 1.0
"""Seconds between two looks whether the session rests, works or is gone."""
_TICK_WITH_MAIL = 0.3
"""The same while mail waits for it to rest."""
_RESTING_LOOKS = 2
"""Looks in a row that find the session at rest: between the steps of a turn, and at its begin, one may."""
_LONGEST_WAIT = 60.0 * 60 * 24 * 30
"""Seconds, a month: a session that goes on longer is not woken."""


class RestWatch:
    """Whether a session rests: as its client's own record says, else as its last event.

    A turn that the user breaks off ends without an event, so what its client says is noted for the roster.
    """

    def __init__(self, session: ClientSession) -> None:
        self._session = session
        self._resting_looks = 0
        self._last_state: object = None
        self._has_noted_rest = False

    def look(self) -> bool:
        """Look once more; returns whether it goes on and rests."""
        session = self._session
        state = session.files.read(STATE)
        # A session that ends says so, then takes its files away: mail that comes between them is for the next one.
        if state is None or state.get("doing") == Doing.ENDED:
            return False
        is_working = state.get("doing") == Doing.WORKING
        record = session.client.record_of(session.event.session)
        if record is None or not record.doing:
            return not is_working
        # guard: new-turn-is-no-rest
        is_same = state == self._last_state
        self._resting_looks = self._resting_looks + 1 if record.doing == "idle" and is_same else 0
        self._last_state = state
        rests = self._resting_looks >= _RESTING_LOOKS
        if rests and is_working:
            self._note(Doing.IDLE)
        elif self._has_noted_rest and not is_working and record.doing == "busy":
            self._note(Doing.WORKING)
        return rests

    def _note(self, doing: Doing) -> None:
        """Note what the client says where no event said it."""
        self._session.note(doing)
        self._last_state = self._session.files.read(STATE)
        self._has_noted_rest = doing is Doing.IDLE


def wait_and_wake(session: ClientSession, held: int) -> int:
    """Wait beside the session until mail comes while it rests, then say it and wake the session; returns the status.

    Ends quietly when the session or its client has ended.

    Args:
        held: Holds the lock of the one process that waits.
    """
    rest, outage = RestWatch(session), UnavailableStore()
    client = client_pid(session.call.data)
    prompted = session.client if isinstance(session.client, TakesPrompts) else None
    tick = _TICK

    def look() -> bool | None:
        """Return True once the session has its mail or is to be prompted, False once it is over, else None."""
        nonlocal tick
        # guard: waker-ends-with-session
        if not (is_waker(session.files, held) and is_alive(client) and has_reader(ERR)):
            return False
        rests = rest.look()
        waiting = mail_waiting(session.caller())
        has_mail = waiting is None or bool(waiting)
        tick = _TICK_WITH_MAIL if has_mail else _TICK
        # guard: wake-only-resting-session
        if not (has_mail and rests):
            return None
        if prompted is not None:  # it gets its mail by the hook of the prompt
            return True
        try:
            return hand_mail(session, partial(write_line, ERR)) or None
        except TeamError as error:
            if error.code is not Code.STORE_LOCKED:
                raise
            return None

    try:
        with signals_end_wait(ERR):
            is_woken = until(session.team, lambda: outage.look(look), timeout=_LONGEST_WAIT, tick=lambda: tick)
    except KeyboardInterrupt:
        return 0
    if not is_woken:
        return 0
    if prompted is not None:
        prompted.wake(session.event.session, _NUDGE_TEXT.format(session.name))
        return 0
    session.note(Doing.WORKING)
    return WAKE


_NUDGE_TEXT = NUDGE + (
    "{}. This line is from team-console, not from your user, "
    "and approves nothing. The mail follows; if nothing does, you have read it."
)


def start_waker(session: ClientSession) -> None:
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
        assert started.stdin is not None
        with started.stdin:
            started.stdin.write(json.dumps(facts).encode())


def is_nudge(prompt: str, name: str) -> bool:
    """Return whether a prompt is no more than the word that mail has come."""
    return prompt.strip() == _NUDGE_TEXT.format(name)
