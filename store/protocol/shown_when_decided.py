"""What was shown to whoever decided on a request, and how a verdict keeps it on record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from team_console.store.model.message import FieldDict, Fields, Message, per_message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.foreign_fields import text_in, texts_in

REQUEST_DIGEST, SHOWN, EVIDENCE, SHOWN_BY = "request_sha256", "shown_sha256", "evidence", "shown_by"
"""Fields of a verdict and of its line in the audit trail: the digest of the question as it stood when it was decided,
the digest of all that was shown, the evidence that was shown, one line a piece, and what showed it (`Face`)."""
_MOST_PIECES = 40
_LONGEST_PIECE = 240
"""Pieces of evidence that a verdict names at most, and characters of each."""


class Face(StrEnum):
    """What showed a request to whoever decided on it, and how much of it, in words that the record keeps."""

    CONSOLE = "the console: the request, and beside it what is named as evidence"
    TITLE = "the console: its title in a list of several, not its text"
    PRINTED = "team-console show: the request, no evidence"
    HANDED = "a program, which had the request in hand"
    NAMED = "nothing: it was named by its id"


class Seen(Struct, frozen=True):
    """What was shown when a request was decided.

    Attributes:
        question: `digest_of` the question; empty where none was shown.
        before: Request id and `digest_of` the message, for each message of another request that was shown beside it:
            the former version it was compared with, and the words of its refusal.
        evidence: What was shown beside it, one line a piece.
        sha256: Digest of all of it, the lines of each piece of evidence included; empty where nothing was shown.
        face: What showed it.
        painted: The lines of it that were on the screen; empty where nobody counted them.
        hides_evidence: Whether the evidence did not stand on the screen as a whole, so that none is claimed.
        is_whole: Whether each line of what is asked was on the screen.
    """

    question: str = ""
    before: tuple[tuple[str, str], ...] = ()
    evidence: tuple[str, ...] = ()
    sha256: str = ""
    face: Face = Face.CONSOLE
    painted: str = ""
    hides_evidence: bool = False
    is_whole: bool = False

    @property
    def as_recorded(self) -> FieldDict:
        """The fields that the verdict keeps beside the digest of its question; small, whatever was shown.

        Evidence that did not stand on the screen as a whole is not named; the digest holds it all the same, since it
        is that of the page that was open.
        """
        if not self.sha256:
            return {SHOWN_BY: str(self.face)}
        shown = () if self.hides_evidence else self.evidence
        lines = [safe_line(line, _LONGEST_PIECE) for line in shown[:_MOST_PIECES]]
        left = len(shown) - len(lines)
        kept = [*lines, *([f"{left} more were shown"] if left else [])]
        return {
            SHOWN: self.sha256,
            EVIDENCE: kept,
            SHOWN_BY: f"the console: {self.painted}" if self.painted else str(self.face),
        }


@per_message
def digest_of(message: Message) -> str:
    """Return the SHA-256 of what a message says, in 64 hexadecimal digits; its way to the reader changes nothing.

    Remembered with each message, which never changes: a screen asks often, and for a long one the time can be felt.
    """
    said = [message.message_id, message.type, message.sender, list(message.recipients), dict(message.payload)]
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def given_on(answer: Message) -> str:
    """Return `digest_of` the question that an answer was given on, as it says itself; empty where it does not."""
    return text_in(answer.payload, REQUEST_DIGEST)


def seen_of(
    question: Message,
    *,
    before: Iterable[tuple[str, Message]] = (),
    evidence: Iterable[str] = (),
    face: Face = Face.CONSOLE,
) -> Seen:
    """Return what is shown of a request with everything beside it.

    Args:
        before: Request id and message, for each message of another request that is shown beside it.
        evidence: The pieces as they are shown; the first line of each is kept with the verdict.
    """
    others = tuple((request_id, digest_of(message)) for request_id, message in before)
    pieces = tuple(evidence)
    # guard: evidence-in-digest
    whole = json.dumps([digest_of(question), others, pieces])
    heads = tuple(piece.partition("\n")[0] for piece in pieces)
    return Seen(digest_of(question), others, heads, hashlib.sha256(whole.encode()).hexdigest(), face)


def seen_of_words(words: str) -> Seen:
    """Return what is shown when a human decides on words that no request has, such as the scope of a grant."""
    digest = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()
    return Seen(digest, sha256=digest)


def shown_in(fields: Fields) -> FieldDict:
    """Return what a verdict, or its audit line, records of what was shown; empty where it records nothing."""
    return {SHOWN: text_in(fields, SHOWN), EVIDENCE: texts_in(fields, EVIDENCE), SHOWN_BY: text_in(fields, SHOWN_BY)}
