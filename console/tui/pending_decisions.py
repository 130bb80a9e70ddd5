"""Pending decisions: each can be undone for seconds before it is written; notes of them outlive the process."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from threading import Event, Lock
from time import monotonic
from typing import Any, cast

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace
from team_console.console.clients.client_process import is_alive, started_at
from team_console.console.selection import DONE
from team_console.console.tui.drafts import Draft
from team_console.console.tui.outcomes import DRAFT, error_text, reason_of, receipt_words
from team_console.console.tui.screen_protocols import MainScreenProtocol
from team_console.console.tui.textual_fixes import start_worker
from team_console.store.contract.team import AuditLine, Team
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.foreign_fields import text_in, texts_in
from team_console.store.service.caller import Caller, Receipt
from team_console.store.views.rows import View
from team_console.widgets.form_results import DeferredResult, Stopped
from textual.timer import Timer

Progress = Callable[[str, Callable[[], None]], None]
"""Takes a line on the work under way, and the function that stops it."""
_PACE = 0.25
"""Seconds between two lines on the progress of many writes."""
_SHORT_WAIT = 0.05
"""Seconds for which a write waits for a lock that the one before it did not get."""
_STORE_IS_AWAY = (Code.STORE_LOCKED, Code.STORE_FAILED, Code.STORE_UNREADABLE)
"""What a store says that cannot be asked now: nothing of the decision."""
_MOST_UNSAVED = 6
"""Decisions of a killed console that a toast names."""
_MOST_NAMED = 3
"""Decisions that a toast names before it only counts them."""


class PendingWrite(Struct, frozen=True):
    """One write of a pending decision.

    Attributes:
        subject: The id of the request or message.
        words: The write in words, as safe text: `approve task-manager's plan`.
        do: A write action of the service that lacks only the caller; may raise `TeamError`.
        follows: Whether it can only be checked once the write before it was made.
        adds: What the toast says of it behind the decision, once it was written.
        recorded: The line of the audit trail that proves it: action, and request, message or recipients (by name, with
            commas; empty for whatever the action is about); None for the decision's verb and the subject.
    """

    subject: str
    words: str
    do: Callable[[Caller], Receipt | None]
    follows: bool = False
    adds: str = ""
    recorded: tuple[str, str] | None = None


class Outcome(Struct, frozen=True):
    """The result of one write: its receipt, or the error that prevented it."""

    write: PendingWrite
    receipt: Receipt | None = None
    error: Exception | None = None


class PendingDecision(DeferredResult, frozen=True):
    """Writes that were decided on together and are undone together.

    Attributes:
        verb: The decision in a word until it is written: `approve`, `done`.
        writes: The writes, in order.
        done: The toast after writing, a past participle; `{n}` stands for the number of writes; empty for no toast.
        noun: The unit of `{n}`.
        purposes: Names of the drafts to delete once everything is written but what follows.
        begins: Started in place of a write; a console that ends first does not start it.
        refused: Writes that the dry run refused, with the error.
        outcomes: Results of writes without an undo delay; None while the decision is pending.
    """

    verb: str
    writes: tuple[PendingWrite, ...]
    done: str = ""
    noun: str = "request"
    purposes: tuple[str, ...] = ()
    begins: Callable[[], None] | None = None
    refused: tuple[Outcome, ...] = ()
    outcomes: tuple[Outcome, ...] | None = None

    @property
    def is_pending(self) -> bool:
        """Whether nothing of it is written yet."""
        return self.outcomes is None

    @property
    def subjects(self) -> frozenset[str]:
        """Ids of the requests and messages."""
        return frozenset(write.subject for write in self.writes)

    @property
    def words(self) -> str:
        """The decision in a few words."""
        is_one = len(self.checked) == 1
        return "; ".join(write.words for write in self.writes) if is_one else f"{self.verb} {len(self.writes):,}"

    @property
    def checked(self) -> tuple[PendingWrite, ...]:
        """The writes that a dry run can check."""
        return tuple(write for write in self.writes if not write.follows)


class ScheduledDecision(Struct):
    """A pending decision with its undo delay.

    Attributes:
        due: The time of the write, in seconds of `monotonic`.
        note: Name of the draft that records the decision for the next start.
        timer: Ends the undo delay; None afterwards, also while earlier decisions are still being written.
        asked_again: Subjects that were checked again, because somebody else decided on them meanwhile.
        claim_lock: Held from then on by the first of write and undo.
    """

    pending: PendingDecision
    due: float
    note: str
    timer: Timer | None = None
    asked_again: frozenset[str] = frozenset()
    claim_lock: Any = field(default_factory=Lock)

    def claim(self) -> bool:
        """Claim it, once: the screen, its end and a signal may all try at the same time. False when another did."""
        return bool(self.claim_lock.acquire(blocking=False))

    @property
    def is_claimed(self) -> bool:
        """Whether it is being written or was undone."""
        return bool(self.claim_lock.locked())


class PendingDecisions:
    """The pending decisions of one console, oldest first."""

    def __init__(self, screen: MainScreenProtocol) -> None:
        self._screen = screen
        self._waiting: list[ScheduledDecision] = []
        """All that are not written yet, also those that are being written."""
        self._order = asyncio.Lock()
        """Held by the decision that is being written: each is written behind those before it."""
        self._number = 0
        """How many were scheduled: each has a note of its own."""

    @property
    def subjects(self) -> Mapping[str, str]:
        """Id of a request or message -> the verb of its pending decision."""
        return {write.subject: entry.pending.verb for entry in self._waiting for write in entry.pending.writes}

    @property
    def marks(self) -> dict[str, str]:
        """Id of a request or message -> what was decided about it and is not written, or that an answer was begun."""
        return {**dict.fromkeys(self._screen.drafts.requests(), DRAFT), **self.subjects}

    @property
    def last(self) -> ScheduledDecision | None:
        """The decision that `undo` would take back."""
        return next((entry for entry in reversed(self._waiting) if not entry.is_claimed), None)

    def __len__(self) -> int:
        return sum(len(entry.pending.writes) for entry in self._waiting)

    def prepare(self, pending: PendingDecision) -> PendingDecision:
        """Write at once without an undo delay, else check by a dry run that it can be written; runs in a thread.

        Raises:
            Stopped: The user stopped the check; nothing was written.
            TeamError: A single write is refused; of several, those that are refused are named in the result.
        """
        caller = self._screen.caller
        if self._screen.cache.preferences.undo_delay > 0:
            return self.check(pending)
        outcomes = _write(caller, pending.writes, caller.tell)
        if len(pending.checked) == 1 and outcomes[0].error is not None:
            raise outcomes[0].error  # its form says why, and stays
        return replace(pending, outcomes=tuple(outcomes))

    def check(self, pending: PendingDecision) -> PendingDecision:
        """Check by a dry run that it can be written; as for `prepare`."""
        caller = self._screen.caller
        if len(pending.checked) == 1:
            dry_run(caller, pending.checked[0].do)
            return pending
        refused = _refused_by_dry_run(caller, _one_by_one(pending.checked, "checking", caller.tell))
        wrong = {outcome.write.subject for outcome in refused}
        writes = tuple(write for write in pending.writes if write.subject not in wrong)
        return replace(pending, writes=writes, refused=tuple(refused))

    def schedule(self, prepared: PendingDecision) -> None:
        """Schedule what `prepare` returned, or report its results if it was written at once."""
        if prepared.outcomes is not None or not prepared.writes:
            self._report(prepared, (*prepared.refused, *(prepared.outcomes or ())))
            return
        if prepared.refused:
            self._screen.toast(_refusal_words(prepared.refused), severity="error")
        self._number += 1
        seconds = self._screen.cache.preferences.undo_delay
        entry = ScheduledDecision(prepared, monotonic() + seconds, f"{NOTE_PREFIX}{os.getpid()}:{self._number}")
        self._keep_note(entry)
        self._waiting.append(entry)
        entry.timer = self._screen.app.set_timer(seconds, lambda: self._begin_to_write(entry))
        self._screen.show_pending()

    def _keep_note(self, entry: ScheduledDecision) -> None:
        """Keep what is decided for the next start, should this process be killed before it is written."""
        pending = entry.pending
        note = {
            "words": pending.words,
            "verb": pending.verb,
            "recorded": json.dumps([write.recorded or (pending.verb, write.subject) for write in pending.writes]),
            "at": to_text(self._screen.caller.team.clock()),
            "process_begin": started_at(os.getpid()),
        }
        self._screen.drafts.keep(entry.note, note)

    def undo(self) -> bool:
        """Undo the last decision; False when none can be undone any more."""
        for entry in reversed(self._waiting):
            if entry.claim():
                self._forget(entry)
                self._screen.toast(f"↶ Taken back: {safe_line(entry.pending.words, 200)}. Nothing was written.")
                self._screen.lists.expect_no_leaving()
                self._screen.lists.seek(entry.pending.writes[0].subject)
                return True
        return False

    def check_again(self, view: View) -> None:
        """Refuse at once what somebody else decided meanwhile: nobody waits for the end of a time to learn that."""
        closed = {row.request_id for row in view.requests if not row.is_open} if self._waiting else set()
        for entry in self._waiting:
            again = entry.pending.subjects & closed - entry.asked_again
            if again and not entry.is_claimed:
                entry.asked_again |= again
                start_worker(self._screen.app, self._refuse, entry, again, group="check again")

    async def _refuse(self, entry: ScheduledDecision, subjects: frozenset[str]) -> None:
        """Drop from a decision what can be written no more about these subjects, and say why."""
        asked = [write for write in entry.pending.checked if write.subject in subjects]
        refused = await asyncio.to_thread(_refused_by_dry_run, self._screen.caller, asked)
        # guard: busy-store-refuses-no-decision
        is_busy = any(isinstance(each.error, TeamError) and each.error.code in _STORE_IS_AWAY for each in refused)
        if is_busy or not refused or entry.is_claimed:
            return
        gone = {each.write.subject for each in refused}
        left = replace(entry.pending, writes=tuple(each for each in entry.pending.writes if each.subject not in gone))
        if left.writes:
            entry.pending = left
            self._keep_note(entry)
            self._screen.lists.expect_no_leaving()
            self._screen.toast(_refusal_words(refused), severity="error")
            self._screen.show_pending()
        elif entry.claim():
            self._forget(entry)
            self._report(entry.pending, refused)

    def write_now(self) -> None:
        """Begin to write every pending decision now."""
        for entry in tuple(self._waiting):
            self._begin_to_write(entry)

    def write_here(self) -> None:
        """Write everything in this thread before the console is suspended: its timers stand still until it resumes.

        What became of it is told then: a toast of now would be over before an editor is.
        """
        for entry in tuple(self._waiting):
            if entry.pending.begins is None and entry.claim():
                outcomes = _write(self._screen.caller, entry.pending.writes)
                self._screen.app.call_later(self._tell_written, entry, outcomes)

    def _tell_written(self, entry: ScheduledDecision, outcomes: Sequence[Outcome]) -> None:
        """Report what was written while the console stepped aside, and that it was written for that."""
        self._forget(entry)
        done = f"{entry.pending.done}, before the console stepped aside"
        self._report(replace(entry.pending, done=done), outcomes)

    def flush(self) -> list[str]:
        """Write everything in this thread because the console ends; return a line for each failed write.

        Failed writes are reported again at the next start.
        """
        lost: list[str] = []
        caller = self._screen.caller
        for entry in tuple(self._waiting):
            if not entry.claim():
                continue
            if entry.pending.begins is not None:
                lost.append(f"{safe_line(entry.pending.words, 200)}: the console was left before it began")
                continue
            outcomes = _write(caller, entry.pending.writes)
            errors = [
                f"{safe_line(each.write.words, 200)}: {reason_of(each.error)}"
                for each in outcomes
                if each.error is not None
            ]
            lost += errors
            if not errors:
                self._screen.drafts.keep(entry.note, {})
                self._waiting.remove(entry)
            caller = _caller_after(outcomes, caller)
        return lost

    @property
    def unwritten(self) -> list[str]:
        """Return a safe line for each decision of which it is not known that it was written."""
        return [f"{safe_line(entry.pending.words, 200)}: the next start says" for entry in tuple(self._waiting)]

    def _begin_to_write(self, entry: ScheduledDecision) -> None:
        """End the undo delay of a decision, and write it in a worker."""
        if entry.timer is not None and not entry.is_claimed:
            entry.timer.stop()
            entry.timer = None
            start_worker(self._screen.app, self._write, entry, group="decisions")

    async def _write(self, entry: ScheduledDecision) -> None:
        """Write a decision in a thread, behind those that were decided before, and report it."""

        def write() -> list[Outcome] | None:
            # Claimed only in the thread: when the console ends, tasks that wait for `_order` are cancelled, and a
            # decision claimed before would be lost.
            return _write(self._screen.caller, entry.pending.writes, say) if entry.claim() else None

        def say(words: str, give_up: Callable[[], None]) -> None:  # a write that has begun is not stopped
            self._screen.app.call_from_thread(self._screen.set_busy, words)

        async with self._order:  # in the order in which they were decided
            outcomes = await asyncio.to_thread(write)
        self._screen.set_busy("")
        if outcomes is not None:
            self._forget(entry)
            self._report(entry.pending, outcomes)

    def _report(self, pending: PendingDecision, outcomes: Sequence[Outcome]) -> None:
        """Say what was written and what was not, delete drafts that are done with, and look again."""
        bad = [outcome for outcome in outcomes if outcome.error is not None]
        good = [outcome.receipt for outcome in outcomes if outcome.error is None]
        for outcome in bad:
            if outcome.error is not None and not isinstance(outcome.error, TeamError):
                self._screen.report(outcome.error)
        if all(outcome.write.follows for outcome in bad):
            for purpose in pending.purposes:
                self._screen.drafts.keep(purpose, {})
            self._screen.show_pending()
        if good and pending.done:
            done = pending.done.replace("{n}", counted(len(good), pending.noun))
            done += "".join(outcome.write.adds for outcome in outcomes if outcome.error is None)
            receipts = () if pending.verb == DONE else (receipt for receipt in good if receipt is not None)
            self._screen.toast(receipt_words(done, *receipts))
        if bad:
            self._screen.lists.expect_no_leaving()
            self._screen.toast(_refusal_words(bad), severity="error")
        self._screen.look()
        if pending.begins is not None:
            pending.begins()

    def _forget(self, entry: ScheduledDecision) -> None:
        """Let go of a decision that was written, refused or taken back, with its note, and show that."""
        if entry.timer is not None:
            entry.timer.stop()
        self._screen.drafts.keep(entry.note, {})
        with suppress(ValueError):
            self._waiting.remove(entry)
        self._screen.show_pending()

    # Decisions of a console that was killed before it could write them.

    def report_unsaved(self) -> None:
        """Report decisions of a killed console that the audit trail does not have."""
        drafts = self._screen.drafts
        kept = {name: drafts.get(name) for name in drafts.purposes(NOTE_PREFIX)}
        notes = {name: note for name, note in kept.items() if not is_of_another_console(name, note)}
        if notes:
            start_worker(self._screen.app, self._report_unsaved, notes, group="unsaved")

    async def _report_unsaved(self, notes: Mapping[str, Draft]) -> None:
        """Say which decisions of notes were never written, and throw the notes away."""
        screen = self._screen
        try:
            left = await asyncio.to_thread(unwritten_words, notes.values(), screen.caller.team, screen.caller.actor)
        except (TeamError, OSError):
            return  # the audit trail cannot be read now; the notes wait for the next start
        for name in notes:
            screen.drafts.keep(name, {})
        if left:
            listed = "\n".join(f"· {safe_line(text, 200)}" for text in left[:_MOST_UNSAVED])
            head = "△ Decided and not written when a console was cut off; decide again:"
            screen.toast(f"{head}\n{listed}", severity="error")


# Writing, one after the other.


def _write(caller: Caller, writes: Sequence[PendingWrite], tell: Progress | None = None) -> list[Outcome]:
    """Perform the writes in order and return their results; after a stop the rest are errors `Stopped`.

    Without `tell` nothing reports progress: the screen is gone or cannot be painted meanwhile.
    """
    silent: Progress = lambda words, give_up: None  # noqa: E731
    outcomes: list[Outcome] = []
    try:
        for write in _one_by_one(writes, "writing", tell or silent):
            outcomes.append(_try_write(caller if tell else replace(caller, tell=silent), write))
            caller = _caller_after(outcomes[-1:], caller)
    except Stopped as error:
        outcomes += [Outcome(write, error=error) for write in writes[len(outcomes) :]]
    return outcomes


def _refused_by_dry_run(caller: Caller, writes: Iterable[PendingWrite]) -> list[Outcome]:
    """Return the writes that a dry run refuses, each with the error."""
    refused = []
    for write in writes:
        try:
            dry_run(caller, write.do)
        except TeamError as error:
            refused.append(Outcome(write, error=error))
    return refused


def _caller_after(outcomes: Iterable[Outcome], caller: Caller) -> Caller:
    """Return who writes next: behind a lock that was waited for in vain no write waits for it again as long.

    A hundred decisions would wait for minutes, and those of a console that is left longer than it has.
    """
    errors = [outcome.error for outcome in outcomes]
    # guard: one-wait-for-a-lock
    is_locked = any(isinstance(error, TeamError) and error.code is Code.STORE_LOCKED for error in errors)
    return replace(caller, wait=min(caller.wait, _SHORT_WAIT)) if is_locked else caller


def _one_by_one(writes: Sequence[PendingWrite], what: str, tell: Progress) -> Iterator[PendingWrite]:
    """Yield the writes one after the other, and report progress every `_PACE` seconds with a function that stops it.

    Raises:
        Stopped: That function was called.
    """
    stopped, due = Event(), monotonic() + _PACE
    for number, write in enumerate(writes):
        if stopped.is_set():
            raise Stopped(f"stopped after {what} {number:,} of {len(writes):,}")
        if number and monotonic() >= due:
            tell(f"{what} {number:,} of {len(writes):,}", stopped.set)
            due = monotonic() + _PACE
        yield write


def _try_write(caller: Caller, write: PendingWrite) -> Outcome:
    try:
        return Outcome(write, write.do(caller))
    except Exception as error:
        return Outcome(write, error=error)


def _refusal_words(outcomes: Sequence[Outcome]) -> str:
    lines = [f"✗ Not written: {counted(len(outcomes), 'decision')}. Your words are kept; look, then decide again."]
    for each in outcomes[:_MOST_NAMED]:
        why = error_text(each.error).removeprefix("✗ ") if each.error is not None else ""
        lines.append(f"{safe_line(each.write.words, 120)}: {why}")
    if len(outcomes) > _MOST_NAMED:
        lines.append(f"and {len(outcomes) - _MOST_NAMED} more")
    return "\n".join(lines)


# A dry run: whether a decision could be written now.


class _DryRunEndError(Exception):
    """Ends a dry run before its first transaction is committed."""


class _DryRunTeam:
    """A team whose transactions are never committed; everything else is the real team."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def __getattr__(self, name: str) -> Any:
        return getattr(self._team, name)

    @contextmanager
    def transaction(self, *, actor: str, action: str, wait: float) -> Iterator[Transaction]:
        with self._team.transaction(actor=actor, action=action, wait=wait) as tx:
            yield tx
            raise _DryRunEndError


def dry_run(caller: Caller, write: Callable[[Caller], object]) -> None:
    """Run `write` up to the commit of its first transaction.

    Effects outside of transactions before that commit are real; write actions of the service have none.

    Raises:
        TeamError: What would refuse the write now.
    """

    def stop(words: str, give_up: Callable[[], None]) -> None:
        raise _DryRunEndError  # only the real write may ask for a key to sign with

    with suppress(_DryRunEndError):
        write(replace(caller, team=cast(Team, _DryRunTeam(caller.team)), tell=stop))


# Notes of what was decided, and what in the audit trail proves that it was written.

NOTE_PREFIX = "unwritten:"
"""Prefix of the names of these notes among the drafts."""
_AUDITED = 20_000
"""Newest lines of the audit trail that are searched for a decision."""
_NAMED = 3
"""Requests that are named in one line."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


AuditProof = tuple[str, str]
"""What a line of the trail says of a write, as `PendingWrite.recorded`: the action, and what it was about."""


def unwritten_words(notes: Iterable[Draft], team: Team, me: str) -> list[str]:
    """Return a line for each note with decisions of `me` that the audit trail does not have.

    A write counts from its line in the trail on, so this holds wherever the process was killed. Call it only after the
    process ended: its last write would be missed.
    """
    written: dict[AuditProof, datetime] = {}  # each with when it was last written
    for line in team.audit(limit=_AUDITED):
        if line.actor == me or line.action == "read":  # by its reader, who need not be `me`
            at = from_text(line.at) or _LONG_AGO
            written |= {proof: max(at, written.get(proof, at)) for proof in _proofs_in(line)}
    left = []
    for note in notes:
        # The same may have been done before: a request can be asked back more than once.
        # guard: only-later-lines-prove-a-write
        since = from_text(note.get("at", "")) or _LONG_AGO
        proofs = {proof: written.get(proof) for proof in _proofs_of(note)}
        missing = [about for (_, about), at in proofs.items() if at is None or at < since]
        named = f": {', '.join(missing)}" if len(missing) <= _NAMED else ""
        if len(missing) == len(proofs):
            left.append(note.get("words", ""))
        elif missing:
            left.append(f"{note.get('verb', '')} {len(missing):,} of {len(proofs):,}{named}")
    return left


def _proofs_in(line: AuditLine) -> Iterator[AuditProof]:
    """Yield what a line of the trail proves."""
    if line.action == "read":
        yield from ((DONE, each) for each in texts_in(line.facts, "ids"))
        return
    for about in ("", text_in(line.facts, "request_id"), names_on_record(texts_in(line.facts, "to"))):
        yield line.action, about


def _proofs_of(note: Draft) -> list[AuditProof]:
    """Return what would prove the writes of a note; 0.5.0 kept the subjects alone.

    An empty list for a note that cannot be read, so that it is told.
    """
    try:
        if "recorded" in note:
            return msgspec.json.decode(note["recorded"], type=list[AuditProof])
        subjects = msgspec.json.decode(note.get("subjects", "[]"), type=list[str])
    except msgspec.MsgspecError:
        return []
    return [(note.get("verb", ""), subject) for subject in subjects]


def names_on_record(names: Iterable[str]) -> str:
    """Return recipients as `PendingWrite.recorded` names them."""
    return ", ".join(sorted(names))


def is_of_another_console(name: str, note: Draft) -> bool:
    """Return whether another console that still runs wrote a note, whose name has its process; this one has left none
    yet.
    """
    process = name.removeprefix(NOTE_PREFIX).partition(":")[0]
    if process == str(os.getpid()):
        return False
    if not process.isdecimal():
        return True
    begin = started_at(int(process))
    # guard: note-of-a-process-that-is-gone
    is_same = not begin or note.get("process_begin", begin) == begin
    return is_same and is_alive(int(process))
