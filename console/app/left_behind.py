"""Notes of decisions that outlive the process, and what of them was not written when a console was cut off."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence

from team_console.console.app.drafts import Draft, Drafts
from team_console.console.input.subject import DONE
from team_console.store.contract.team import AuditLine, Team
from team_console.store.model.safe import safe_line

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
