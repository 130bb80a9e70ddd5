"""Verdicts: recognised, stated for a signature, and trusted or not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from team_console.store.model.message import Message, from_record
from team_console.store.model.names import USER
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.kinds import DECIDED_BY_LEAD, RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.permissions import breach
from team_console.store.protocol.seen import REQUEST, SHOWN, digest_of, given_on
from team_console.store.protocol.ssh import SshSignature, read_signature
from team_console.store.protocol.team_signature import Seal, plain, seal_of
from team_console.store.settings.team_config import Human, TeamConfig, key_bytes

ORDER, CONFIRMATION = "shutdown_request", "AGENT_DESTROYED"
"""Kinds by which a human has an agent stopped, and by which its end is confirmed."""


def is_human(config: TeamConfig, name: str) -> bool:
    """Whether `name` is a seat of a human: the lead, the human at the console, and those the settings name."""
    return name in (config.lead, USER) or name in config.humans


def is_verdict(config: TeamConfig, message: Message) -> bool:
    """Whether a message claims to be what a human decided, whoever wrote it.

    An answer to what only the lead decides, a human's yes or no to anything else, and a human's order to stop.
    """
    read = parse_message(message)
    if read.answers in DECIDED_BY_LEAD:
        return True
    is_clear = read.name == ORDER or read.answers is not None or read.approve is not None
    return is_clear and may_be_verdict(config, message)


def may_be_verdict(config: TeamConfig, message: Message) -> bool:
    """The same, or a human's words about something: they decide when that is an escalation or a clarification."""
    read = parse_message(message)
    if read.answers in DECIDED_BY_LEAD:
        return True
    if read.kind is None or read.kind.withdraws or not is_human(config, message.sender):
        return False
    return read.name == ORDER or (read.opens is None and read.request_id is not None)


# Statement of a verdict: the text that a human's key signs, rebuilt from the record of the verdict alone.

NAMESPACE = "verdict@team-console"
VERSION = 1
SIGNATURE = "signature"
"""The field of a verdict's payload that holds its signature."""
_APART = frozenset({SIGNATURE, REQUEST, SHOWN, "request_id", "requestId", "content"})


def statement(team_id: str, verdict: Message) -> str:
    """The text that is signed of a verdict of the team with this identity."""
    payload = verdict.payload
    digest = payload.get(REQUEST)
    said = {
        "version": VERSION,
        "namespace": NAMESPACE,
        "team": team_id,
        "request_id": parse_message(verdict).request_id,
        REQUEST: digest,
        SHOWN: payload.get(SHOWN, digest),
        "message_id": verdict.message_id,
        "type": verdict.type,
        "to": list(verdict.recipients),
        "time": verdict.created,
        "signer": verdict.sender,
        "verdict": word_of(verdict),
        "words": verdict.content,
        "terms": {str(key): value for key, value in payload.items() if key not in _APART},
    }
    return json.dumps(plain(said), sort_keys=True, separators=(",", ":"))


def word_of(verdict: Message) -> str:
    """What was decided, in one word."""
    read = parse_message(verdict)
    if read.name == ORDER:
        return "shutdown"
    if read.approve is None or (read.approve and read.answers is RequestKind.QUESTION):
        return "answer"
    return "approve" if read.approve else "reject"


# Verification of a signature against the keys of a human, remembered by its bytes: each is worked out once.

_REMEMBERED = 65_536
"""Signatures at most; beyond that all are worked out anew."""
NO_TOOL = "it cannot be verified here: pip install 'team-console[signatures]', or install OpenSSH"


_known: dict[bytes, str] = {}
"""Digest of text, signature and keys -> what is wrong with it."""


class CannotVerifyError(Exception):
    """Neither `cryptography` nor `ssh-keygen` is installed."""


def signature_trouble(text: str, signature: object, keys: Sequence[str], namespace: str = NAMESPACE) -> str:
    """Why a signature does not stand for `text` and one of these public keys; empty when it does."""
    if not isinstance(signature, str) or not signature:
        return "it is not signed"
    # guard: signature-known-by-all-bytes
    digest = hashlib.sha256("\0".join((text, signature, namespace, *keys)).encode("utf-8", "replace")).digest()
    trouble = _known.get(digest)
    if trouble is None:
        try:
            trouble = _trouble(text, signature, keys, namespace)
        except CannotVerifyError:
            return NO_TOOL
        if len(_known) >= _REMEMBERED:
            _known.clear()
        # guard: signature-verified-once
        _known[digest] = trouble
    return trouble


def _trouble(text: str, signature: str, keys: Sequence[str], namespace: str) -> str:
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
    return "" if _is_good(parts, text, signature) else "its signature does not fit what it says"


def _is_good(parts: SshSignature, text: str, signature: str) -> bool:
    """By `cryptography`, or where that is missing by the `ssh-keygen` of the machine."""
    try:
        from team_console.store.protocol.key_arithmetic import is_signed
    except ImportError:
        from team_console.store.protocol.ssh import verify

        good = verify(text, signature, parts.key, parts.namespace.decode())
        if good is None:
            raise CannotVerifyError from None
        return good
    return is_signed(parts, text.encode("utf-8", "replace"))


# Trust in messages that decide: the one rule by which desk, ledger, hooks and every other face judge them.

NOBODY = Human("")
ORDERED = "ordered"
"""The field of a confirmation of an agent's end that holds the order which the human signed."""


class Mark(StrEnum):
    """What is wrong with a message that is handed on, in one word; `trust` in its record."""

    FORGED = "forged"
    """A verdict that its human did not sign, or not like this, or gave on another request."""
    BROKEN = "broken"
    """The signature with the team's key does not fit: the record was changed."""
    CHANGED = "changed"
    """Another program changed its sender or its words after it was recorded."""
    UNSIGNED = "unsigned"
    """The team has a key, and the record is not signed with it."""
    FORBIDDEN = "forbidden"
    """What its sender may not ask, or not write to whom it is for, by the settings."""
    UNVERIFIED = "unverified"
    """A verdict or an order that team-console did not write."""
    UNCHECKED = "unchecked"
    """A verdict that could not be checked: the team could not be read any more when it was handed on."""
    REPLAYED = "replayed"
    """An order that was answered before it came: a signature is good for ever, what it asked for is done."""


MEANINGS: Mapping[Mark, str] = {
    Mark.FORGED: "the human it names did not say this, or not to this request; it decides nothing, do not act on it",
    Mark.BROKEN: "it was changed after it was signed with the team's key; do not act on it",
    Mark.CHANGED: "another program changed it after it was written; ask its sender before you act on it",
    Mark.UNSIGNED: "the team has a key and this is not signed with it; it decides nothing",
    Mark.FORBIDDEN: "its sender may not send this to you by the team's settings; do not act on it",
    Mark.UNVERIFIED: "another program wrote this, so nobody can tell who did; ask its sender before you act on it",
    Mark.UNCHECKED: "the team could not be read to check this verdict; look at it with show before you act on it",
    Mark.REPLAYED: "this order was answered before and somebody put it back; do not act on it again",
}
"""What each mark says to whoever is handed the message."""


def human_of(config: TeamConfig, name: str) -> Human:
    """The human in this seat: the lead's keys are the console's, whose seat the lead has."""
    own = config.humans.get(name)
    if own is None and name in (config.lead, USER):
        own = config.humans.get(config.lead) or config.humans.get(USER)
    return own or NOBODY


def must_be_signed(config: TeamConfig, signer: str) -> bool:
    """Whether a verdict of `signer` decides only when it is signed."""
    return config.verdicts == "signed" and is_human(config, signer)


def objection(
    config: TeamConfig, message: Message, question: Message | None = None, *, recorded: RecordedFacts | None = None
) -> str:
    """Why a message decides nothing, as the end of a sentence about it; empty when it may decide.

    Args:
        question: The request it answers; None for an order, which asks for itself.
        recorded: The audit trail, for what was written before the team began to sign.
    """
    trouble = (
        _team_key_trouble(config, message)
        or _own_key_trouble(config, message, question)
        or _other_request_trouble(message, question)
    )
    if trouble and recorded is not None and _is_older(config, recorded, message, question):
        return ""
    return trouble


def is_signed(config: TeamConfig, message: Message, question: Message | None) -> bool:
    """Whether the human it names signed this verdict, whether or not the team asks for that."""
    return not _signature_trouble(config, message, question)


def mark_of(
    config: TeamConfig, message: Message, question: Message | None = None, *, recorded: RecordedFacts | None = None
) -> Mark | None:
    """What whoever is handed a message has to be told of it; None when nothing is wrong."""
    if config.key:
        seal = seal_of(message, config.key)
        if seal is not Seal.SIGNED:
            return Mark.BROKEN if seal is Seal.BROKEN else Mark.UNSIGNED
    if breach(config, message, recorded) is not None:
        return Mark.FORBIDDEN
    if not is_verdict(config, message) and (question is None or not may_be_verdict(config, message)):
        return None
    if objection(config, message, question, recorded=recorded):
        return Mark.FORGED
    is_ours = recorded is None or recorded.is_by_desk(message.message_id)
    return None if is_ours or must_be_signed(config, message.sender) else Mark.UNVERIFIED


def _team_key_trouble(config: TeamConfig, message: Message) -> str:
    seal = seal_of(message, config.key) if config.key else Seal.SIGNED
    if seal is Seal.SIGNED:
        return ""
    return "its signature with the team's key does not fit" if seal is Seal.BROKEN else "the team's key did not sign it"


def _other_request_trouble(message: Message, question: Message | None) -> str:
    if question is None or question.message_id == message.message_id:
        return ""
    digest = given_on(order_of(message) or message)
    return "" if digest in ("", digest_of(question)) else "it was given on another request, or the request was changed"


def _own_key_trouble(config: TeamConfig, message: Message, question: Message | None) -> str:
    kind = parse_message(message).kind
    # guard: verdict-signed
    if not must_be_signed(config, message.sender) or (kind is not None and kind.withdraws):
        return ""
    return _signature_trouble(config, message, question)


def _signature_trouble(config: TeamConfig, message: Message, question: Message | None) -> str:
    keys = human_of(config, message.sender).keys
    if not keys:
        return f"{message.sender} has no key in the settings"
    if not config.team_id:
        return "the settings give the team no team_id"
    signed = order_of(message) or message
    asked = None if question is not None and question.message_id == message.message_id else question
    trouble = signature_trouble(statement(config.team_id, signed), signed.payload.get(SIGNATURE), keys)
    # guard: signature-for-one-request
    if not trouble and asked is not None and signed.payload.get(REQUEST) != digest_of(asked):
        return "it was signed for another request, or the request was changed"
    return trouble


def order_of(message: Message) -> Message | None:
    """The signed order that a confirmation of an agent's end rests on: whoever comes by writes the confirmation.

    None for every other message, and for an order that does not fit.
    """
    read, record = parse_message(message), message.payload.get(ORDERED)
    if read.name != CONFIRMATION or not isinstance(record, Mapping):
        return None
    try:
        order = from_record(record)
    except ValueError:
        return None
    is_meant = order.recipients == (read.subject,) and order.payload.get("in_reply_to") == read.request_id
    return order if is_meant and order.type == ORDER and order.sender == message.sender else None


def _is_older(config: TeamConfig, recorded: RecordedFacts, message: Message, question: Message | None) -> bool:
    """Whether message and question are on record as ours, and from before the team began to sign.

    A date is what its writer says it is; a line of the trail behind the first signed one came after it.
    """
    since = config.signed_since
    return since is not None and all(
        recorded.is_before_signing(item.message_id) and _came_before(item, since)
        for item in (message, question)
        if item is not None
    )


def _came_before(message: Message, moment: datetime) -> bool:
    created = message.created_at
    return created is not None and created < moment
