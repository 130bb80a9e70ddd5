"""Decisions that are not written yet: each can be undone for a few seconds, and none is lost on the way out."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Lock
from time import monotonic
from typing import Any, cast

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.console.background import Host
from team_console.console.drafts import Draft
from team_console.console.selection import DONE
from team_console.console.words import error_text, reason_of, written
from team_console.store.contract.team import Team
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import counted, safe_line
from team_console.store.service.caller import Caller, Receipt
from team_console.widgets.form import Later, Stopped
from textual.timer import Timer

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
        do: A write of the service with all it needs but the caller; may raise `TeamError`.
    """

    subject: str
    words: str
    do: Callable[[Caller], Receipt | None]


class Outcome(Struct, frozen=True):
    """What became of one act: its receipt, or why it was not written."""

    act: Act
    receipt: Receipt | None = None
    error: Exception | None = None


class Agreed(Later, frozen=True):
    """Acts that are decided on together, and taken back together.

    Attributes:
        verb: What is said of them until they are written: `approve`, `done`.
        acts: What is written, one after the other.
        done: What the toast says once they are, a past participle; `{n}` in it is how many, empty for no toast.
        noun: What is counted for that.
        purposes: Names of the drafts that are no longer needed once all is written.
        begins: What the console begins in place of writing; one that ends first does nothing of it.
        refused: Acts that could not be written when they were decided on, with the reason.
        outcomes: What became of the acts, where they were written at once; None while they wait.
    """

    verb: str
    acts: tuple[Act, ...]
    done: str = ""
    noun: str = "request"
    purposes: tuple[str, ...] = ()
    begins: Callable[[], None] | None = None
    refused: tuple[Outcome, ...] = ()
    outcomes: tuple[Outcome, ...] | None = None

    @property
    def subjects(self) -> frozenset[str]:
        """Ids of the requests and messages that are decided about."""
        return frozenset(act.subject for act in self.acts)

    @property
    def words(self) -> str:
        """What was decided, in a few words."""
        return self.acts[0].words if len(self.acts) == 1 else f"{self.verb} {len(self.acts):,}"


class Waiting(Struct):
    """One decision in its grace.

    Attributes:
        due: When it is written, in seconds of `monotonic`.
        note: The name of the draft that outlives the process.
        timer: Ends the grace; None once that is over, also while it waits for those decided before it.
        claim: Held by whoever writes it or takes it back.
    """

    agreed: Agreed
    due: float
    note: str
    timer: Timer | None = None
    claim: Any = field(default_factory=Lock)

    def take(self) -> bool:
        """Take it, once: the screen, its end and a signal may come for it side by side."""
        return bool(self.claim.acquire(blocking=False))

    @property
    def taken(self) -> bool:
        """Whether it is being written, or was taken back."""
        return bool(self.claim.locked())


class Unwritten:
    """What was decided and is not written yet, the oldest first."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._waiting: list[Waiting] = []
        self._order = asyncio.Lock()
        self._number = 0

    @property
    def subjects(self) -> Mapping[str, str]:
        """Id of a request or message -> what was decided about it and is not written yet."""
        return {act.subject: entry.agreed.verb for entry in self._waiting for act in entry.agreed.acts}

    @property
    def last(self) -> Waiting | None:
        """What would be taken back."""
        return next((entry for entry in reversed(self._waiting) if not entry.taken), None)

    def __len__(self) -> int:
        return sum(len(entry.agreed.acts) for entry in self._waiting)

    def prepare(self, agreed: Agreed) -> Agreed:
        """Write at once where there is no grace, else make sure that it can be written; runs in a thread.

        Raises:
            Stopped: The human stopped the check; nothing was written.
            TeamError: A single act is refused; of several, those that are refused are named in the result.
        """
        caller = self._host.caller
        if self._host.preferences.grace <= 0:
            outcomes = _write(caller, agreed.acts, caller.tell)
            if len(outcomes) == 1 and outcomes[0].error is not None:
                raise outcomes[0].error  # its form says why, and stays
            return replace(agreed, outcomes=tuple(outcomes))
        if len(agreed.acts) == 1:
            rehearse(caller, agreed.acts[0].do)
            return agreed
        refused = []
        for act in _in_turn(agreed.acts, "checking", caller.tell):
            try:
                rehearse(caller, act.do)
            except TeamError as error:
                refused.append(Outcome(act, error=error))
        wrong = {outcome.act.subject for outcome in refused}
        acts = tuple(act for act in agreed.acts if act.subject not in wrong)
        return replace(agreed, acts=acts, refused=tuple(refused))

    def take(self, prepared: Agreed) -> None:
        """Go on with what `prepare` made of it: wait for its time, or tell what became of it."""
        if prepared.outcomes is not None or not prepared.acts:
            self._tell(prepared, (*prepared.refused, *(prepared.outcomes or ())))
            return
        if prepared.refused:
            self._host.toast(_refused(prepared.refused), severity="error")
        self._number += 1
        seconds = self._host.preferences.grace
        entry = Waiting(prepared, monotonic() + seconds, f"{KEPT}{os.getpid()}:{self._number}")
        subjects = json.dumps([act.subject for act in prepared.acts])
        self._host.drafts.keep(entry.note, {"words": prepared.words, "verb": prepared.verb, "subjects": subjects})
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
            if entry.agreed.begins is None and entry.take():
                outcomes = _write(self._host.caller, entry.agreed.acts)
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
            if entry.agreed.begins is not None:
                lost.append(f"{safe_line(entry.agreed.words, 200)}: the console was left before it began")
                continue
            bad = [outcome for outcome in _write(self._host.caller, entry.agreed.acts) if outcome.error is not None]
            lost += [f"{safe_line(each.act.words, 200)}: {reason_of(each.error)}" for each in bad if each.error]
            if not bad:
                self._host.drafts.keep(entry.note, {})
        return lost

    def _begin(self, entry: Waiting) -> None:
        if entry.timer is not None and not entry.taken:
            entry.timer.stop()
            entry.timer = None
            self._host.app.run_worker(self._write(entry), group="unwritten", exit_on_error=False)

    async def _write(self, entry: Waiting) -> None:
        def write() -> list[Outcome] | None:
            # Taken only in the thread: a console that is left ends whoever waits for his turn, and what he had taken
            # would be lost.
            return _write(self._host.caller, entry.agreed.acts, say) if entry.take() else None

        def say(words: str, give_up: Callable[[], None]) -> None:  # what is past its grace is not stopped any more
            self._host.app.call_from_thread(self._host.set_busy, words)

        async with self._order:  # in the order in which they were decided
            outcomes = await asyncio.to_thread(write)
        self._host.set_busy("")
        if outcomes is not None:
            self._forget(entry)
            self._tell(entry.agreed, outcomes)

    def _tell(self, agreed: Agreed, outcomes: Sequence[Outcome]) -> None:
        bad = [outcome for outcome in outcomes if outcome.error is not None]
        good = [outcome.receipt for outcome in outcomes if outcome.error is None]
        for outcome in bad:
            if outcome.error is not None and not isinstance(outcome.error, TeamError):
                self._host.report(outcome.error)
        if not bad:
            for purpose in agreed.purposes:
                self._host.drafts.keep(purpose, {})
        if good and agreed.done:
            done = agreed.done.replace("{n}", counted(len(good), agreed.noun))
            receipts = () if agreed.verb == DONE else (receipt for receipt in good if receipt is not None)
            self._host.toast(written(done, *receipts))
        if bad:
            self._host.stay()
            self._host.toast(_refused(bad), severity="error")
        self._host.look()
        if agreed.begins is not None:
            agreed.begins()

    def _forget(self, entry: Waiting) -> None:
        if entry.timer is not None:
            entry.timer.stop()
        self._host.drafts.keep(entry.note, {})
        with suppress(ValueError):
            self._waiting.remove(entry)
        self._host.show_unwritten()

    # What was decided in a console that ended before it could write it.

    def tell_left_behind(self) -> None:
        """Say what was decided in a console that was cut off, and is not on record."""
        drafts = self._host.drafts
        names = [name for name in drafts.purposes(KEPT) if not _is_running(name.removeprefix(KEPT).partition(":")[0])]
        if names:
            notes = {name: drafts.get(name) for name in names}
            self._host.app.run_worker(self._tell_left_behind(notes), group="left behind", exit_on_error=False)

    async def _tell_left_behind(self, notes: Mapping[str, Draft]) -> None:
        host = self._host
        try:
            left = await asyncio.to_thread(_not_written, notes.values(), host.caller.team, host.caller.actor)
        except (TeamError, OSError):
            return  # what is on record cannot be read now; the notes wait for the next start
        for name in notes:
            host.drafts.keep(name, {})
        if left:
            listed = "\n".join(f"· {safe_line(text, 200)}" for text in left[:_SENTENCES])
            head = "△ Decided and not written when a console was cut off; decide again:"
            host.toast(f"{head}\n{listed}", severity="error")


def _write(caller: Caller, acts: Sequence[Act], tell: Tell | None = None) -> list[Outcome]:
    """What became of each; where it is stopped, the rest was not written.

    Without `tell` there is no screen to say what is waited for: it is gone, or cannot be painted meanwhile.
    """
    silent: Tell = lambda words, give_up: None  # noqa: E731
    outcomes: list[Outcome] = []
    try:
        for act in _in_turn(acts, "writing", tell or silent):
            outcomes.append(_written(caller if tell else replace(caller, tell=silent), act))
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


def _refused(outcomes: Sequence[Outcome]) -> str:
    lines = [f"✗ Not written: {counted(len(outcomes), 'decision')}. Your words are kept; look, then decide again."]
    for each in outcomes[:_TOLD]:
        why = error_text(each.error).removeprefix("✗ ") if each.error is not None else ""
        lines.append(f"{safe_line(each.act.words, 120)}: {why}")
    return "\n".join([*lines, *([f"and {len(outcomes) - _TOLD} more"] if len(outcomes) > _TOLD else [])])


# A rehearsal: an act is done up to the moment at which its first transaction would be written.


class _RehearsedError(Exception):
    """Ends the first transaction of a rehearsal before it is committed."""


class _RehearsalTeam:
    """A team whose transactions are never committed; all else is the team's own."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def __getattr__(self, name: str) -> Any:
        return getattr(self._team, name)

    @contextmanager
    def transaction(self, *, actor: str, action: str, wait: float) -> Iterator[Transaction]:
        with self._team.transaction(actor=actor, action=action, wait=wait) as tx:
            yield tx
            raise _RehearsedError


def rehearse(caller: Caller, act: Callable[[Caller], object]) -> None:
    """Do `act` up to the moment at which its first transaction would be written.

    What an act does outside of transactions before the first one ends is really done; those of the desk do nothing.

    Raises:
        TeamError: Whatever would refuse the write now.
    """

    def stop(words: str, give_up: Callable[[], None]) -> None:
        raise _RehearsedError  # a human's key is asked for only by the write itself

    with suppress(_RehearsedError):
        act(replace(caller, team=cast(Team, _RehearsalTeam(caller.team)), tell=stop))


# Notes of decisions that outlive the process, and what of them was not written when a console was cut off.

KEPT = "unwritten:"
"""What the names of notes begin with that outlive the process, so that a decision a crash cut off is told of."""
_AUDITED = 20_000
"""Lines of the audit trail, newest first, in which a decision is looked for."""
_SENTENCES, _NAMED = 6, 3
"""Sentences that are told, and requests that one of them names."""


def _not_written(notes: Iterable[Draft], team: Team, me: str) -> list[str]:
    """What of each note is not on the audit trail as written by `me`, in a few words; a note that is all there, is not.

    The trail is where a write begins to count, so this is true whenever the process ended. Read it only once that
    has: what it wrote last would be missed.
    """
    done: set[tuple[str, str]] = set()
    for line in team.audit(limit=_AUDITED):
        if line.action == "read":  # by its reader, who need not be `me`
            done.update((DONE, message_id) for message_id in line.facts.get("ids", ()) if isinstance(message_id, str))
        elif line.actor == me and isinstance(request_id := line.facts.get("request_id"), str):
            done.add((line.action, request_id))
    left = []
    for note in notes:
        verb, subjects = note.get("verb", ""), json.loads(note.get("subjects", "[]"))
        missing = [subject for subject in subjects if (verb, subject) not in done]
        named = f": {', '.join(missing)}" if len(missing) <= _NAMED else ""
        if len(missing) == len(subjects):
            left.append(note.get("words", ""))
        elif missing:
            left.append(f"{verb} {len(missing):,} of {len(subjects):,}{named}")
    return left


def _is_running(process: str) -> bool:
    if process == str(os.getpid()):
        return False  # a number used again: what this process decides has not been written down yet
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        return True
    return True
