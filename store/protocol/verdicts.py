"""Recognise verdicts, and state them as the text that a human's key signs, rebuilt from the record alone.

Last, verify such signatures against public keys; each is worked out once and remembered by its bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from team_console.store.model.json_text import canonical_json
from team_console.store.model.message import Message, from_record, without
from team_console.store.protocol.kinds import AGENT_DESTROYED, DECIDED_BY_LEAD, SHUTDOWN_REQUEST, UNKNOWN, RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST, SHOWN
from team_console.store.protocol.ssh_signature import SshSignature, read_signature
from team_console.store.settings.public_keys import key_bytes
from team_console.store.settings.team_config import TeamConfig


def is_verdict(config: TeamConfig, message: Message) -> bool:
    """Return whether a message claims by itself to be what a human decided, whoever wrote it.

    An answer to what only the lead decides, a human's yes or no to anything else, and a human's order to stop.
    """
    read = parse_message(message)
    if read.answers in DECIDED_BY_LEAD:
        return True
    is_clear = read.name == SHUTDOWN_REQUEST or read.answers is not None or read.approve is not None
    return is_clear and may_be_verdict(config, message)


def may_be_verdict(config: TeamConfig, message: Message) -> bool:
    """Return whether a message is a verdict, or words of a human under the id of a request: those decide where it is
    an escalation or a clarification, which who has the message alone cannot tell.
    """
    read = parse_message(message)
    if read.answers in DECIDED_BY_LEAD:
        return True
    if read.kind is UNKNOWN or read.kind.withdraws or not config.is_human(message.sender):
        return False
    return read.name == SHUTDOWN_REQUEST or (read.opens is None and read.request_id is not None)


VERSION = 1
"""The version of the statement, which is part of it."""
SIGNATURE = "signature"
"""The field of a verdict's payload that holds its signature."""
_NOT_IN_TERMS = frozenset({SIGNATURE, REQUEST_DIGEST, SHOWN, "request_id", "requestId", "content"})
"""Fields of a payload that are not among the terms of a verdict: its statement has them elsewhere."""


def statement(team_id: str, verdict: Message) -> str:
    """Return the text that is signed of a verdict of the team with this identity."""
    payload = verdict.payload
    digest = payload.get(REQUEST_DIGEST)
    said = {
        "version": VERSION,
        "namespace": VERDICT_NAMESPACE,
        "team": team_id,
        "request_id": parse_message(verdict).request_id,
        REQUEST_DIGEST: digest,
        SHOWN: payload.get(SHOWN, digest),
        "message_id": verdict.message_id,
        "type": verdict.type,
        "to": verdict.recipients,
        "time": verdict.created,
        "signer": verdict.sender,
        "verdict": word_of(verdict),
        "words": verdict.content,
        "terms": without(payload, _NOT_IN_TERMS),
    }
    return canonical_json(said)


def word_of(verdict: Message) -> str:
    """Return the decision in one word."""
    read = parse_message(verdict)
    if read.name == SHUTDOWN_REQUEST:
        return "shutdown"
    if read.kind.talks:
        return "askback"
    if read.approve is None or (read.approve and read.answers is RequestKind.QUESTION):
        return "answer"
    return "approve" if read.approve else "reject"


# The order of a human that stands in another message.

SIGNED_ORDER = "ordered"
"""The field of a confirmation of an agent's end that holds the order which the human signed."""


def signed_order_in(message: Message) -> Message | None:
    """Return the signed order that a confirmation of an agent's end rests on: whoever comes by writes the
    confirmation.

    None for every other message, and for an order that does not fit.
    """
    read, record = parse_message(message), message.payload.get(SIGNED_ORDER)
    if read.name != AGENT_DESTROYED or not isinstance(record, Mapping):
        return None
    try:
        order = from_record(record)
    except ValueError:
        return None
    is_meant = order.recipients == (read.subject,) and order.payload.get("in_reply_to") == read.request_id
    return order if is_meant and order.type == SHUTDOWN_REQUEST and order.sender == message.sender else None


# Signatures of humans, verified against their public keys.

VERDICT_NAMESPACE = "verdict@team-console"
"""What the signature of a verdict is made for; never good for anything else."""

_REMEMBERED = 65_536
"""Signatures at most; beyond that all are worked out anew."""
NO_TOOL = "it cannot be verified here: install OpenSSH, or team-console with its extra `signatures`"

_verified_signatures: dict[bytes, str] = {}
"""Digest of text, signature and keys -> what is wrong with it."""


def signature_trouble(text: str, signature: object, keys: Sequence[str], namespace: str = VERDICT_NAMESPACE) -> str:
    """Return why a signature is not valid for `text` under one of these public keys; empty when it is."""
    if not isinstance(signature, str) or not signature:
        return "it is not signed"
    # guard: signature-known-by-all-bytes
    digest = hashlib.sha256("\0".join((text, signature, namespace, *keys)).encode("utf-8", "replace")).digest()
    trouble = _verified_signatures.get(digest)
    if trouble is None:
        trouble = _verify(text, signature, keys, namespace)
        if trouble == NO_TOOL:
            return trouble
        if len(_verified_signatures) >= _REMEMBERED:
            _verified_signatures.clear()
        # guard: signature-verified-once
        _verified_signatures[digest] = trouble
    return trouble


def _verify(text: str, signature: str, keys: Sequence[str], namespace: str) -> str:
    """Return what is wrong with a signature, worked out anew; empty when it is valid."""
    try:
        parts = read_signature(signature)
    except ValueError as error:
        return f"its signature cannot be read: {error}"
    # guard: signature-for-one-purpose
    if parts.namespace != namespace.encode():
        return "its signature was made for another purpose"
    # guard: signature-by-human-key
    if parts.key not in {key_bytes(key) for key in keys}:
        return "it is signed with a key that is not this human's"
    # guard: hardware-key-touched-without-library
    if parts.is_of_hardware and not parts.is_touched:
        return "nobody touched the hardware key that signed it"
    is_good = _fits_text(parts, text, signature)
    if is_good is None:
        return NO_TOOL
    return "" if is_good else "its signature does not fit what it says"


def _fits_text(parts: SshSignature, text: str, signature: str) -> bool | None:
    """Return whether a signature fits a text, by `cryptography`, else by `ssh-keygen`; None where neither is there."""
    try:
        from team_console.store.protocol.ssh_cryptography import is_signed_by_key
    except ImportError:
        from team_console.store.protocol.ssh_keygen import verify  # 10 ms: subprocess and tempfile

        return verify(text, signature, parts.key, parts.namespace.decode())
    return is_signed_by_key(parts, text.encode("utf-8", "replace"))
