"""Background work of the console: writes and reads in threads; what became of them is said when the store has it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from threading import Event
from time import monotonic
from typing import TypeVar

from msgspec.structs import replace
from team_console.console.tui.evidence import EvidenceRequest, ShownEvidence, evidence_to_show, gather
from team_console.console.tui.outcomes import error_text
from team_console.console.tui.screen_protocols import MainScreenProtocol
from team_console.console.tui.textual_fixes import start_worker
from team_console.store.contract.team import attachment_of
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.foreign_fields import mapping_in
from team_console.store.views.evidence import EVIDENCE_NOT_KNOWN
from team_console.store.views.rows import RequestState

ResultT = TypeVar("ResultT")

_MOST_EVIDENCE = 100
"""Requests and reports whose evidence is kept; what is looked at again is looked for again."""
_FETCH_AGAIN = 5.0
"""Seconds after which a content that could not be read is asked for again, if it is still wanted."""
_MOST_CONTENTS, _FEWEST_CONTENTS = 16_000_000, 8
"""Characters of contents that are kept, and contents that are kept whatever they take: what stands beside each other
must not push each other out."""
_STOPPING = "stop in turn"
"""The worker group of asking agents to stop one after the other; cancelling it stops the asking."""


class Background:
    """Work for one screen, one write at a time.

    Attributes:
        opens_form: A look is under way after which a form opens: keys wait for it.
    """

    def __init__(self, screen: MainScreenProtocol) -> None:
        self._screen = screen
        self._busy = self.opens_form = False
        self._fetching: set[str] = set()
        self._try_again_at: dict[str, float] = {}
        self._stopping_words = ""
        self._gathering: set[str] = set()

    def run(self, work: Callable[[], ResultT], then: Callable[[ResultT], None], *, opens_form: bool = True) -> None:
        """Do `work` in a thread, then look at the store again and go on with the result, on the screen."""
        if self._busy:
            self._screen.toast("The former action is still being written.", severity="warning")
            return
        self._busy, self.opens_form = True, opens_form
        self._show_busy()
        start_worker(self._screen.app, self._run, work, then, group="act")

    async def _run(self, work: Callable[[], ResultT], then: Callable[[ResultT], None]) -> None:
        """Do the work in a thread; go on with its result, or say why it failed."""
        try:
            try:
                result = await asyncio.to_thread(work)
            except Exception as error:
                self._show_failure(error)
                return
            finally:
                self._busy = False
                self._show_busy()
                self._screen.look()
            then(result)
        finally:
            self.opens_form = False

    def _show_busy(self) -> None:
        self._screen.set_busy("writing" if self._busy else self._stopping_words)

    def _show_failure(self, error: Exception) -> None:
        """Say why it was not done; what nobody expected goes to the log, its words may hold what was to be written."""
        if not isinstance(error, TeamError):
            self._screen.report(error)
        self._screen.toast(error_text(error), severity="error")

    # Contents that are stored beside the queue.

    def fetch(self, message: Message) -> None:
        """Read the content of `message` that is stored beside the queue, once; after a failure again."""
        place = attachment_of(message)
        if place is None or place in self._fetching or place in self._screen.cache.contents:
            return
        if monotonic() >= self._try_again_at.get(place, 0.0):
            self._fetching.add(place)
            start_worker(self._screen.app, self._fetch, message, place, group="fetch")

    async def _fetch(self, message: Message, place: str) -> None:
        """Read one content; contents requested together, such as a plan and the version before it, are shown together.

        A content that is not what the message's own digest says is shown as such, never as the content.
        """
        screen, contents = self._screen, self._screen.cache.contents
        digest = mapping_in(message.payload, "attachment").get("sha256")
        try:
            data = await asyncio.to_thread(screen.cache.team.attachment, place)
            self._try_again_at.pop(place, None)
            if digest is not None and sha256(data).hexdigest() != digest:
                screen.toast(f"✗ {safe_line(place, 120)} is not what the message says it is", severity="error")
                self._try_again_at[place] = float("inf")
            else:
                contents[place] = data.decode("utf-8", errors="replace")
        except Exception as error:
            if place not in self._try_again_at:  # said once, however often it is tried
                self._show_failure(error)
            # Nobody can decide on half a text, so a server that was away for a moment must not leave it at that.
            self._try_again_at[place] = monotonic() + _FETCH_AGAIN
        finally:
            self._fetching.discard(place)
        while sum(map(len, contents.values())) > _MOST_CONTENTS and len(contents) > _FEWEST_CONTENTS:
            del contents[next(iter(contents))]  # those read first; what is looked at again is read again
        if not self._fetching:
            screen.show_again(is_listed_anew=False)

    # Evidence beside requests and reports.

    def gather(self, request: EvidenceRequest) -> None:
        """Look for the evidence beside a request or report, one look at a time for each."""
        if request.key not in self._gathering:
            self._gathering.add(request.key)
            start_worker(self._screen.app, self._gather, request, group="evidence")

    async def _gather(self, request: EvidenceRequest) -> None:
        """Look for evidence in a thread, and show the same rows again where it is new."""
        evidence, team = self._screen.cache.evidence, self._screen.cache.team

        def look() -> ShownEvidence:
            return evidence_to_show(request, gather(team, request), known)

        known = evidence.get(request.key)
        try:
            found = await asyncio.to_thread(look)
        except Exception as error:
            self._screen.report(error)
            found = evidence_to_show(request, EVIDENCE_NOT_KNOWN)
        finally:
            self._gathering.discard(request.key)
        known = evidence.pop(request.key, None)
        is_new = known is None or known.seen != found.seen or not known.is_for(request)
        evidence[request.key] = found if is_new or known is None else replace(known, at=found.at)
        if len(evidence) > _MOST_EVIDENCE:
            del evidence[next(iter(evidence))]
        if is_new:
            self._screen.show_again(is_listed_anew=False)

    # Asking agents to stop, one after the other.

    def stop_in_turn(self, names: tuple[str, ...], reason: str | None) -> None:
        """Ask agents to stop; each answers, or keeps silent too long, before the next is asked."""
        if self._stopping_words:
            self._screen.toast("The team is being asked to stop already.", severity="warning")
            return
        self._say_stopping("stopping")
        start_worker(self._screen.app, self._stop_in_turn, names, reason, group=_STOPPING)

    def cancel_stopping(self) -> None:
        """Ask nobody else to stop."""
        self._screen.app.workers.cancel_group(self._screen.app, _STOPPING)

    def _say_stopping(self, words: str) -> None:
        """Show the progress of the shutdown, which takes minutes; empty once it is over."""
        self._stopping_words = words
        self._show_busy()

    async def _stop_in_turn(self, names: tuple[str, ...], reason: str | None) -> None:
        """Ask each agent to stop once the one before it answered, and say how many agreed."""
        # Only asking to stop needs these.
        from team_console.store.views.stopping import PASSED_BY, StopRequest, agreed_by_now, ask_to_stop

        screen, view, given_up = self._screen, self._screen.view, Event()
        timeout = view.snapshot.config.overdue_seconds.get("shutdown", 15.0) if view else 15.0
        ask = partial(ask_to_stop, screen.caller, reason=reason, timeout=timeout, given_up=given_up.is_set, again=False)
        stops: list[StopRequest] = []
        agreed = 0
        try:
            for number, name in enumerate(names, start=1):
                self._say_stopping(f"stopping {number} of {len(names)}: {safe_line(name, 40)}")
                try:
                    stops.append(await asyncio.to_thread(ask, name))
                except Exception as error:
                    if not isinstance(error, TeamError) or error.code not in PASSED_BY:
                        self._show_failure(error)
                        return
                    words = f"{safe_line(name, 64)} is passed by: {safe_line(error.message, 200)}"
                    screen.toast(words, severity="warning")
                    continue
                outcome = stops[-1].outcome
                if outcome is not None and outcome.state is RequestState.REJECTED:
                    words = f"⊘ {safe_line(name, 64)} will not stop: {safe_line(outcome.reason, 200)}"
                    screen.toast(words, severity="warning")
            agreed = await asyncio.to_thread(agreed_by_now, screen.caller.team, stops, me=screen.caller.actor)
        except asyncio.CancelledError:
            given_up.set()
            screen.toast("Nobody else is asked to stop.", severity="warning")
            raise
        finally:
            self._say_stopping("")
            screen.look()
        screen.toast(f"{agreed} of {len(stops)} agreed to stop")
