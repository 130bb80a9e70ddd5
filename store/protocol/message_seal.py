"""The team's key over every message: sign a record with HMAC-SHA256, and tell whether its signature fits.

A signature covers what a message says, not where it is on its way.
"""

from __future__ import annotations

import hashlib
import hmac
from enum import StrEnum

from team_console.store.model.json_text import canonical_json
from team_console.store.model.message import Fields, Message, from_record

_SCHEME = "hmac-sha256:"


class Seal(StrEnum):
    """What the signature of a record tells."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"
    """There is no signature, or no key to check one with."""
    BROKEN = "broken"
    """There is a signature and it does not fit: the record was changed, or signed with another key."""


def signed_bytes(record: Fields) -> bytes:
    """Return the bytes a signature covers: id, type, sender, recipients, priority, creation time, group and payload.

    Built from the understood message, so that another backend's spelling of the same message has the same bytes.
    Status, reading, attempts and the like change in transit and are left out.

    Raises:
        ValueError: The record is not a message.
    """
    message = from_record(record)
    said = {
        "message_id": message.message_id,
        "type": message.type,
        "from": message.sender,
        "to": message.recipients,
        "priority": message.priority,
        "created": message.created,
        "broadcast_id": message.broadcast_id,
        "payload": message.payload,
    }
    return canonical_json(said).encode("ascii")


def sign(record: Fields, key: bytes) -> str:
    """Return the signature of `record`, `hmac-sha256:` and 64 hexadecimal digits."""
    return _SCHEME + hmac.new(key, signed_bytes(record), hashlib.sha256).hexdigest()


def message_seal(message: Message, key: bytes) -> Seal:
    """Return whether `message` is signed with `key` (requirements 109, 110)."""
    signature = message.envelope("signature")
    if not key or signature is None:
        return Seal.UNSIGNED
    expected = sign(message.record, key)
    fits = hmac.compare_digest(str(signature).encode("utf-8", "replace"), expected.encode())
    return Seal.SIGNED if fits else Seal.BROKEN
