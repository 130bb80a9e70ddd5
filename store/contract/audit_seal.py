"""Seal of an audit line: a digest that only who has the team's key can make, so that no line can be changed unseen."""

from __future__ import annotations

import hashlib
import hmac
import re
from enum import StrEnum

_PURPOSE = b"team-console audit line\n"
"""What the key is used for here, so that no seal can be taken for the signature of a message."""
_SEAL = re.compile(r"(?P<key>[0-9a-f]{8})-[0-9a-f]{64}").fullmatch


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
    """The seal of an audit line: eight hexadecimal digits that name the key, and 64 of HMAC-SHA256."""
    return f"{key_name(key)}-{hmac.new(key, _PURPOSE + line, hashlib.sha256).hexdigest()}"


def key_name(key: bytes) -> str:
    """What tells one key from another without telling the key."""
    return hashlib.sha256(_PURPOSE + key).hexdigest()[:8]


def judged(key: bytes, line: bytes, found: object) -> LineSeal:
    """What `found`, the seal that stands on an audit line, tells of it."""
    if not key:
        return LineSeal.UNKNOWN
    match = _SEAL(found) if isinstance(found, str) else None
    if match is None or match["key"] != key_name(key):
        return LineSeal.UNSEALED
    return LineSeal.SEALED if hmac.compare_digest(match.string, seal(key, line)) else LineSeal.BROKEN


class SealedFrom:
    """Follows an audit trail line by line: from the first sealed line on, every line has to be sealed."""

    def __init__(self) -> None:
        self._has_begun = False

    def holds(self, line: LineSeal) -> bool:
        """Whether the next line may be as it is."""
        self._has_begun = self._has_begun or line in (LineSeal.SEALED, LineSeal.BROKEN)
        return line is not LineSeal.BROKEN and not (self._has_begun and line is LineSeal.UNSEALED)
