"""A line of the audit trail, and the seal that a team with a key closes it by."""

from __future__ import annotations

import hashlib
import hmac
import re
from enum import StrEnum

from msgspec import Struct
from team_console.store.model.message import Fields

_SEAL_PURPOSE = b"team-console audit line\n"
"""What the key is used for here, so that no seal can be taken for the signature of a message."""
_SEAL_FORM = r"(?P<key>[0-9a-f]{8})-[0-9a-f]{64}"


class LineSeal(StrEnum):
    """What the seal of an audit line tells."""

    UNKNOWN = ""
    """The team has no key, or none that can be read here."""
    SEALED = "sealed"
    UNSEALED = "unsealed"
    """There is no seal, or one of another key."""
    BROKEN = "broken"
    """The seal does not fit: the line was changed after it was written."""


def seal(key: bytes, line: bytes) -> str:
    """Return the seal of an audit line: eight hexadecimal digits that name the key, and 64 of HMAC-SHA256."""
    return f"{key_name(key)}-{hmac.new(key, _SEAL_PURPOSE + line, hashlib.sha256).hexdigest()}"


def key_name(key: bytes) -> str:
    """Return a name that tells the key from others without revealing it."""
    return hashlib.sha256(_SEAL_PURPOSE + key).hexdigest()[:8]


def judge_seal(key: bytes, line: bytes, found: object) -> LineSeal:
    """Return the state of `found`, the seal on an audit line."""
    if not key:
        return LineSeal.UNKNOWN
    match = re.fullmatch(_SEAL_FORM, found) if isinstance(found, str) else None
    if match is None or match["key"] != key_name(key):
        return LineSeal.UNSEALED
    return LineSeal.SEALED if hmac.compare_digest(match.string, seal(key, line)) else LineSeal.BROKEN


class AuditLine(Struct, frozen=True):
    """One write action on record.

    Attributes:
        seq: Position in the chain, from 1.
        at: Timestamp text.
        actor: Who acted.
        action: The verb, such as `send` or `approve`.
        facts: Ids, old and new states, results.
        intact: Whether the hash chain, and the seals of a team with a key, hold up to and including this line.
        seal: What the seal of this line tells.
    """

    seq: int
    at: str
    actor: str
    action: str
    facts: Fields
    intact: bool = True
    seal: LineSeal = LineSeal.UNKNOWN
