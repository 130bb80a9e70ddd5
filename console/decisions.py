"""Decisions that are not written yet: each can be undone for a few seconds, and none is lost on the way out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from threading import Event, Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.console.background import KEPT, Background, Host, note_of, rehearse
from team_console.console.drafts import Drafts
from team_console.console.keys import grace_seconds
from team_console.console.modes.pane import Pane
from team_console.console.selection import Mode
from team_console.console.words import error_text, reason_of
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import counted, safe_line
from team_console.store.service.caller import Caller
from team_console.store.views.rows import RequestRow, View
from team_console.widgets.form import Later, Stopped
from textual.app import App
from textual.timer import Timer
from textual.widget import Widget

if TYPE_CHECKING:
    from team_console.console.preferences import Preferences
    from team_console.widgets.form import Form


Tell = Callable[[str, Callable[[], None]], None]
"""Is told what goes on, and what stops it."""
_PACE = 0.25
"""Seconds after which it is told how far many acts have come."""
_TOLD = 3
"""Decisions that a sentence names before it only counts them."""


class Act(Struct, frozen=True):
    """One write that was decided on.

    Attributes:
        subject: The id of the request or message it is about.
        words: What it is, safe text: `approve task-manager's plan`.
        do: Writes it; may raise `TeamError`.
    """

    subject: str
    words: str
    do: Callable[[Caller], Any]


class Outcome(Struct, frozen=True):
    """What became of one act: its result, or why it was not written."""

    act: Act
    result: Any = None
    error: Exception | None = None


class Agreed(Later, frozen=True):
    """Acts that are decided on together, and taken back together.

    Attributes:
        verb: What is said of them until they are written: `approve`, `done`.
        told: Makes the toast of what became of them.
        purposes: Names of the drafts that are no longer needed once all is written.
        refused: Acts that could not be written when they were decided on, with the reason.
        then: Told of the outcomes, on the screen.
        needs_console: What was decided on is done by `then`, so a console that ends first does nothing of it.
        outcomes: What became of the acts, where they were written at once; None while they wait.
    """

    verb: str
    acts: tuple[Act, ...]
    told: Callable[[Sequence[Outcome]], str]
    purposes: tuple[str, ...] = ()
    refused: tuple[Outcome, ...] = ()
    then: Callable[[Sequence[Outcome]], None] | None = None
    needs_console: bool = False
    outcomes: tuple[Outcome, ...] | None = None

    @property
    def subjects(self) -> frozenset[str]:
        """Ids of the requests and messages that are decided about."""
        return frozenset(act.subject for act in self.acts)

    @property
    def words(self) -> str:
        """What was decided, in a few words."""
        if len(self.acts) == 1:
            return self.acts[0].words
        return f"{self.verb} {len(self.acts):,}"


class Waiting(Struct):
    """One decision in its grace.

    Attributes:
        due: When it is written, in seconds of `monotonic`.
        begun: Its grace is over; it may still wait for those decided before it.
        taken: It is being written, or was taken back: nobody else may do it.
    """

    agreed: Agreed
    due: float
    note: str
    timer: Timer | None = None
    begun: bool = False
    taken: bool = False
    lock: Any = field(default_factory=Lock)

    def take(self) -> bool:
        """Take it, once: the screen, its end and a signal may come for it side by side."""
        with self.lock:
            mine, self.taken = not self.taken, True
            return mine


class Unwritten:
    """What was decided and is not written yet, the oldest first."""

    def __init__(self, host: Host, *, clock: Callable[[], float] = monotonic) -> None:
        self._host, self._clock = host, clock
        self._waiting: list[Waiting] = []
        self._order: asyncio.Lock | None = None
        self._number = 0

    @property
    def subjects(self) -> Mapping[str, str]:
        """Id of a request or message -> what was decided about it and is not written yet."""
        return {act.subject: entry.agreed.verb for entry in self._waiting for act in entry.agreed.acts}

    @property
    def last(self) -> Agreed | None:
        """What would be taken back."""
        entry = next((entry for entry in reversed(self._waiting) if not entry.taken), None)
        return entry.agreed if entry is not None else None

    @property
    def seconds(self) -> int:
        """Whole seconds until the last decision is written."""
        entry = next((entry for entry in reversed(self._waiting) if not entry.taken), None)
        return max(0, round(entry.due - self._clock())) if entry is not None else 0

    def __len__(self) -> int:
        return sum(len(entry.agreed.acts) for entry in self._waiting)

    def prepare(self, agreed: Agreed) -> Agreed:
        """Write at once where there is no grace, else make sure that it can be written; runs in a thread.

        Raises:
            Stopped: The human stopped the check; nothing was written.
            TeamError: A single act is refused; of several, those that are refused are named in the result.
        """
        caller = self._host.caller
        if grace_seconds() <= 0:
            return replace(agreed, outcomes=_all_or_first(_write(caller, agreed.acts, caller.tell)))
        if len(agreed.acts) == 1:
            rehearse(caller, agreed.acts[0].do)
            return agreed
        checked = (_rehearsed(caller, act) for act in _in_turn(agreed.acts, "checking", caller.tell))
        refused = tuple(outcome for outcome in checked if outcome is not None)
        wrong = {outcome.act.subject for outcome in refused}
        return replace(agreed, acts=tuple(act for act in agreed.acts if act.subject not in wrong), refused=refused)

    def take(self, prepared: Agreed) -> None:
        """Go on with what `prepare` made of it: wait for its time, or tell what became of it."""
        if prepared.outcomes is not None or not prepared.acts:
            self._tell(prepared, prepared.outcomes or ())
            return
        if prepared.refused:
            self._host.toast("\n".join(_refused(prepared.refused)), severity="error")
            prepared = replace(prepared, refused=())
        self._number += 1
        note = f"{KEPT}{os.getpid()}:{self._number}"
        seconds = grace_seconds()
        entry = Waiting(prepared, self._clock() + seconds, note)
        self._host.drafts.keep(note, note_of(prepared.verb, prepared.words, (act.subject for act in prepared.acts)))
        self._waiting.append(entry)
        entry.timer = self._host.app.set_timer(seconds, lambda: self._begin(entry))
        self._host.show_unwritten()

    def undo(self) -> bool:
        """Take back what was decided last; False when nothing can be taken back any more."""
        for entry in reversed(self._waiting):
            if entry.take():
                self._forget(entry)
                self._host.toast(f"↶ Taken back: {safe_line(entry.agreed.words, 200)}. Nothing was written.")
                self._host.stay()
                if entry.agreed.acts:
                    self._host.seek(entry.agreed.acts[0].subject)
                return True
        return False

    def write_now(self) -> None:
        """Write everything at once."""
        for entry in tuple(self._waiting):
            self._begin(entry)

    def write_here(self) -> None:
        """Write everything in this thread, because the console stands still: no grace ends until it goes on."""
        for entry in tuple(self._waiting):
            if not entry.agreed.needs_console and entry.take():
                outcomes = _write(self._silent_caller, entry.agreed.acts)
                self._forget(entry)
                self._tell(entry.agreed, outcomes)

    def flush(self) -> list[str]:
        """Write what is left, in this thread, because the console ends; returns what could not be written, and why.

        What could not be written is told of at the next start, too.
        """
        lost = []
        for entry in tuple(self._waiting):
            if not entry.take():
                continue
            if entry.agreed.needs_console:
                lost.append(f"{safe_line(entry.agreed.words, 200)}: the console was left before it began")
                continue
            outcomes = _write(self._silent_caller, entry.agreed.acts)
            lost += [_lost(outcome) for outcome in outcomes if outcome.error is not None]
            if not any(outcome.error is not None for outcome in outcomes):
                self._clear(entry)
        return lost

    @property
    def _silent_caller(self) -> Caller:
        """Whoever acts, without a screen to say what is waited for: it is gone, or cannot be painted meanwhile."""
        return replace(self._host.caller, tell=lambda words, give_up: None)

    def _begin(self, entry: Waiting) -> None:
        if entry.begun or entry.taken:
            return
        entry.begun = True
        if entry.timer is not None:
            entry.timer.stop()
        self._host.app.run_worker(self._write(entry), group="unwritten", exit_on_error=False)

    async def _write(self, entry: Waiting) -> None:
        self._order = self._order or asyncio.Lock()
        async with self._order:  # in the order in which they were decided
            outcomes = await asyncio.to_thread(self._write_once, entry)
        self._host.set_busy("")
        if outcomes is not None:
            self._forget(entry)
            self._tell(entry.agreed, outcomes)

    def _write_once(self, entry: Waiting) -> list[Outcome] | None:
        """In a thread; None when somebody was faster.

        Taken only here: a console that is left ends whoever waits for his turn, and what he had taken would be lost.
        """
        return _write(self._host.caller, entry.agreed.acts, self._tell_progress) if entry.take() else None

    def _tell_progress(self, words: str, give_up: Callable[[], None]) -> None:
        """In a thread; what is past its grace is not stopped any more."""
        self._host.app.call_from_thread(self._host.set_busy, words)

    def _tell(self, agreed: Agreed, outcomes: Sequence[Outcome]) -> None:
        every = (*agreed.refused, *outcomes)
        for outcome in every:
            if outcome.error is not None and not isinstance(outcome.error, TeamError):
                self._host.report(outcome.error)
        bad = [outcome for outcome in every if outcome.error is not None]
        good = [outcome for outcome in every if outcome.error is None]
        if not bad:
            for purpose in agreed.purposes:
                self._host.drafts.keep(purpose, {})
        if good and (text := agreed.told(good)):
            self._host.toast(text)
        if bad:
            self._host.stay()
            self._host.toast("\n".join(_refused(bad)), severity="error")
        self._host.look()
        if agreed.then is not None:
            agreed.then(every)

    def _forget(self, entry: Waiting) -> None:
        if entry.timer is not None:
            entry.timer.stop()
        self._clear(entry)
        with suppress(ValueError):
            self._waiting.remove(entry)
        self._host.show_unwritten()

    def _clear(self, entry: Waiting) -> None:
        self._host.drafts.keep(entry.note, {})


def _write(caller: Caller, acts: Sequence[Act], tell: Tell = lambda words, give_up: None) -> list[Outcome]:
    """What became of each; where it is stopped, the rest was not written."""
    outcomes: list[Outcome] = []
    try:
        for act in _in_turn(acts, "writing", tell):
            outcomes.append(_written(caller, act))
    except Stopped as error:
        outcomes += [Outcome(act, error=error) for act in acts[len(outcomes) :]]
    return outcomes


def _in_turn(acts: Sequence[Act], what: str, tell: Tell) -> Iterator[Act]:
    """The acts one after the other; how far it is, is told every now and then, with what stops it before the next.

    Raises:
        Stopped: It was stopped.
    """
    stopped, due = Event(), monotonic() + _PACE
    for number, act in enumerate(acts):
        if stopped.is_set():
            raise Stopped(f"stopped after {what} {number:,} of {len(acts):,}")
        if number and monotonic() >= due:
            tell(f"{what} {number:,} of {len(acts):,}", stopped.set)
            due = monotonic() + _PACE
        yield act


def _written(caller: Caller, act: Act) -> Outcome:
    try:
        return Outcome(act, act.do(caller))
    except Exception as error:
        return Outcome(act, error=error)


def _rehearsed(caller: Caller, act: Act) -> Outcome | None:
    try:
        rehearse(caller, act.do)
    except TeamError as error:
        return Outcome(act, error=error)
    return None


def _all_or_first(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """The outcomes; a single act that failed raises, so that its form can say why and stay."""
    if len(outcomes) == 1 and outcomes[0].error is not None:
        raise outcomes[0].error
    return tuple(outcomes)


def _refused(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield f"✗ Not written: {counted(len(outcomes), 'decision')}. Your words are kept; look, then decide again."
    for outcome in outcomes[:_TOLD]:
        yield f"{safe_line(outcome.act.words, 120)}: {error_text(outcome.error).removeprefix('✗ ')}"  # type: ignore[arg-type]
    if len(outcomes) > _TOLD:
        yield f"and {len(outcomes) - _TOLD} more"


def _lost(outcome: Outcome) -> str:
    return f"{safe_line(outcome.act.words, 200)}: {reason_of(outcome.error) if outcome.error else ''}"


# The workspace a handler acts in: what the screen lets handlers read and do, so that they need not know the screen.

ResultT = TypeVar("ResultT")


class Workspace(Protocol):
    """What handlers may use.

    Attributes:
        caller: Who acts on which team.
        drafts: What was typed and not handed in.
        background: Runs work in threads and says what became of it.
        unwritten: Decisions that are not written yet.
        busy: What is going on, as safe text; empty for nothing.
        read_only: The human asked for a console that cannot write.
        redraw: Reads the team again and draws every cell anew.
        left_at: When the human was here before; None when that is not known.
        preferences: What the human chose.
        last_said: When, how serious and what the console said, the newest first.
    """

    preferences: Preferences
    last_said: Sequence[tuple[datetime, str, str]]
    caller: Caller
    drafts: Drafts
    background: Background
    unwritten: Unwritten
    busy: str
    read_only: bool
    redraw: Callable[[], None]
    left_at: datetime | None

    @property
    def app(self) -> App[Any]:
        """The running application."""

    def take_preferences(self, preferences: Preferences) -> None:
        """Make what the human chose hold from now on."""

    def action_perform(self, name: str) -> None:
        """Do an action of the registry, or the human's own command `own:NUMBER`."""

    @property
    def pane(self) -> Pane[Any]:
        """The pane of the present mode."""

    @property
    def view(self) -> View | None:
        """What is shown, None before the first reading."""

    @property
    def cannot_write(self) -> bool:
        """Whether nothing can be written, by choice or for want of permissions."""

    @property
    def focused(self) -> Widget | None:
        """The widget that has the focus."""

    def focus_next(self) -> object:
        """Give the focus to the next panel."""

    def focus_previous(self) -> object:
        """Give the focus to the panel before."""

    def go(self, mode: Mode) -> None:
        """Go to a list."""

    def tell_since(self, since: datetime, *, always: bool = False) -> None:
        """Say what happened since a moment; without `always` only where something did."""

    def back(self) -> None:
        """Back out of the innermost thing."""

    def ask(
        self,
        form: Form[ResultT],
        told: Callable[[ResultT], str] | None,
        *,
        then: Callable[[ResultT], None] | None = None,
        about: RequestRow | None = None,
    ) -> None:
        """Ask the human with `form`; `told` makes the toast of its result, `then` goes on with it.

        A form that asks `about` one request says what becomes of that while it is open.
        """

    def step_on(self, decided: Collection[str]) -> None:
        """Go from the requests and messages that were just decided about to the next thing."""

    def toast(self, text: str, *, severity: str = "information") -> None:
        """Say something for a few seconds; it is shown as text whatever it holds."""
