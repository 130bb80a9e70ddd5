"""What a human saw of a request when deciding on it: its digests, and the evidence that stood beside it.

A verdict keeps them under `SHOWN` and `EVIDENCE`, so that the ledger of decisions can say on what it was given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line

REQUEST, SHOWN, EVIDENCE = "request_sha256", "shown_sha256", "evidence"
"""Fields of a verdict and of its line in the audit trail: the digest of the question as it stood when it was decided,
the digest of all that was shown, and the evidence that was shown, one line a piece."""
_MOST_PIECES = 40
_LONGEST_PIECE = 240
_SHORT = 16


class Seen(Struct, frozen=True):
    """What stood on the screen when a request was decided.

    Attributes:
        question: `fingerprint` of the question.
        before: Request id and `digest_of` the message, for each message of another request that was shown beside it:
            the former version it was compared with, and the words of its refusal.
        evidence: What was shown beside it, one line a piece.
        sha256: Digest of all of it, the lines of each piece of evidence included.
    """

    question: str
    before: tuple[tuple[str, str], ...] = ()
    evidence: tuple[str, ...] = ()
    sha256: str = ""

    @property
    def as_recorded(self) -> dict[str, Any]:
        """The fields that the verdict keeps; small, whatever was shown."""
        if not self.sha256:
            return {}
        lines = [safe_line(line, _LONGEST_PIECE) for line in self.evidence[:_MOST_PIECES]]
        left = len(self.evidence) - len(lines)
        return {SHOWN: self.sha256, EVIDENCE: [*lines, *([f"{left} more were shown"] if left else [])]}


def digest_of(message: Message) -> str:
    """SHA-256 of what a message says, in 64 hexadecimal digits; its way to the reader changes nothing."""
    said = [message.message_id, message.type, message.sender, list(message.recipients), dict(message.payload)]
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def fingerprint(message: Message) -> str:
    """Names what a human saw of a request, so that an answer to something else can be refused."""
    return digest_of(message)[:_SHORT]


def seen_of(question: Message, *, before: Iterable[tuple[str, Message]] = (), evidence: Iterable[str] = ()) -> Seen:
    """What is shown of a request, with everything beside it.

    Args:
        before: Request id and message, for each message of another request that is shown beside it.
        evidence: The pieces as they are shown; the first line of each is kept with the verdict.
    """
    others = tuple((request_id, digest_of(message)) for request_id, message in before)
    pieces = tuple(evidence)
    whole = json.dumps([digest_of(question), others, pieces])
    heads = tuple(piece.partition("\n")[0] for piece in pieces)
    return Seen(fingerprint(question), others, heads, hashlib.sha256(whole.encode()).hexdigest())


def shown_in(fields: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Digest and evidence that a verdict, or its line in the audit trail, keeps; empty where it keeps none."""
    digest, lines = fields.get(SHOWN), fields.get(EVIDENCE)
    known = tuple(line for line in lines if isinstance(line, str)) if isinstance(lines, (list, tuple)) else ()
    return digest if isinstance(digest, str) else "", known
