"""Waking an idle session: a hook that waits beside the session for mail and ends with the status that wakes it."""

from __future__ import annotations

from itertools import count

from team_console.console.clients.hook.mail import handed, take_mail
from team_console.console.clients.hook.output import ERR, is_read, print_words
from team_console.console.clients.hook.session import ClientSession
from team_console.console.clients.hook.waiting import listening
from team_console.console.clients.quick.invocation import WAKE
from team_console.console.clients.quick.session_files import TURN, WAITS
from team_console.store.contract.team import new_name
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.membership import Doing
from team_console.store.service.sessions import mail_waiting
from team_console.store.service.waiting import Outage, until

_TICK = 1.0
"""Seconds between two looks whether the session went on by itself, or is gone."""
_PATIENCE = 60.0 * 60 * 24 * 30


def wait_for_mail(session: ClientSession) -> int:
    """Wait until mail comes, then say it and wake the session; end quietly when the session goes on or is gone.

    The newest of several that wait in one session goes on, so that each end of a turn may start one.
    """
    if not session.client.CAN_BE_WOKEN or session.event.is_of_subagent:
        return 0
    token = new_name()
    turn = session.files.read(TURN)  # before anybody can see that somebody waits
    session.files.write(WAITS, {"token": token})
    looks, outage = count(), Outage()

    def words() -> str | None:
        if not _is_wanted(session, token, turn):
            return ""
        if next(looks) == 0:  # the hook that runs at the same end of the turn goes first, and need not wake anybody
            return None
        waiting = mail_waiting(session.caller())
        if waiting is not None and not waiting:
            return None
        try:
            return take_mail(session, urgent=False) or None
        except TeamError as error:
            if error.code is not Code.STORE_LOCKED:
                raise
            return None

    try:
        with listening(ERR):
            said = until(session.team, lambda: outage.look(words), timeout=_PATIENCE, tick=lambda: _TICK)
    except KeyboardInterrupt:
        return 0
    if not said or not print_words(said):
        return 0
    handed(session)
    session.note(Doing.WORKING)
    return WAKE


def _is_wanted(session: ClientSession, token: str, turn: object) -> bool:
    """Whether the session still rests, and this is who waits for it."""
    newest = session.files.read(WAITS)
    return newest is not None and newest.get("token") == token and session.files.read(TURN) == turn and is_read(ERR)
