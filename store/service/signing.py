"""Signing: a human's verdict is made without being written, signed outside the lock, and written as it was signed.

A key may take a minute to be unlocked or touched, and nobody else waits for the lock meanwhile. What is written is the
very record that was signed; if the request or anything else that it rests on changed, nothing is.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.protocol.seen import EVIDENCE, REQUEST, SHOWN, SHOWN_BY, digest_of
from team_console.store.protocol.ssh import read_signature
from team_console.store.protocol.verdicts import NAMESPACE, ORDER, SIGNATURE, human_of, must_be_signed, statement
from team_console.store.service.caller import Caller
from team_console.store.service.drafting import sealed
from team_console.store.settings.settings_file import parse
from team_console.store.settings.team_config import TeamConfig, key_bytes

_NOWHERE = Path("/nonexistent/messenger-config.yaml")
"""No key and no place of the queue is looked for while a text is tried."""


class Made(Struct, frozen=True):
    """A verdict as a transaction would write it.

    Attributes:
        message: The record that says what was decided.
        question: The request it answers; None for an order that no request asked for.
    """

    message: Message
    question: Message | None = None


Make = Callable[[Transaction], Made]


class _NotWrittenError(Exception):
    """Ends the transaction in which a verdict was made only to be signed."""

    def __init__(self, made: Made) -> None:
        super().__init__()
        self.made = made


def signed_record(
    caller: Caller, make: Make, *, action: str, shown: Mapping[str, Any] = MappingProxyType({})
) -> Message | None:
    """Make a verdict without writing it and sign its record; None where the actor's word counts without a signature.

    Args:
        shown: What the verdict keeps of all that the human was shown, its digest among it.

    Raises:
        TeamError: `NOT_PERMITTED` for a human without a key, `SIGNATURE_FAILED`, or what `make` raises.
    """
    from team_console.store.protocol.ssh import give_up, sign

    config = caller.team.config()
    if not must_be_signed(config, caller.actor):
        return None
    human = human_of(config, caller.actor)
    if not human.keys:
        text = f"verdicts of this team are signed, and {caller.actor} has no key in its settings"
        hint = f"Add the line of a file such as ~/.ssh/id_ed25519.pub under humans.{caller.actor}.keys, or set"
        raise TeamError(Code.NOT_PERMITTED, text, f"{hint} verdicts: open.")
    config = config if config.team_id else _with_identity(caller)
    try:
        with caller.team.transaction(actor=caller.actor, action=action, wait=caller.wait) as tx:
            raise _NotWrittenError(make(tx))
    except _NotWrittenError as dry_run:
        made = dry_run.made
    digest = {} if made.question is None else {REQUEST: digest_of(made.question)}
    unsigned = _with_payload(made.message, **shown, **digest)
    caller.tell(f"waiting for your key ({human.name})", give_up)
    text = statement(config.team_id, unsigned)
    signature = sign(text, human, namespace=NAMESPACE, on_terminal=caller.on_terminal)
    # guard: signing-key-is-the-humans
    if read_signature(signature).key not in {key_bytes(key) for key in human.keys}:
        # It would count as forged: `sign_with` may name the file of any key.
        text = f"nothing was written: the key that signed is none of humans.{human.name}.keys in the settings"
        raise TeamError(Code.SIGNATURE_FAILED, text, f"Name the file of one of them in humans.{human.name}.sign_with.")
    return _with_payload(unsigned, **{SIGNATURE: signature})


def put_signed(tx: Transaction, made: Made, signed: Message) -> Message:
    """Write the signed record in place of the one that was made again; returns it.

    Raises:
        TeamError: `INVALID_REQUEST_ID` when they do not say the same, because something changed meanwhile.
    """
    digest = digest_of(made.question) if made.question is not None else None
    # guard: changed-while-signed
    if signed.payload.get(REQUEST) != digest or _said(made.message) != _said(signed):
        text = "what you decided on changed while it was being signed; nothing was written"
        raise TeamError(Code.INVALID_REQUEST_ID, text, "Read it again before you answer.")
    whole = sealed(signed, tx.config.key)
    tx.replace(made.message, whole)
    return whole


def _with_payload(message: Message, **more: Any) -> Message:
    return from_record({**message.record, "payload": {**message.payload, **more}})


def _said(message: Message) -> tuple[Any, ...]:
    """What a record says, without what differs each time it is made and what signing adds."""
    made_anew = {SIGNATURE, REQUEST, SHOWN, EVIDENCE, SHOWN_BY, *(("request_id",) if message.type == ORDER else ())}
    payload = {key: value for key, value in message.payload.items() if key not in made_anew}
    return message.type, message.sender, message.recipients, message.priority, payload


def _with_identity(caller: Caller) -> TeamConfig:
    """The settings with an identity for the team, made now where they have none.

    Raises:
        TeamError: `NOT_PERMITTED` when it has to be put there by hand.
    """
    with caller.team.transaction(actor=caller.actor, action="identify", wait=caller.wait) as tx:
        before = tx.settings()
        if not tx.config.team_id:
            team_id = secrets.token_hex(16)
            after = f"{before.rstrip()}\nteam_id: {team_id}\n".lstrip()
            if parse(after.encode(), _NOWHERE).team_id != team_id:
                hint = f"Add this line to the settings: team_id: {team_id}"
                raise TeamError(Code.NOT_PERMITTED, "the settings give the team no team_id for its verdicts", hint)
            tx.configure(after)
            tx.record("identify", team_id=team_id)
    return caller.team.config()
