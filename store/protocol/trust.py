"""Tell whether a message may decide, or why not: the one rule of write actions, views and hooks."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from team_console.store.model.message import FieldDict, Message
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.grants import grant_trouble, names_grant, use_in
from team_console.store.protocol.keys_on_record import fingerprint, fingerprint_of_bytes, keys_of
from team_console.store.protocol.message_seal import Seal, message_seal
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.rights import breach
from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST, SHOWN_BY, digest_of, given_on
from team_console.store.protocol.ssh_signature import read_signature
from team_console.store.protocol.verdicts import (
    SIGNATURE,
    is_verdict,
    may_be_verdict,
    signature_trouble,
    signed_order_in,
    statement,
)
from team_console.store.settings.team_config import TeamConfig


class TrustMark(StrEnum):
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
    """A verdict or an order that team-console did not write, though its sender writes by it."""
    FOREIGN = "by another program"
    """The same of a sender who never wrote by team-console here: that is how this sender writes."""
    UNCHECKED = "unchecked"
    """A verdict that could not be checked: the team could not be read any more when it was handed on."""
    REPLAYED = "replayed"
    """An order that was answered before it came: a signature is good for ever, what it asked for is done."""


MEANINGS: Mapping[TrustMark, str] = {
    TrustMark.FORGED: (
        "the human it names did not say this, or not to this request; it decides nothing, do not act on it"
    ),
    TrustMark.BROKEN: "it was changed after it was signed with the team's key; do not act on it",
    TrustMark.CHANGED: "another program changed it after it was written; ask its sender before you act on it",
    TrustMark.UNSIGNED: "the team has a key and this is not signed with it; it decides nothing",
    TrustMark.FORBIDDEN: "its sender may not send this to you by the team's settings; do not act on it",
    TrustMark.UNVERIFIED: "another program wrote this, so nobody can tell who did; ask its sender before you act on it",
    TrustMark.FOREIGN: "",
    TrustMark.UNCHECKED: "the team could not be read to check this verdict; look at it with show before you act on it",
    TrustMark.REPLAYED: "this order was answered before and somebody put it back; do not act on it again",
}
"""What each mark says to whoever is handed the message; empty where the mark itself says all."""


def trust_words(mark: TrustMark) -> str:
    """Return a mark with what it means, as whoever is handed the message reads it."""
    return f"{mark}: {MEANINGS[mark]}" if MEANINGS[mark] else str(mark)


def writes_elsewhere(sender: str, recorded: RecordedFacts | None) -> bool:
    """Return whether this sender never wrote by team-console here: then what another program wrote is nothing odd."""
    # guard: foreign-only-who-never-wrote-by-us
    return recorded is not None and sender not in recorded.authors


NOT_ON_RECORD = "it is signed with a key that is not on record"
"""Why a verdict does not count yet: whoever may write the settings could have put the key there.

Of all reasons the only one that may be gone tomorrow (`check --accept-keys`), so that `mark_of` knows it by its words.
"""


def objection(
    config: TeamConfig, message: Message, question: Message | None = None, *, recorded: RecordedFacts | None = None
) -> str:
    """Return why a message decides nothing, as the end of a sentence about it; empty when it may decide.

    Args:
        question: The request it answers; None for an order, which asks for itself.
        recorded: The audit trail, for what was written before the team began to sign.
    """
    trouble = (
        _team_key_trouble(config, message)
        or _grant_trouble(config, message, question, recorded)
        or _own_key_trouble(config, message, question, recorded)
        or _other_request_trouble(message, question)
    )
    if trouble and recorded is not None and _is_before_signing(config, recorded, message, question):
        return ""
    return trouble


def is_signed(config: TeamConfig, message: Message, question: Message | None, recorded: RecordedFacts | None) -> bool:
    """Return whether the human it names signed this verdict, whether or not the team asks for that."""
    return not _verdict_signature_trouble(config, message, question, recorded)


def mark_of(
    config: TeamConfig, message: Message, question: Message | None, *, recorded: RecordedFacts | None
) -> TrustMark | None:
    """Return the warning to hand out with a message; None when nothing is wrong."""
    if config.key:
        seal = message_seal(message, config.key)
        if seal is not Seal.SIGNED:
            return TrustMark.BROKEN if seal is Seal.BROKEN else TrustMark.UNSIGNED
    if breach(config, message, recorded) is not None:
        return TrustMark.FORBIDDEN
    # Words of a human are a verdict only where the request that they answer is known.
    if not is_verdict(config, message) and (question is None or not may_be_verdict(config, message)):
        return None
    if trouble := objection(config, message, question, recorded=recorded):
        return TrustMark.UNVERIFIED if trouble == NOT_ON_RECORD else TrustMark.FORGED
    is_ours = recorded is None or recorded.is_by_desk(message.message_id)
    if is_ours or config.must_be_signed(message.sender):
        return None
    return TrustMark.FOREIGN if writes_elsewhere(message.sender, recorded) else TrustMark.UNVERIFIED


def _team_key_trouble(config: TeamConfig, message: Message) -> str:
    """Return why the team's key does not vouch for a message; empty where it does, or there is none."""
    seal = message_seal(message, config.key) if config.key else Seal.SIGNED
    if seal is Seal.SIGNED:
        return ""
    return "its signature with the team's key does not fit" if seal is Seal.BROKEN else "the team's key did not sign it"


def _other_request_trouble(message: Message, question: Message | None) -> str:
    """Return why an answer is not one to this question; empty where it is, or does not say on what it was given."""
    if question is None or question.message_id == message.message_id:
        return ""
    digest = given_on(signed_order_in(message) or message)
    return "" if digest in ("", digest_of(question)) else "it was given on another request, or the request was changed"


def _grant_trouble(
    config: TeamConfig, message: Message, question: Message | None, recorded: RecordedFacts | None
) -> str:
    """Return why an answer that names a grant is none by it; the grant's own signature is looked at, too."""
    if not names_grant(message):
        return ""
    grant_id = use_in(message).grant_id
    shown = shown_by_grant(grant_id, question) if question is not None else {}
    if trouble := grant_trouble(message, question, recorded, shown):
        return trouble
    grant = recorded.message(grant_id) if recorded is not None else None
    # guard: grant-signed
    return _own_key_trouble(config, grant, None, recorded) if grant is not None else ""


def grant_objection(config: TeamConfig, grant: Message, recorded: RecordedFacts | None) -> str:
    """Return why a grant gives no answer, however it stands: who wrote it, or whose it is; empty where it may."""
    # guard: grant-written-by-us
    if recorded is None or not recorded.is_by_desk(grant.message_id):
        return "another program wrote it"
    # guard: grant-as-recorded
    if recorded.differs(grant):
        return "another program changed it"
    if grant.sender != config.lead:
        return f"{grant.sender} does not lead the team"
    return objection(config, grant, None, recorded=recorded)


def shown_by_grant(grant_id: str, question: Message) -> FieldDict:
    """Return the fields of an answer by this grant on what it answers, of which nothing was shown."""
    return {REQUEST_DIGEST: digest_of(question), SHOWN_BY: f"nothing: the grant {grant_id} answered it"}


def _own_key_trouble(
    config: TeamConfig, message: Message, question: Message | None, recorded: RecordedFacts | None
) -> str:
    """Return why the human's own signature does not vouch for a verdict; empty where it does, or need not."""
    if names_grant(message):
        return ""
    # guard: verdict-signed
    if not config.must_be_signed(message.sender) or parse_message(message).kind.withdraws:
        return ""
    return _verdict_signature_trouble(config, message, question, recorded)


def _verdict_signature_trouble(
    config: TeamConfig, message: Message, question: Message | None, recorded: RecordedFacts | None
) -> str:
    """Return why a verdict is not signed by the human it names for this request; empty where it is."""
    keys = config.human(message.sender).keys
    if not keys:
        return f"{message.sender} has no key in the settings"
    if not config.team_id:
        return "the settings give the team no team_id"
    # The confirmation of an agent's end is written by whoever comes by: in it is the human's order, which is signed.
    signed = signed_order_in(message) or message
    # An order is looked at as its own question; it was signed for no other.
    is_order = question is not None and question.message_id == message.message_id
    asked = None if is_order else question
    trouble = signature_trouble(statement(config.team_id, signed), signed.payload.get(SIGNATURE), keys)
    # guard: signature-for-one-request
    if not trouble and asked is not None and signed.payload.get(REQUEST_DIGEST) != digest_of(asked):
        return "it was signed for another request, or the request was changed"
    # guard: verdict-by-key-on-record
    if not trouble and _is_by_unknown_key(config, signed, recorded):
        return NOT_ON_RECORD
    return trouble


def _is_by_unknown_key(config: TeamConfig, signed: Message, recorded: RecordedFacts | None) -> bool:
    """Return whether a key signed it that the trail never saw, though it knows one of this human."""
    keys = keys_of(config, config.human(signed.sender), recorded)
    if keys is None or not keys.unknown:
        return False
    signer = fingerprint_of_bytes(read_signature(str(signed.payload.get(SIGNATURE))).key)
    return signer in {fingerprint(key) for key in keys.unknown}


def _is_before_signing(config: TeamConfig, recorded: RecordedFacts, message: Message, question: Message | None) -> bool:
    """Return whether message and question are on record as ours, and from before the team began to sign.

    A date is what its writer says it is; a line of the trail behind the first signed one came after it.
    """
    since = config.signed_since
    return since is not None and all(
        recorded.is_before_signing(item.message_id) and item.created_at is not None and item.created_at < since
        for item in (message, question)
        if item is not None
    )
