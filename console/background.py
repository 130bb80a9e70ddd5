"""Background work of the console: writes and reads in threads; what became of them is said when the store has it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from time import monotonic
from typing import Any, Protocol, TypeVar, cast

from msgspec.structs import replace
from team_console.console.drafts import Draft, Drafts
from team_console.console.evidence import Wish
from team_console.console.modes.pane import AttachmentCache, Gathered, gathered
from team_console.console.selection import DONE
from team_console.console.words import error_text
from team_console.store.attachments import attachment_of
from team_console.store.contract.team import AuditLine, Team
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.parsing import mapping
from team_console.store.service.caller import Caller
from team_console.store.views.evidence import NOT_FOUND_OUT
from team_console.store.views.rows import RequestRow, RequestState, View
from textual.app import App


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
    team = cast(Team, _RehearsalTeam(caller.team))
    try:
        act(replace(caller, team=team, tell=_stop))
    except _RehearsedError:
        return


def _stop(words: str, give_up: Callable[[], None]) -> None:
    """A human's key is asked for only by the write itself."""
    raise _RehearsedError


# Notes of decisions that outlive the process, and what of them was not written when a console was cut off.

KEPT = "unwritten:"
"""What the names of notes begin with that outlive the process, so that a decision a crash cut off is told of."""
_AUDITED = 20_000
"""Lines of the audit trail, newest first, in which a decision is looked for."""
_TOLD, _NAMED = 6, 3
"""Sentences that are told, and requests that one of them names."""


def note_of(verb: str, words: str, subjects: Iterable[str]) -> Draft:
    """What is kept of a decision from the moment on at which it waits to be written."""
    return {"words": words, "verb": verb, "subjects": json.dumps(list(subjects))}


def notes_left_behind(drafts: Drafts) -> Mapping[str, Draft]:
    """The notes of consoles that have ended, by name: nobody writes any more what they tell of."""
    names = drafts.purposes(KEPT)
    return {name: drafts.get(name) for name in names if not _is_running(name.removeprefix(KEPT).partition(":")[0])}


def not_written(notes: Iterable[Draft], team: Team, me: str) -> list[str]:
    """What of each note is not on the audit trail as written by `me`, in a few words; a note that is all there, is not.

    The trail is where a write begins to count, so this is true whenever the process ended. Read it only once that
    has: what it wrote last would be missed.
    """
    done = _on_record(team.audit(limit=_AUDITED), me)
    told = (_words_left(note, done) for note in notes)
    return [words for words in told if words]


def left_behind_words(decided: Sequence[str]) -> str:
    """The sentence that tells of them, as safe text."""
    listed = "\n".join(f"· {safe_line(text, 200)}" for text in decided[:_TOLD])
    return f"△ Decided and not written when a console was cut off; decide again:\n{listed}"


def _on_record(lines: Iterable[AuditLine], me: str) -> frozenset[tuple[str, str]]:
    """Verb and id of what was decided on; a message is read by its reader, who need not be `me`."""
    done: set[tuple[str, str]] = set()
    for line in lines:
        if line.action == "read":
            done.update((DONE, message_id) for message_id in line.facts.get("ids", ()) if isinstance(message_id, str))
        elif line.actor == me and isinstance(request_id := line.facts.get("request_id"), str):
            done.add((line.action, request_id))
    return frozenset(done)


def _words_left(note: Draft, done: frozenset[tuple[str, str]]) -> str:
    subjects, words, verb = _subjects_of(note), note.get("words", ""), note.get("verb", "")
    left = [subject for subject in subjects if (verb, subject) not in done]
    if len(left) == len(subjects):
        return words
    named = f": {', '.join(left)}" if len(left) <= _NAMED else ""
    return f"{verb} {len(left):,} of {len(subjects):,}{named}" if left else ""


def _subjects_of(note: Draft) -> list[str]:
    try:
        subjects = json.loads(note.get("subjects", "[]"))
    except ValueError:
        return []
    return [subject for subject in subjects if isinstance(subject, str)] if isinstance(subjects, list) else []


def _is_running(process: str) -> bool:
    if not process.isdecimal():
        return True
    if int(process) == os.getpid():
        return False  # a number used again: what this process decides has not been written down yet
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


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


class Host(Protocol):
    """What background work, and decisions that are not written yet, need of the screen they are for.

    Attributes:
        drafts: What was typed and not handed in.
        look: Has the store looked at again.
        report: Takes an exception nobody expected; it says so and keeps it in the log.
    """

    caller: Caller
    drafts: Drafts
    shelf: AttachmentCache
    look: Callable[[], None]
    report: Callable[[BaseException], None]

    @property
    def app(self) -> App[Any]:
        """The running application."""

    @property
    def view(self) -> View | None:
        """What is shown."""

    def toast(self, text: str, *, severity: str = "information") -> None:
        """Say something for a few seconds; it is shown as text whatever it holds."""

    def set_busy(self, words: str) -> None:
        """Say in the status line what is going on; empty for nothing."""

    def show_again(self) -> None:
        """Show the same situation anew, because more is known of it."""

    def show_unwritten(self) -> None:
        """Show what is not written yet, and for how long."""

    def stay(self) -> None:
        """What was decided is not written, so its rows stay."""

    def seek(self, subject: str) -> None:
        """Put the cursor on what was taken back."""


class Background:
    """Work for one screen, one write at a time.

    Attributes:
        opens_form: A look is under way after which a form opens: keys wait for it.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._busy = self.opens_form = False
        self._fetched: set[str] = set()
        self._fetching = 0
        self._missed: dict[str, float] = {}
        self._stopping = ""
        self._gathering: set[str] = set()

    def run(
        self,
        work: Callable[[], ResultT],
        told: Callable[[ResultT], str] | None,
        *,
        then: Callable[[ResultT], None] | None = None,
    ) -> None:
        """Do `work` in a thread, then look at the store again.

        Args:
            told: Makes the toast of the result.
            then: Goes on with the result, on the screen.
        """
        if self._may_begin():
            self.opens_form = then is not None
            self._host.app.run_worker(self._run(work, told, then), group="act", exit_on_error=False)

    def stop_in_turn(self, names: tuple[str, ...], reason: str | None) -> None:
        """Ask agents to stop; each answers, or keeps silent too long, before the next is asked."""
        if self._stopping:
            self._host.toast("The team is being asked to stop already.", severity="warning")
            return
        self._say_stopping("stopping")
        self._host.app.run_worker(self._stop_in_turn(names, reason), group=_STOPPING, exit_on_error=False)

    def cancel_stopping(self) -> None:
        """Ask nobody else to stop."""
        self._host.app.workers.cancel_group(self._host.app, _STOPPING)

    def fetch(self, message: Message) -> None:
        """Read the content of `message` that is stored beside the queue, once; after a failure again."""
        place = attachment_of(message)
        if place is not None and place not in self._fetched and monotonic() >= self._missed.get(place, 0.0):
            self._fetched.add(place)
            self._fetching += 1
            self._host.app.run_worker(self._fetch(message, place), group="fetch", exit_on_error=False)

    def tell_left_behind(self) -> None:
        """Say what was decided in a console that ended before it could write it."""
        if notes := notes_left_behind(self._host.drafts):
            self._host.app.run_worker(self._tell_left_behind(notes), group="left behind", exit_on_error=False)

    async def _tell_left_behind(self, notes: Mapping[str, Draft]) -> None:
        host = self._host
        try:
            left = await asyncio.to_thread(not_written, notes.values(), host.caller.team, host.caller.actor)
        except (TeamError, OSError):
            return  # what is on record cannot be read now; the notes wait for the next start
        for name in notes:
            host.drafts.keep(name, {})
        if left:
            host.toast(left_behind_words(left), severity="error")

    def gather(self, wish: Wish) -> None:
        """Look for the evidence beside a request or report, one look at a time for each."""
        if wish.key not in self._gathering:
            self._gathering.add(wish.key)
            self._host.app.run_worker(self._gather(wish), group="evidence", exit_on_error=False)

    async def _gather(self, wish: Wish) -> None:
        shelf = self._host.shelf
        known = shelf.evidence.get(wish.key)
        try:
            found = await asyncio.to_thread(_looked_for, shelf.team, wish, known)
        except Exception as error:
            self._host.report(error)
            found = gathered(wish, NOT_FOUND_OUT)
        finally:
            self._gathering.discard(wish.key)
        known = shelf.evidence.get(wish.key)
        is_new = not isinstance(known, Gathered) or known.seen != found.seen or not known.wish.is_for_the_same(wish)
        kept = found if is_new or not isinstance(known, Gathered) else replace(known, at=found.at)
        shelf.evidence.pop(wish.key, None)
        shelf.evidence[wish.key] = kept
        if len(shelf.evidence) > _MOST_EVIDENCE:
            del shelf.evidence[next(iter(shelf.evidence))]
        if is_new:
            self._host.show_again()

    def _may_begin(self) -> bool:
        if self._busy:
            self._host.toast("The former action is still being written.", severity="warning")
            return False
        self._busy = True
        self._show_busy()
        return True

    def _end(self) -> None:
        self._busy = False
        self._show_busy()
        self._host.look()

    def _say_stopping(self, words: str) -> None:
        """How far the asking is; empty once it is over. It takes minutes, in which other things are done."""
        self._stopping = words
        self._show_busy()

    def _show_busy(self) -> None:
        self._host.set_busy("writing" if self._busy else self._stopping)

    async def _run(
        self,
        work: Callable[[], ResultT],
        told: Callable[[ResultT], str] | None,
        then: Callable[[ResultT], None] | None,
    ) -> None:
        try:
            try:
                result = await asyncio.to_thread(work)
            except Exception as error:
                self._failed(error)
                return
            finally:
                self._end()
            if told is not None:
                self._host.toast(told(result))
            if then is not None:
                then(result)
        finally:
            self.opens_form = False

    def _failed(self, error: Exception) -> None:
        """Say why it was not done; what nobody expected goes to the log, its words may hold what was to be written."""
        if not isinstance(error, TeamError):
            self._host.report(error)
        self._host.toast(error_text(error), severity="error")

    async def _fetch(self, message: Message, place: str) -> None:
        """What is asked for together, such as a plan and the version before it, is shown together."""
        try:
            await self._fetch_content(message, place)
        finally:
            self._fetching -= 1
        if not self._fetching:
            self._host.show_again()

    async def _fetch_content(self, message: Message, place: str) -> None:
        """A content that is not what the message's own digest says is shown as such, never as the content."""
        host = self._host
        try:
            data = await asyncio.to_thread(host.shelf.team.attachment, place)
        except Exception as error:
            if place not in self._missed:  # said once, however often it is tried
                self._failed(error)
            # Nobody can decide on half a text, so a server that was away for a moment must not leave it at that.
            self._missed[place] = monotonic() + _FETCH_AGAIN
            self._fetched.discard(place)
            return
        self._missed.pop(place, None)
        digest = mapping(message.payload, "attachment").get("sha256")
        if digest is not None and sha256(data).hexdigest() != digest:
            host.toast(f"✗ {safe_line(place, 120)} is not what the message says it is", severity="error")
            return
        host.shelf.contents[place] = data.decode("utf-8", errors="replace")
        self._forget_contents()

    def _forget_contents(self) -> None:
        """Let go of those read first where they are too much; what is looked at again is read again."""
        contents = self._host.shelf.contents
        total = sum(map(len, contents.values()))
        while total > _MOST_CONTENTS and len(contents) > _FEWEST_CONTENTS:
            first = next(iter(contents))
            total -= len(contents.pop(first))
            self._fetched.discard(first)

    async def _stop_in_turn(self, names: tuple[str, ...], reason: str | None) -> None:
        agreed = 0
        try:
            for number, name in enumerate(names, start=1):
                self._say_stopping(f"stopping {number} of {len(names)}: {safe_line(name, 40)}")
                try:
                    agreed += await self._stop(name, reason)
                except Exception as error:
                    self._failed(error)
                    if not isinstance(error, TeamError) or error.code is not Code.AGENT_NOT_FOUND:
                        return
        except asyncio.CancelledError:
            self._host.toast("Nobody else is asked to stop.", severity="warning")
            raise
        finally:
            self._say_stopping("")
            self._host.look()
        self._host.toast(f"{agreed} of {len(names)} agreed to stop")

    async def _stop(self, name: str, reason: str | None) -> bool:
        """Ask one agent to stop; whether it agreed in time."""
        from team_console.store.service.requests import request_shutdown  # only asking to stop needs it

        host = self._host
        receipt = await asyncio.to_thread(request_shutdown, host.caller, agent=name, reason=reason)
        host.look()
        row = await self._answered(receipt.request_id)
        if row is not None and row.state is RequestState.REJECTED:
            host.toast(f"⊘ {safe_line(name, 64)} will not stop: {safe_line(row.reason, 200)}", severity="warning")
        return row is not None and row.state is RequestState.APPROVED

    async def _answered(self, request_id: str | None) -> RequestRow | None:
        """The request once it is answered; None when nobody answered in time."""
        view = self._host.view
        patience = view.snapshot.config.overdue_seconds.get("shutdown", 15.0) if view else 15.0
        deadline = monotonic() + patience
        while monotonic() < deadline:
            view = self._host.view
            rows = view.requests if view else ()
            row = next((row for row in rows if row.request_id == request_id), None)
            if row is not None and not row.is_open:
                return row
            await asyncio.sleep(0.1)
        return None


def _looked_for(team: Team, wish: Wish, known: object) -> Gathered:
    """In a thread: the evidence there is now, made ready to be shown."""
    from team_console.console.evidence import gather  # the first picture does not wait for it

    return gathered(wish, gather(team, wish), known)
