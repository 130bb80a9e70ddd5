"""Whether agents may count on whoever sits at a console: announced while that is somebody who can answer them."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from threading import Lock, Thread
from types import TracebackType
from typing import Self

from team_console.console.tui.reader import ReadResult
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.model.names import USER
from team_console.store.service.waiting import announce_presence

_LONGEST_PAUSE = 5.0
"""Seconds for which a process that is to stop waits until that is announced, as where a server is away."""


class SeatPresence:
    """Announces a human while the block runs and the readings of the team say that the human can answer agents.

    The lead may become another one, and the right to write may go, while a console is open for days. A server takes
    its time for such a change, so it is made in a thread; each in its turn.

    Attributes:
        may_answer: Whether agents may count on whoever sits here: somebody who may write, and whom they ask.
    """

    def __init__(self, team: Team, me: str, *, read_only: bool) -> None:
        self._team, self._me, self._read_only = team, me, read_only
        self.may_answer = False
        self._is_open = self._is_announced = self._is_paused = False
        self._announcement, self._one_at_a_time = ExitStack(), Lock()

    def __enter__(self) -> Self:
        self._is_open = True
        with suppress(TeamError):
            self.may_answer = self._can_answer(self._team.config().lead, self._team.obstacle())
        self._apply()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._is_open = False
        self._apply()

    def follow(self, reading: ReadResult) -> None:
        """Announce the human, or take that back, as the team was found; one that cannot be read changes nothing."""
        if not reading.is_fresh:
            return
        # guard: who-cannot-answer-is-not-counted-on
        may_answer = self._can_answer(reading.snapshot.config.lead, reading.obstacle)
        if may_answer != self.may_answer:
            self.may_answer = may_answer
            self._apply_in_thread()

    def pause(self) -> None:
        """Take it back before the process is stopped: a file that it keeps locked would count for ever."""
        # guard: stopped-console-answers-nobody
        self._is_paused = True
        self._apply_in_thread().join(_LONGEST_PAUSE)

    def resume(self) -> None:
        """Announce the human again once the process goes on."""
        self._is_paused = False
        self._apply_in_thread()

    def _apply_in_thread(self) -> Thread:
        keeping = Thread(target=self._apply, name="presence of the seat", daemon=True)
        keeping.start()
        return keeping

    def _can_answer(self, lead: str, obstacle: str) -> bool:
        return not (self._read_only or obstacle) and self._me in (USER, lead)

    def _apply(self) -> None:
        """Announce the human, or take that back, as it is wanted by now."""
        with self._one_at_a_time:
            is_wanted = self._is_open and self.may_answer and not self._is_paused
            if is_wanted and not self._is_announced:
                self._announcement.enter_context(announce_presence(self._team))
            elif self._is_announced and not is_wanted:
                self._announcement.close()
            self._is_announced = is_wanted
