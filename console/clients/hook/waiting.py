"""Waiting for a human's verdict in a hook, and letting go of it for every reason there is, each with its own name."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from team_console.console.clients.hook.dialogs import Dialog
from team_console.console.clients.hook.output import OUT, is_read, wait_until_unread
from team_console.store.contract.team import Presence, Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.views.verdicts import Outcome, await_verdict

ANSWERED_THERE = "answered in the session"
SESSION_ENDED = "session ended"
TIMED_OUT = "timed out"
NOBODY_THERE = "nobody was there"
_ENDING = {signal.SIGTERM, signal.SIGHUP}
_ABSENT_LOOKS = 3
"""Looks in a row, half a second apart, that find no console before a wait is given up: one may be reopened."""
_UNKNOWN_LOOKS = 120
"""The same for looks that find nothing out: a server that is started again takes its time, the human stays."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let no signal end the block in the middle; one that comes counts in the next wait."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*_ENDING, signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def wait_for_verdict(
    team: Team,
    request_id: str,
    *,
    me: str,
    seconds: float,
    needs_human: bool,
    asked: Message,
    dialog: Dialog | None = None,
) -> Outcome | str:
    """How the request was decided, or why it does not have to be any more.

    To be called in an `undisturbed` block: only the wait itself can be ended by a signal.

    Args:
        seconds: For which the client waits.
        needs_human: Whether to give up when the last console is closed.
        asked: The question as it was written; the client goes on with that, whatever stands in the store.
        dialog: The client's own that stands beside it, where it says when it is answered.
    """
    human = _Watch(team) if needs_human else None
    looks = [*([human.is_gone] if human else []), *([dialog.is_closed] if dialog else [])]

    def is_over() -> bool:
        return any(look() for look in looks)

    try:
        with listening():
            stop = is_over if looks else None
            outcome = await_verdict(team, request_id, timeout=seconds, stop=stop, me=me, asked=asked)
    except KeyboardInterrupt:
        return ANSWERED_THERE if is_read(OUT) else SESSION_ENDED
    except TeamError as error:
        if error.code is Code.USAGE:
            raise
        return NOBODY_THERE
    if outcome.state == "open" and dialog is not None and dialog.closed:
        return ANSWERED_THERE
    if outcome.state == "open":
        return NOBODY_THERE if human is not None and human.gone else TIMED_OUT
    return outcome


class _Watch:
    """Whether the human is still there."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._absent = self._unknown = 0

    @property
    def gone(self) -> bool:
        """Whether nobody was there often enough, or nobody could say for long."""
        return self._absent >= _ABSENT_LOOKS or self._unknown >= _UNKNOWN_LOOKS

    def is_gone(self) -> bool:
        """Look once more."""
        found = self._team.attendance(Presence.CONSOLE)
        if found.names or (found.certain and not found.doubtful):
            self._absent = 0 if found.names else self._absent + 1
            self._unknown = 0
        else:
            self._unknown += 1
        return self.gone


@contextmanager
def listening(descriptor: int = OUT) -> Iterator[None]:
    """Let what ends the process end the wait in the block in order: as an interrupt, which the wait knows.

    The client sends SIGTERM when its own dialog was answered or dismissed, and when it ends. Killed, it can tell
    nobody; then the other end of our output is closed.

    Args:
        descriptor: The output that the client reads.
    """

    def pass_on(number: int, frame: object) -> None:
        signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
    for number in _ENDING:
        signal.signal(number, pass_on)
    _let_go_with_reader(descriptor)  # before the signals are let in: the thread must not take them
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def _let_go_with_reader(descriptor: int) -> None:
    """End the wait when the client is gone without a word: killed, it cannot tell us."""

    def watch() -> None:
        wait_until_unread(descriptor)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="client", daemon=True).start()
