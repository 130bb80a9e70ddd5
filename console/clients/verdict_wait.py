"""Wait of a hook for a human's verdict, and each reason for which it is given up."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from team_console.console.clients.client import Client
from team_console.console.clients.hook_process import OUT, has_reader, signals_end_wait
from team_console.console.clients.session import ClientSession
from team_console.store.contract.team import Presence, Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Receipt
from team_console.store.views.rows import RequestRow
from team_console.store.views.verdicts import await_verdict

# guard: moment-between-dialogs
_GONE_LOOKS = 2
"""Looks in a row, half a second apart, that find no dialog: between two of them a session is busy for a moment."""


class Dialog:
    """The dialog of one session; a client that does not say, or not so that it can be read, has never one.

    Args:
        session: The client's own id of the session.
    """

    def __init__(self, client: Client, session: str) -> None:
        self._client = client
        self._session = session
        self._was_open = False
        self._absent = 0

    def is_closed(self) -> bool:
        """Look once more; returns whether it was open and is not any more."""
        record = self._client.record_of(self._session)
        status = record.doing if record is not None else ""
        self._was_open = self._was_open or status == "waiting"
        self._absent = self._absent + 1 if self._was_open and status not in ("waiting", "") else 0
        # guard: dialog-answered-in-terminal
        return self._absent >= _GONE_LOOKS


class WaitEnd(StrEnum):
    """Why a wait ended without a verdict: the reason that the request then has."""

    ANSWERED_THERE = "answered in the session"
    SESSION_ENDED = "session ended"
    TIMED_OUT = "timed out"
    NOBODY_THERE = "nobody was there"


_ABSENT_LOOKS = 3
"""Looks in a row, half a second apart, that find no console before a wait is given up: one may be reopened."""
_ABSENT_LOOKS_BESIDE = 120
"""The same where the client's own dialog stands beside the request: a minute."""
_UNKNOWN_LOOKS = 120
"""The same for looks that find nothing out: a server that is started again takes its time, the human stays."""


def wait_in_hook(
    session: ClientSession, receipt: Receipt, *, seconds: float, needs_human: bool, dialog: Dialog | None = None
) -> RequestRow | WaitEnd:
    """Wait until the request is decided and return it, or the reason why no decision is needed any more.

    To be called in a `signals_blocked` block: only the wait itself can be ended by a signal.

    Args:
        receipt: The question as it was written; the client goes on with that, whatever stands in the store.
        seconds: For which the client waits.
        needs_human: Whether to give up when the last console is closed.
        dialog: The client's own that stands beside it, where it says when it is answered.
    """
    # A dialog that stands beside this keeps nobody waiting: the human may open a console again.
    is_beside = dialog is not None and session.client.is_attended
    has_ended: dict[WaitEnd, Callable[[], bool]] = {}
    if dialog is not None:
        has_ended[WaitEnd.ANSWERED_THERE] = dialog.is_closed
    if needs_human:
        # guard: waits-beside-a-dialog
        human = HumanWatch(session.team, _ABSENT_LOOKS_BESIDE if is_beside else _ABSENT_LOOKS)
        has_ended[WaitEnd.NOBODY_THERE] = human.is_gone
    ends: list[WaitEnd] = []

    def is_given_up() -> bool:
        ends.extend([end for end, look in has_ended.items() if look()])
        return bool(ends)

    try:
        with signals_end_wait():
            outcome = await_verdict(
                session.team,
                receipt.request_id or "",
                timeout=seconds,
                stop=is_given_up if has_ended else None,
                me=session.name,
                asked=receipt.messages[0],
            )
    except KeyboardInterrupt:
        # guard: session-ended
        return WaitEnd.ANSWERED_THERE if has_reader(OUT) else WaitEnd.SESSION_ENDED
    except TeamError as error:
        if error.code is Code.USAGE:
            raise
        return WaitEnd.NOBODY_THERE
    if not outcome.is_open:
        return outcome
    return ends[0] if ends else WaitEnd.TIMED_OUT


class HumanWatch:
    """The human at a console.

    Args:
        absent_looks: Looks in a row that find nobody before the human counts as gone.
    """

    def __init__(self, team: Team, absent_looks: int = _ABSENT_LOOKS) -> None:
        self._team, self._absent_looks = team, absent_looks
        self._absent = self._unknown = 0

    def is_gone(self) -> bool:
        """Look once more; returns whether nobody was there often enough, or nobody could say for long."""
        found = self._team.attendance(Presence.CONSOLE)
        # guard: server-away-is-no-absence
        if found.names or (found.certain and not found.doubtful):
            self._absent = 0 if found.names else self._absent + 1
            self._unknown = 0
        else:
            self._unknown += 1
        # guard: ends-with-last-console
        return self._absent >= self._absent_looks or self._unknown >= _UNKNOWN_LOOKS
