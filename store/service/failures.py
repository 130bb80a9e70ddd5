"""The failure desk: what could not be delivered is tried again, sent elsewhere, set aside or taken back by a human.

Every action judges each message by its state under the lock, so a recall that races a reader ends as one of the two.
Several ids are treated in one transaction: those that still can be are, and the others are named with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL, USER, check_name, is_name
from team_console.store.model.schedule import is_held
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.permissions import check_permission, check_settings
from team_console.store.protocol.relations import is_answer
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.inbox import readable
from team_console.store.settings.team_config import TeamConfig


class Remedy(StrEnum):
    """What can be done about a message that is on its way or got stuck."""

    RETRY = "retry"
    REDIRECT = "redirect"
    DISCARD = "discard"
    RECALL = "recall"


_ALLOWED: Mapping[Remedy, frozenset[str]] = {
    Remedy.RETRY: frozenset({"failed", "expired", "retry"}),
    Remedy.REDIRECT: frozenset({"pending", "failed", "expired", "retry"}),
    Remedy.DISCARD: frozenset({"failed", "expired", "retry", "recalled"}),
    Remedy.RECALL: frozenset({"pending", "retry"}),
}
_FRESH: Mapping[str, Any] = {
    **{"status": Status.PENDING.value, "attempts": None, "retry_count": None, "error_message": None},
    **{"claimed_by": None, "lease_until": None, "token": None, "recalled_at": None, "ended_at": None},
}
_Change = Callable[[Transaction, Message], Message | None]


class Forecast(Struct, frozen=True):
    """What a remedy would do now.

    Attributes:
        possible: The messages it would be applied to.
        refused: Message id -> why not.
    """

    remedy: Remedy
    possible: tuple[Message, ...]
    refused: Mapping[str, str]


def forecast(caller: Caller, remedy: Remedy, ids: Sequence[str]) -> Forecast:
    """Look, without the lock, which of the messages the remedy fits; the action judges again.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    snapshot = readable(caller.team.snapshot())
    wanted = dict.fromkeys(ids)
    live: dict[str, list[Message]] = {}
    for message in snapshot.messages:
        if message.message_id in wanted:
            live.setdefault(message.message_id, []).append(message)
    possible, refused = [], {}
    for message_id in wanted:
        for named in live.get(message_id) or (None,):
            refusal = _refusal(snapshot.config, remedy, message_id, named, caller.actor, snapshot.taken_at)
            if named is not None and refusal is None:
                possible.append(named)
            elif refusal is not None:
                refused[message_id] = refusal.message
    return Forecast(remedy, tuple(possible), refused)


def retry(caller: Caller, *, ids: Sequence[str]) -> Receipt:
    """Failed, expired or put off -> pending, with all its tries again and a new expiry clock.

    Raises:
        TeamError: `INVALID_FIELD` or `NOT_PERMITTED` of the first message when it fits none of them.
    """

    def change(tx: Transaction, message: Message) -> Message:
        return message.with_changes(**{**_FRESH, "next_attempt_at": to_text(tx.now)})

    return _treat(caller, Remedy.RETRY, ids, change)


def redirect(caller: Caller, *, ids: Sequence[str], to: str) -> Receipt:
    """Give undelivered messages to another agent; they keep id, sender and content and say where they come from.

    Raises:
        TeamError: `AGENT_NOT_FOUND`, `INVALID_NAME`, or as for `retry`.
    """
    to = check_name(to, field="to")
    return _treat(caller, Remedy.REDIRECT, ids, lambda tx, message: _redirected(tx, message, to), to=to)


def discard(caller: Caller, *, ids: Sequence[str], reason: str) -> Receipt:
    """Take dead letters out of the queue; they stay readable in the history of whom they were for.

    Raises:
        TeamError: `MISSING_REASON`, or as for `retry`.
    """
    if not reason.strip():
        raise TeamError(Code.MISSING_REASON, "discarding needs a reason", "Give it with --reason TEXT.")

    def change(tx: Transaction, message: Message) -> None:
        archive_and_remove(tx, message)

    return _treat(caller, Remedy.DISCARD, ids, change, reason=reason)


def recall(caller: Caller, *, ids: Sequence[str]) -> Receipt:
    """Take back messages that nobody has got yet: they end as recalled, or as delivered, never both.

    Raises:
        TeamError: `NOT_PERMITTED` saying who has it since when, or as for `retry`.
    """

    def change(tx: Transaction, message: Message) -> Message:
        facts = {"status": Status.RECALLED.value, "recalled_at": to_text(tx.now), "next_attempt_at": None}
        return message.with_changes(**{**_FRESH, **facts})

    return _treat(caller, Remedy.RECALL, ids, change)


REMEDIES: Mapping[Remedy, Callable[..., Receipt]] = {
    Remedy.RETRY: retry,
    Remedy.REDIRECT: redirect,
    Remedy.DISCARD: discard,
    Remedy.RECALL: recall,
}
"""What carries out each remedy, for the caller and the `ids`; a redirection also wants `to`, a discard a `reason`."""


def archive_and_remove(tx: Transaction, message: Message) -> None:
    """Out of the queue, into the history of its recipients first (decision D12)."""
    for name in archive_owners(tx.config, message):
        tx.archive(name, message)
    tx.remove(message)


def archive_owners(config: TeamConfig, message: Message) -> list[str]:
    """In whose history a message belongs; the lead's when it names nobody who can have one."""
    return [name for name in message.recipients if is_name(name) and name != ALL] or [config.lead]


def _treat(caller: Caller, remedy: Remedy, ids: Sequence[str], change: _Change, **facts: Any) -> Receipt:
    changed: list[Message] = []
    before: dict[str, str] = {}
    refusals: dict[str, TeamError] = {}
    with caller.team.transaction(actor=caller.actor, action=str(remedy), wait=caller.wait) as tx:
        for message_id in dict.fromkeys(ids):
            for message in tx.named(message_id) or (None,):
                try:
                    refusal = _refusal(tx.config, remedy, message_id, message, caller.actor, tx.now)
                    if refusal is not None or message is None:
                        raise refusal or LookupError(message_id)
                    changed.append(_apply(tx, message, change))
                    before[message_id] = message.status
                except TeamError as error:
                    refusals[message_id] = error
        if changed:
            tx.record(str(remedy), ids=[message.message_id for message in changed], before=before, **facts)
    if refusals and not changed:
        raise next(iter(refusals.values()))
    warnings = tuple(error.message for error in refusals.values())
    return Receipt(str(remedy), tuple(changed), warnings, notices=tuple(tx.notices))


def _apply(tx: Transaction, message: Message, change: _Change) -> Message:
    wanted = change(tx, message)
    if wanted is None:
        return message
    tx.replace(message, wanted)
    return wanted


def _redirected(tx: Transaction, message: Message, to: str) -> Message:
    from team_console.store.protocol.team_signature import Seal, seal_of
    from team_console.store.service.drafting import check_known, sealed

    check_known(tx, [to])
    check_permission(tx.config, sender=message.sender, recipient=to, type=parse_message(message).name)
    elsewhere = {**_FRESH, "to": to, "redirected_from": message.recipients[0], "next_attempt_at": to_text(tx.now)}
    other_keys = dict.fromkeys(("recipient", "to_agent", "to_agents"))
    moved = message.with_changes(**{**other_keys, **elsewhere})
    was_signed = seal_of(message, tx.config.key) is Seal.SIGNED
    return sealed(moved, tx.config.key) if was_signed else moved


def _refusal(
    config: TeamConfig, remedy: Remedy, message_id: str, message: Message | None, actor: str, now: datetime
) -> TeamError | None:
    """Why the remedy does not fit the message as it is, None when it does."""
    if message is None:
        hint = "It may have been archived: team-console history --grep ID."
        return TeamError(Code.INVALID_FIELD, f"no message {message_id} in the queue", hint)
    if actor not in (config.lead, USER, message.sender):
        who = f"its sender {message.sender} or the lead {config.lead}"
        return TeamError(Code.NOT_PERMITTED, f"{message_id}: only {who} may {remedy} it", "Ask one of them.")
    if config.lost and actor != message.sender:
        check_settings(config, f"{remedy} what others sent")
    if is_held(message, now):
        holder = str(message.envelope("claimed_by")).removeprefix("@")
        until = f"until {message.envelope('lease_until')}"
        return _not_now(f"{message_id} is with {holder} {until}", "Wait for the outcome.")
    if message.is_group and (message.read_by or message.delivered_to) and remedy is not Remedy.RETRY:
        names = ", ".join({**message.delivered_to, **message.read_by})
        return _not_now(f"{message_id} has already reached {names}", "Send a message to the others.")
    if message.is_group and remedy is Remedy.REDIRECT:
        return _not_now(f"{message_id} is for a group", "Send the message again to those who need it.")
    if remedy is Remedy.REDIRECT and is_answer(message):
        # What is on record of it says whom it is for, and nobody else can act on it.
        hint = "Retry it or discard it, and write to the other agent."
        return _not_now(f"{message_id} answers what {message.recipients[0]} asked", hint)
    status = Status.PENDING.value if message.status == Status.CLAIMED else message.status
    return None if status in _ALLOWED[remedy] else _not_now(*_why_not(message, remedy))


def _why_not(message: Message, remedy: Remedy) -> tuple[str, str]:
    at = message.envelope(f"{message.status}_at")
    if remedy is Remedy.RECALL and message.status in (Status.READ, Status.DELIVERED):
        did = "read it" if message.status == Status.READ else "got it"
        return f"too late: {', '.join(message.recipients)} {did}{f' at {at}' if at else ''}", "Send another message."
    since = f" since {at}" if at else ""
    allowed = ", ".join(sorted(_ALLOWED[remedy]))
    what = f"{message.message_id} is {message.status}{since}"
    return what, f"Only messages that are {allowed} can be treated with {remedy}."


def _not_now(message: str, hint: str) -> TeamError:
    return TeamError(Code.NOT_PERMITTED, message, hint)
