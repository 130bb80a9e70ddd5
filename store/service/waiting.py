"""Wait for something to be true of a team, woken by the store's own change notices; tell whether a human is present."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace
from team_console.store.contract.snapshot import OUTCOME_UNKNOWN, SERVER_READ_ONLY
from team_console.store.contract.team import Presence, Team, WatchHint, WatchState, new_presence_name
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import Received, UnresolvedTakeError

if TYPE_CHECKING:
    import asyncio

# `asyncio` costs 20 ms of a start, which only who waits needs: so it is imported where somebody does.

T = TypeVar("T")
Tell = Callable[[str], None]
"""Is told, as a sentence for whoever waits, that the store cannot be used and the wait goes on, and that it is over."""
_PASSING = frozenset({Code.STORE_UNREADABLE, Code.STORE_FAILED, Code.TEAM_NOT_FOUND})
_CERTAIN = frozenset({"changed", OUTCOME_UNKNOWN})
"""Facts of an error that no later look takes back."""
_SAID_AFTER = 1.0
"""Seconds after which an outage is worth a word: most that editors, git and busy writers cause are over by then."""
_LONGEST_WITHOUT_REQUEST = 10.0
"""Seconds for which a store that can be read may lack what is waited for, as while git writes its files."""


def tell_nobody(words: str) -> None:
    """Tell nobody."""


def may_pass(error: TeamError) -> bool:
    """Return whether a store that was of use before may be again without anybody doing something about the caller.

    No error passes after which it is not known what was written, that says that what was asked is something else, or
    that only another process will not have.
    """
    if error.facts.keys() & _CERTAIN:
        return False
    return error.code in _PASSING or (error.code is Code.READ_ONLY and bool(error.facts.get(SERVER_READ_ONLY)))


class UnavailableStore:
    """Bears with a store that was of use before and for a while is not: a server away, half of a file, a full disk.

    From the first look on it bears with a lock that is held. Once the store was of use, it bears with what may pass
    (`may_pass`) for as long as it lasts, and for `_LONGEST_WITHOUT_REQUEST` seconds with a store that can be read and
    has no such request. Anything else ends the wait.

    Args:
        tell: Is told of an outage that lasts longer than a moment, and of its end.
        known: Whether the store counts as one that was of use before the first look.

    Attributes:
        error: What the last look ran into; None when it found the store in order.
    """

    def __init__(self, tell: Tell = tell_nobody, *, known: bool = False) -> None:
        self.error: TeamError | None = None
        self._tell, self._was_of_use = tell, known
        self._since = 0.0
        self._is_told = False

    def look(self, act: Callable[[], T]) -> T | None:
        """Return what `act` finds; None while its error can be expected to pass.

        Raises:
            TeamError: What `act` raises for another reason, or the first time.
        """
        try:
            found = act()
        except TeamError as error:
            if not self._bears(error):
                raise
            self.begin(error)
            return None
        was_told, self._is_told = self._is_told, False
        self.error, self._was_of_use = None, True
        if was_told:
            self._tell("the team can be used again; the wait goes on")
        return found

    def begin(self, error: TeamError) -> None:
        """Count it as an outage that a look ran into this error, whatever it says."""
        moment = time.monotonic()
        if self.error is None or _lacks_request(error) != _lacks_request(self.error):
            self._since = moment
        self.error, self._was_of_use = error, True
        if not self._is_told and moment - self._since >= _SAID_AFTER:
            # guard: outage-said-once
            self._is_told = True
            self._tell(f"{error.message} ({error.code}); the wait goes on")

    def _bears(self, error: TeamError) -> bool:
        """Return whether an error can be expected to pass, so that the wait goes on."""
        if not self._was_of_use:
            return error.code is Code.STORE_LOCKED
        if _lacks_request(error):
            is_first = self.error is None or not _lacks_request(self.error)
            return is_first or time.monotonic() - self._since < _LONGEST_WITHOUT_REQUEST
        # guard: wait-outlasts-outage
        return error.code is Code.STORE_LOCKED or may_pass(error)


def _lacks_request(error: TeamError) -> bool:
    """Return whether a store that could be read lacks what is waited for."""
    return error.code is Code.INVALID_REQUEST_ID and not error.facts.keys() & _CERTAIN


TICK = 1.0
"""Seconds after which what may change by itself is looked at again, as a lease that ends."""
LONGEST_WAIT = 31_536_000.0
"""Seconds of the longest wait for messages that can be asked for: a year."""
_LOCK_WAIT = 0.5
"""Seconds for which one try of a wait waits for the lock."""
_INTERRUPT = {signal.SIGINT}
_HEARD_WITHIN = 0.2
"""Seconds within which a wait hears that it is to stop."""
_WATCH_AGAIN = 5.0
"""Seconds until a watch that ended is begun again."""


def until(
    team: Team,
    check: Callable[[], T | None],
    *,
    timeout: float | None,
    tick: Callable[[], float | None] = lambda: TICK,
    stop: threading.Event | None = None,
) -> T | None:
    """Call `check` now and after every change, until it gives something; None when `timeout` seconds are over.

    `check` may raise, which ends the wait. `tick` is asked after each call how many seconds later to call again all
    the same; None when nothing can come without a change. `stop` calls it once more when it is set.

    Raises:
        TeamError: `USAGE` in a thread whose event loop runs, which the wait would bring to a stop.
    """
    import asyncio

    with suppress(RuntimeError):
        asyncio.get_running_loop()
        text = "a wait would stop the event loop that runs in this thread"
        raise TeamError(Code.USAGE, text, "Wait in another thread: await asyncio.to_thread(agent.receive, wait=30)")

    async def looks() -> T | None:
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        async def watch() -> None:
            async for hint in follow(team):
                if not hint.beside:
                    changed.set()

        async def heed() -> None:
            while stop is not None and not stop.is_set():  # noqa: ASYNC110 - a thread or a signal sets it
                await asyncio.sleep(_HEARD_WITHIN)
            changed.set()

        tasks = [loop.create_task(watch()), *([loop.create_task(heed())] if stop is not None else [])]
        end = None if timeout is None else loop.time() + timeout
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
            while (found := check()) is None:
                left = min((item for item in (tick(), end and end - loop.time()) if item is not None), default=None)
                if left is not None and left <= 0:
                    return None
                await wait_for_change(changed, left)
                changed.clear()
            return found
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)

    # Ctrl-C is let in only while the loop can end its tasks; before and after, it would leave them lying about.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
    try:
        return asyncio.run(looks())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def wait_for_messages(
    caller: Caller, take: Callable[[Caller], Received], *, timeout: float | None, tell: Tell = tell_nobody
) -> Received:
    """Take at once and after every change, until `take` hands out a message; the last empty result after `timeout`.

    A lock that is held, and a store that was looked at before and is away, are waited for as long as the wait lasts.

    Args:
        take: A `receive` of the inbox with everything but its caller filled in.
        timeout: Seconds; None waits until a message comes.
        tell: Is told of a store that is away, and that it is back.

    Raises:
        TeamError: What `take` raises, or as for `until`; after `timeout` what kept the last look from its answer.
    """
    arrival = Arrival(take, tell)
    found = until(caller.team, lambda: arrival.look(caller), timeout=timeout, tick=arrival.tick)
    return found or arrival.end(caller)


class Arrival:
    """Messages that are waited for, from one look to the next.

    Args:
        take: As for `wait_for_messages`.
        tell: As for `wait_for_messages`.
    """

    def __init__(self, take: Callable[[Caller], Received], tell: Tell = tell_nobody) -> None:
        self._take = take
        self._last: Received | None = None
        self._outage = UnavailableStore(tell)
        self._unsure: UnresolvedTakeError | None = None

    def look(self, caller: Caller) -> Received | None:
        """Return what is handed out now; None when it is nothing, another process has the lock, or the store is away.

        Raises:
            TeamError: What `take` raises.
        """
        try:
            self._last = self._outage.look(lambda: self._taken(replace(caller, wait=_LOCK_WAIT)))
        except UnresolvedTakeError as error:
            # guard: uncertain-take-kept
            self._unsure, self._last = error, None
            self._outage.begin(error)
        return self._last if self._last is not None and self._last.messages else None

    def tick(self) -> float | None:
        """Return the seconds after which to look again although nothing changed; None when nothing can come then."""
        return TICK if self._last is None or self._last.may_change_by_itself else None

    def end(self, caller: Caller) -> Received:
        """Return the last empty result; of one more try when a lock that was held is all that stood in the way.

        Raises:
            TeamError: What kept the last look from its answer; what `take` raises, `STORE_LOCKED` among it.
        """
        if self._last is not None:
            return self._last
        if self._unsure is not None:
            raise self._unsure
        if self._outage.error is not None and self._outage.error.code is not Code.STORE_LOCKED:
            raise self._outage.error
        return self._take(replace(caller, wait=_LOCK_WAIT))

    def _taken(self, caller: Caller) -> Received:
        """Return what is handed out: first that of a look whose outcome was unknown."""
        if self._unsure is not None:
            found = self._unsure.found(caller)
            self._unsure = None
            if found is not None:
                return found
        return self._take(caller)


async def wait_for_change(changed: asyncio.Event, seconds: float | None) -> None:
    """Wait for a change, but not longer; None: however long it takes.

    `asyncio.wait_for` of Python 3.11 loses a Ctrl-C that meets the change.
    """
    import asyncio

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await changed.wait()


async def follow(team: Team) -> AsyncIterator[WatchHint]:
    """Yield the hints of the team's watch, which is begun again where it ends: it never ends and never fails.

    A failure must not meet who waits at the end: what was taken by then would reach nobody.
    """
    import asyncio

    while True:
        try:
            async for hint in team.watch():
                yield hint
        except Exception as error:
            yield WatchHint(WatchState.STALLED, str(error) or type(error).__name__)
        await asyncio.sleep(_WATCH_AGAIN)


# Presence of the human, and of whoever waits for an answer: facts, not guesses (decision D22).


def announce_presence(team: Team) -> AbstractContextManager[bool]:
    """Announce a human at a console that may write, for as long as the block runs and the process lives."""
    return team.announce(Presence.CONSOLE, new_presence_name())


def human_present(team: Team) -> bool:
    """Return whether such a console is open on this team now; never waits and never writes.

    What cannot be found out counts as nobody: whoever asks then goes on as if there were no console.
    """
    return bool(team.attendance(Presence.CONSOLE).names)


def is_human_awaited(team: Team) -> bool:
    """Return whether what a client asks now waits for the human at a console, as the team's `wait_for_human` says."""
    waits = team.config().wait_for_human
    # guard: asked-only-where-somebody-is
    return waits == "always" or (waits == "present" and human_present(team))
