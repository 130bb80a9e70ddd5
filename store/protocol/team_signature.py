"""Signatures: HMAC-SHA256 with the team's key over what a message says, not over where it is on its way."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from team_console.store.model.message import Message, from_record

_SCHEME = "hmac-sha256:"


class Seal(StrEnum):
    """What the signature of a record tells."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"
    """There is no signature, or no key to check one with."""
    BROKEN = "broken"
    """There is a signature and it does not fit: the record was changed, or signed with another key."""


def canonical(record: Mapping[str, Any]) -> bytes:
    """The bytes a signature covers: id, type, sender, recipients, priority, creation time, group and payload.

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
        "to": list(message.recipients),
        "priority": message.priority,
        "created": message.created,
        "broadcast_id": message.broadcast_id,
        "payload": plain(message.payload),
    }
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode("ascii")


def sign(record: Mapping[str, Any], key: bytes) -> str:
    """The signature of `record`, `hmac-sha256:` and 64 hexadecimal digits."""
    return _SCHEME + hmac.new(key, canonical(record), hashlib.sha256).hexdigest()


def seal_of(message: Message, key: bytes) -> Seal:
    """Whether `message` is signed with `key` (requirements 109, 110)."""
    signature = message.envelope("signature")
    if not key or signature is None:
        return Seal.UNSIGNED
    expected = sign(message.record, key)
    fits = hmac.compare_digest(str(signature).encode("utf-8", "replace"), expected.encode())
    return Seal.SIGNED if fits else Seal.BROKEN


def plain(value: Any) -> Any:
    """The value in JSON's own types; texts keep their characters, keys become texts."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)
