"""Maintenance: old messages are cleared, a team is repaired on demand, and many messages are written in pieces."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec import Struct
from team_console.store.contract.snapshot import Snapshot, TeamState
from team_console.store.contract.transaction import RefusedRowsError, Transaction
from team_console.store.model.clock import days_before
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import FieldDict, Message, Status, ids_of, with_recorded_words
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.model.safe import counted
from team_console.store.protocol.trail_facts import is_answer
from team_console.store.service.caller import Caller
from team_console.store.service.compaction import still_needed
from team_console.store.service.deliveries import archive_and_remove
from team_console.store.service.writing import leave_as_is

DEFAULT_DAYS = 7.0
_FINISHED = frozenset(
    {str(item) for item in (Status.DELIVERED, Status.READ, Status.FAILED, Status.EXPIRED, Status.RECALLED)}
)
_ENDED_AT: Mapping[str, tuple[str, ...]] = {
    Status.READ: ("read_at", "delivered_at"),
    Status.DELIVERED: ("delivered_at",),
    Status.RECALLED: ("recalled_at",),
    Status.FAILED: ("ended_at",),
}
"""Status -> what tells when the message came to it, best first; an expired one has had its time by its age."""


class ClearResult(Struct, frozen=True):
    """What left the queue.

    Attributes:
        statuses: Status -> number of messages.
        kept: Old messages that stay, because an open request or the roster rests on them.
        archives: Archived messages that were deleted for good.
        refused: Id of each old message that the table does not let go -> why.
        freed_mb: Megabytes that hold nothing any more; what leaves the queue for the archives frees none.
    """

    statuses: Mapping[str, int] = {}
    kept: int = 0
    archives: int = 0
    refused: Mapping[str, str] = {}
    freed_mb: float = 0.0

    @property
    def refused_json(self) -> FieldDict:
        """Return the refused messages as JSON, counted and named; nothing where there are none."""
        rows = [{"message_id": message_id, "reason": why} for message_id, why in self.refused.items()]
        return {"messages_refused": len(rows), "refused": rows} if rows else {}

    @property
    def deleted(self) -> int:
        """The number of messages that left the queue."""
        return sum(self.statuses.values())


def clear(
    caller: Caller,
    *,
    older_than_days: float = DEFAULT_DAYS,
    delete_archived: bool = False,
    recipient: str | None = None,
) -> ClearResult:
    """Archive and remove what ended more than `older_than_days` ago; what still waits is never touched.

    Failed messages are put on the audit trail with their errors before they go.

    Args:
        delete_archived: Also delete archived messages older than the team's `delete_archived_after_days`.
        recipient: Only messages to this agent.

    Raises:
        TeamError: `INVALID_FIELD` for a negative age, `NOT_PERMITTED` when this team keeps its archives.
    """
    used = caller.team.used_bytes()
    old = _ended_before(caller.team.whole().require_known(), older_than_days, recipient)
    ids, refused = ids_of(old), RefusedRows()
    cleared: list[Message] = []
    kept = 0

    def write(tx: Transaction, piece: Sequence[Message]) -> tuple[list[Message], int]:
        """Return those that left, and how many of the others stay because something rests on them."""
        live = [message for message in tx.current_of(piece) if message.message_id not in refused.rows]
        gone, bound = _split_by_need(tx, live, leaving=ids)
        for message_id in refused.rows.keys() & {message.message_id for message in piece}:
            if (stays := tx.get(message_id)) is not None:
                leave_as_is(tx, stays, refused.rows[message_id])
        if gone:
            tx.record(
                "clear",
                ids=ids_of(gone),
                older_than_days=older_than_days,
                statuses=dict(Counter(message.status for message in gone)),
                failed=_failed_for_audit(gone),
            )
        for message in gone:
            archive_and_remove(tx, message)
        return gone, bound

    try:
        for gone, bound in write_in_pieces(caller, "clear", old, write, refused):
            cleared += gone
            kept += bound
    except TeamError as error:
        if not cleared:
            raise
        count = {"messages_deleted": len(cleared)}
        raise error.after(f"{counted(len(cleared), 'message')} left the queue", **count) from error
    statuses = dict(Counter(message.status for message in cleared))
    archives = 0
    if delete_archived:
        before = days_before(caller.team.clock(), caller.team.config().delete_archived_after_days)
        archives = caller.team.delete_archived(before=before, actor=caller.actor, wait=caller.wait)
    freed = round(max(0, used - caller.team.used_bytes()) / 1e6, 1)
    return ClearResult(statuses, kept, archives, dict(refused.rows), freed)


def clearing_forecast(caller: Caller, *, older_than_days: float = DEFAULT_DAYS) -> ClearResult:
    """Return what `clear` would do now, without the lock."""
    snapshot = caller.team.whole().require_known()
    old = _ended_before(snapshot, older_than_days)
    gone, kept = _split_by_need(snapshot, old, leaving=ids_of(old))
    return ClearResult(dict(Counter(message.status for message in gone)), kept)


def _failed_for_audit(gone: Iterable[Message]) -> list[FieldDict]:
    """Return what the audit trail keeps of messages that nobody got."""
    return [
        {
            "message_id": message.message_id,
            "sender": message.sender,
            "recipient": ", ".join(message.recipients),
            "error_message": message.envelope("error_message"),
        }
        for message in gone
        if message.status == Status.FAILED
    ]


def _split_by_need(state: TeamState, old: Sequence[Message], *, leaving: Sequence[str]) -> tuple[list[Message], int]:
    """Return those of the old messages on which nothing rests, and the number of the others."""
    needed = still_needed(state, leaving=leaving) if old else ()
    gone = [message for message in old if message.message_id not in needed]
    return gone, len(old) - len(gone)


def _ended_before(state: TeamState, days: float, recipient: str | None = None) -> list[Message]:
    """Return the messages that ended so long ago."""
    if not 0 <= days < 36_500:
        text = f"older_than_days: {days:g} is not a number of days"
        raise TeamError(Code.INVALID_FIELD, text, "Give 7, for example.")
    limit = days_before(state.now, days)
    return [
        message
        for message in state.everything()
        if message.status in _FINISHED and (end := _ended_at(message)) is not None and end < limit
        if recipient is None or message.is_addressed_to(recipient)
    ]


def _ended_at(message: Message) -> datetime | None:
    """Return when it ended, as far as the record tells; None when it has no readable time at all.

    Where the record does not say it, because another program gave the message up, its creation counts (seed 003).
    """
    moments = map(message.moment, _ENDED_AT.get(message.status, ()))
    return next((moment for moment in moments if moment is not None), message.created_at)


# Repair of a team on demand: what was begun is finished, and no two messages share an id any more (D26).


def heal(caller: Caller) -> tuple[Problem, ...]:
    """Enter the team once, as each write does: what was begun is finished, what others lost is put back.

    So are settings that were in force and are lost.

    Returns:
        What was repaired, ids that several messages shared included.

    Raises:
        TeamError: As for `Team.transaction`.
    """
    restored = caller.team.restore_settings(actor=caller.actor, wait=caller.wait)
    with caller.transaction("heal") as tx:
        tx.read_whole()
        _put_back_answers(tx)
    return (*((restored,) if restored is not None else ()), *tx.notices)


def _put_back_answers(tx: Transaction) -> None:
    """Put back the words of live answers that somebody changed after they were recorded.

    Where several messages share an id, none of them is taken for what another was: nothing would be left of it.
    """
    recorded, changed = tx.recorded or RecordedFacts(), list[str]()
    for message in list(tx.everything()):
        written = recorded.message(message.message_id) if recorded.differs(message) else None
        if written is None or not is_answer(written):
            continue
        tx.replace(message, with_recorded_words(message, written))
        changed.append(message.message_id)
        text = f"message {message.message_id} answers a request and was changed; it says again what is on record"
        hint = "Find out who writes into the team besides team-console."
        tx.notices.append(Problem("HEALED_ANSWER", "warning", message.message_id, text, hint))
    if changed:
        tx.record("heal", changed=changed)


def take_in_drops(caller: Caller, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot once what waits beside the queue was taken in; itself when nothing does.

    One turn takes in so many files that nobody waits long for the lock, so there may be more of them.
    """
    while snapshot.dropped:
        before = len(snapshot.dropped)
        with caller.transaction("heal"):
            pass
        snapshot = caller.team.snapshot()
        if len(snapshot.dropped) >= before:
            break
    return snapshot


# Writing in pieces: many messages are changed so that nobody else waits long for the lock.

MOST_IN_PIECE = 500
"""Messages in one piece, at most."""
_FIRST, _LEAST = 100, 20
"""Messages in the first piece, and in the smallest one."""
_PIECES = 20
"""Pieces at most where each write costs the whole store, so that the time stays linear in what is done."""
_LONGEST = 0.2
"""Seconds that a piece may hold the others up."""
_PAUSE_FOR_OTHERS = 0.11
"""Seconds in which nobody is held up after `_LONGEST` seconds of holding: SQLite's own waiting looks every 0.1 s."""
ResultT = TypeVar("ResultT")


class RefusedRows:
    """What a table refused of a piece, until all of the rest was written.

    Attributes:
        rows: Message id -> why its row stays as it is.
        pushes: Message id -> why its agent's inbox does not take it.
    """

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        self.pushes: dict[str, str] = {}

    def learn(self, error: RefusedRowsError) -> bool:
        """Take what the error says; returns whether trying again without those rows is of use."""
        if not error.certain:
            return False
        known = len(self.rows) + len(self.pushes)
        self.rows.update(error.rows)
        self.pushes.update(error.pushes)
        return len(self.rows) + len(self.pushes) > known


def write_in_pieces(
    caller: Caller,
    action: str,
    messages: Sequence[Message],
    write: Callable[[Transaction, Sequence[Message]], ResultT],
    refused: RefusedRows,
) -> Iterator[ResultT]:
    """Write messages in pieces, with room for others in between; yield what `write` returns of each that was written.

    Args:
        write: Writes a piece of them in a transaction, those in `refused` aside.
    """
    # Where each write costs the whole store, smaller pieces would hold others up as long, and more of them in all.
    least = _LEAST if caller.team.writes_only_changes else max(MOST_IN_PIECE, len(messages) // _PIECES)
    size = max(least, _FIRST)
    start, held = 0, 0.0
    while start < len(messages):
        took = 0.0
        for result, seconds in _write_in_spite_of_rows(caller, action, messages[start : start + size], write, refused):
            yield result
            took = max(took, seconds)
        start += size
        # As many as fit by the time of this piece, with a reserve: the next one may be slower.
        fitting = int(size * _LONGEST * 0.7 / max(took, 0.001))
        size = max(least, min(MOST_IN_PIECE, 2 * size, fitting))
        held += took
        if held >= _LONGEST and start < len(messages):
            time.sleep(_PAUSE_FOR_OTHERS)
            held = 0.0


def _write_in_spite_of_rows(
    caller: Caller,
    action: str,
    piece: Sequence[Message],
    write: Callable[[Transaction, Sequence[Message]], ResultT],
    refused: RefusedRows,
) -> Iterator[tuple[ResultT, float]]:
    """Write a piece; rows that the table refuses are left as they are, and take no others along.

    Yields:
        What `write` returns, and for how many seconds that held others up.
    """
    while True:
        try:
            with caller.transaction(action) as tx:
                begun = time.monotonic()
                result = write(tx, piece)
        except RefusedRowsError as error:
            if error.certain and refused.learn(error):
                continue
            if error.certain or len(piece) == 1:
                raise
            break
        yield result, time.monotonic() - begun
        return
    # Which of them ended the whole transaction shows when each has its own.
    for message in piece:
        yield from _write_in_spite_of_rows(caller, action, [message], write, refused)
