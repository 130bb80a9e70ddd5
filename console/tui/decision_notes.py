"""Notes of pending decisions that outlive the process, and which of them were never written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec
from team_console.console.clients.client_process import is_alive, started_at
from team_console.console.selection import DONE
from team_console.console.tui.drafts import Draft
from team_console.store.contract.team import AuditLine, Team
from team_console.store.model.clock import from_text
from team_console.store.protocol.foreign_fields import text_in, texts_in

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
    """Return whether another console that still runs wrote a note; this one has left none yet."""
    process = name.removeprefix(NOTE_PREFIX).partition(":")[0]
    if process == str(os.getpid()):
        return False
    if not process.isdecimal():
        return True
    begin = started_at(int(process))
    # guard: note-of-a-process-that-is-gone
    is_same = not begin or note.get("process_begin", begin) == begin
    return is_same and is_alive(int(process))
