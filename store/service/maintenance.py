"""Maintenance: the queue is kept small, old messages are cleared, and a team is repaired on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.recorded import ACCEPT_KEYS, RecordedFacts
from team_console.store.protocol.ssh import read_signature, sign
from team_console.store.protocol.verdicts import (
    KEYS_NAMESPACE,
    SETTINGS_NAMESPACE,
    KeysOfHuman,
    acceptance_text,
    confirmation_text,
    fingerprint,
    human_of,
    is_human,
    keys_of_humans,
)
from team_console.store.service.caller import Caller
from team_console.store.service.compaction import bound
from team_console.store.service.deliveries import archive_and_remove
from team_console.store.service.inbox import readable
from team_console.store.settings.team_config import Human, TeamConfig, key_bytes

DEFAULT_DAYS = 7.0
_FINISHED = frozenset(
    {str(item) for item in (Status.DELIVERED, Status.READ, Status.FAILED, Status.EXPIRED, Status.RECALLED)}
)
_ENDED_AT: Mapping[str, tuple[str, ...]] = {
    Status.READ: ("read_at", "delivered_at"),
    Status.DELIVERED: ("delivered_at",),
    Status.RECALLED: ("recalled_at",),
    Status.FAILED: ("ended_at",),
}
"""Status -> what tells when the message came to it, best first; an expired one has had its time by its age."""
FREED_MB = 0.0
"""Disk space freed (seed 003's `disk_space_freed_mb`): what leaves the queue stands in the archives, and a database
keeps the pages of what is deleted from them for what comes next."""


class Cleared(Struct, frozen=True):
    """What left the queue.

    Attributes:
        statuses: Status -> number of messages.
        kept: Old messages that stay, because an open request or the roster rests on them.
        archives: Archived messages that were deleted for good.
    """

    statuses: Mapping[str, int] = field(default_factory=dict)
    kept: int = 0
    archives: int = 0

    @property
    def deleted(self) -> int:
        """How many messages left the queue."""
        return sum(self.statuses.values())


def clear(
    caller: Caller,
    *,
    older_than_days: float = DEFAULT_DAYS,
    delete_archived: bool = False,
    recipient: str | None = None,
) -> Cleared:
    """Archive and remove what ended more than `older_than_days` ago; what still waits is never touched.

    Failed messages are put on the audit trail with their errors before they go.

    Args:
        delete_archived: Also delete archived messages older than the team's `delete_archived_after_days`.
        recipient: Only messages to this agent.

    Raises:
        TeamError: `INVALID_FIELD` for a negative age, `NOT_PERMITTED` when this team keeps its archives.
    """
    _check_age(older_than_days)
    with caller.transaction("clear") as tx:
        old = _old(tx.everything(), tx.now - timedelta(days=older_than_days))
        old = [message for message in old if recipient is None or message.is_addressed_to(recipient)]
        gone = _free(tx.everything(), old, tx.config, tx.now, lambda: tx.recorded)
        if gone:
            _log(tx, gone, older_than_days)
        for missing in gone:
            archive_and_remove(tx, missing)
    archives = _delete_archived(caller) if delete_archived else 0
    return Cleared(_by_status(gone), len(old) - len(gone), archives)


def forecast(caller: Caller, *, older_than_days: float = DEFAULT_DAYS) -> Cleared:
    """What `clear` would do now, without the lock."""
    _check_age(older_than_days)
    snapshot = readable(caller.team.snapshot())
    old = _old(snapshot.messages, snapshot.taken_at - timedelta(days=older_than_days))
    gone = _free(snapshot.messages, old, snapshot.config, snapshot.taken_at, lambda: snapshot.recorded)
    return Cleared(_by_status(gone), len(old) - len(gone))


def _check_age(days: float) -> None:
    if not 0 <= days < 36_500:
        raise TeamError(
            Code.INVALID_FIELD, f"older_than_days: {days:g} is not a number of days", "Give 7, for example."
        )


def _old(messages: Iterable[Message], limit: datetime) -> list[Message]:
    return [
        message
        for message in messages
        if message.status in _FINISHED and (end := _ended(message)) is not None and end < limit
    ]


def _free(
    messages: Sequence[Message],
    old: Sequence[Message],
    config: TeamConfig,
    now: datetime,
    recorded: Callable[[], RecordedFacts | None],
) -> list[Message]:
    """Those of the old messages on which nothing rests."""
    if not old:
        return []
    ids = [message.message_id for message in old]
    stay = bound(messages, config=config, now=now, recorded=recorded, leaving=ids)
    return [message for message in old if message.message_id not in stay]


def _ended(message: Message) -> datetime | None:
    """When its way ended, as far as the record tells; None when it has no readable time at all.

    Where the record does not say it, because another program gave the message up, its creation counts (seed 003).
    """
    for key in _ENDED_AT.get(message.status, ()):
        moment = from_text(str(message.envelope(key) or ""))
        if moment is not None:
            return moment
    return message.created_at


def _log(tx: Transaction, gone: list[Message], days: float) -> None:
    """Seed 003: failed messages are logged, then deleted."""
    lost = [
        {
            "message_id": message.message_id,
            "sender": message.sender,
            "recipient": ", ".join(message.recipients),
            "error_message": message.envelope("error_message"),
        }
        for message in gone
        if message.status == Status.FAILED
    ]
    ids = [message.message_id for message in gone]
    tx.record("clear", ids=ids, older_than_days=days, statuses=_by_status(gone), failed=lost)


def _by_status(messages: Iterable[Message]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for message in messages:
        counts[message.status] = counts.get(message.status, 0) + 1
    return counts


def _delete_archived(caller: Caller) -> int:
    days = caller.team.config().delete_archived_after_days
    return caller.team.delete_archived(
        before=caller.team.clock() - timedelta(days=days), actor=caller.actor, wait=caller.wait
    )


# Repair of a team on demand: what was begun is finished, and no two messages share an id any more (D26).


def heal(caller: Caller) -> tuple[Problem, ...]:
    """Enter the team once, as each write does: what was begun is finished, what others lost is put back.

    So are settings that were in force and are lost.

    Returns:
        What was repaired, ids that several messages shared included.

    Raises:
        TeamError: As for `Team.transaction`.
    """
    restored = caller.team.restore_settings(actor=caller.actor, wait=caller.wait)
    with caller.transaction("heal") as tx:
        pass
    return (*((restored,) if restored is not None else ()), *tx.notices)


def accept_settings(caller: Caller) -> tuple[Problem, ...]:
    """Confirm settings that lost what was in force: from now on they hold as they are.

    In a team of signed verdicts with a key of the human who confirms: whoever could do it without one could decide
    anything by settings in which somebody else leads.

    Returns:
        What was done; nothing when they were in force already.

    Raises:
        TeamError: `NOT_PERMITTED` to whoever is no human, or has no key, by the settings in force; `SIGNATURE_FAILED`;
            as for `Team.accept_settings`.
    """
    config = caller.team.config()
    # Whoever wrote settings that ask less of verdicts could else confirm them, too.
    if config.lost and not is_human(config, caller.actor):
        text = f"{caller.actor} cannot confirm the settings of team {config.name}"
        raise TeamError(Code.NOT_PERMITTED, text, f"Ask {config.lead}, who leads it, to look at what they lost.")
    has_keys = config.verdicts == "signed" and any(human.keys for human in config.humans.values())
    # guard: settings-confirmed-by-key
    signed = _confirmed(caller, config) if config.lost and has_keys else {}
    done = caller.team.accept_settings(actor=caller.actor, wait=caller.wait, signed=signed)
    return (done,) if done is not None else ()


def _confirmed(caller: Caller, config: TeamConfig) -> dict[str, Any]:
    """What the audit trail keeps of a human's signature of the settings that are there now."""
    human = human_of(config, caller.actor)
    if not human.keys:
        text = f"verdicts of team {config.name} are signed, and {caller.actor} has no key in the settings in force"
        hint = "Whoever has one confirms them, or puts those in force back with: team-console check --heal"
        raise TeamError(Code.NOT_PERMITTED, text, hint)
    text = confirmation_text(config.team_id, human.name, config.unconfirmed)
    by, signature = _signed(text, human, SETTINGS_NAMESPACE, on_terminal=caller.on_terminal)
    facts = {"human": human.name, "team_id": config.team_id, "sha256": config.unconfirmed}
    return {**facts, "by": by, "signature": signature}


def _signed(text: str, human: Human, namespace: str, *, on_terminal: bool = False) -> tuple[str, str]:
    """The key of the human, a line, that signed the text, and the signature.

    Raises:
        TeamError: `SIGNATURE_FAILED`, also when another key signed.
    """
    signature = sign(text, human, namespace=namespace, on_terminal=on_terminal)
    signer = read_signature(signature).key
    # guard: key-added-by-known-key
    by = next((key for key in human.keys if key_bytes(key) == signer), None)
    if by is None:
        words = f"the key that signed is none of {human.name}'s that count here"
        raise TeamError(Code.SIGNATURE_FAILED, words, "Load one that does with ssh-add, and repeat it.")
    return by, signature


def accept_keys(caller: Caller) -> tuple[Problem, ...]:
    """Take on record the keys of humans in the settings that the audit trail does not know.

    Signed with a key that is on record, where the settings still have one; else it stays among the findings.

    Returns:
        What was done, for each human.

    Raises:
        TeamError: `NOT_PERMITTED` to whoever is neither that human nor the lead; `SIGNATURE_FAILED`; the store's own.
    """
    config, snapshot = caller.team.config(), caller.team.snapshot()
    waiting = [keys for keys in keys_of_humans(config, snapshot.recorded) if keys.unknown]
    for keys in waiting:
        _refuse_others(config, caller.actor, keys.human.name)
    taken = [_accepted(config, keys) for keys in waiting]
    done: list[Problem] = []
    for facts in taken:
        with caller.transaction(ACCEPT_KEYS) as tx:
            tx.record(ACCEPT_KEYS, **facts)
        how = "signed with a key known before" if facts["signature"] else "without a signature of a key known before"
        text = f"on record for {facts['human']}, {how}: {', '.join(facts['keys'])}"
        done.append(_notice("KEYS_ACCEPTED", f"humans.{facts['human']}.keys", text))
    return tuple(done)


def _refuse_others(config: TeamConfig, actor: str, human: str) -> None:
    # Who put a key there could else also take it on record, unsigned when the known keys are gone from the settings.
    # guard: key-added-by-human-or-lead
    if actor not in (human, config.lead):
        text = f"{actor} cannot take a key of {human} on record"
        raise TeamError(Code.NOT_PERMITTED, text, f"Ask {human} to do it with a key that is on record.")


def _accepted(config: TeamConfig, keys: KeysOfHuman) -> dict[str, Any]:
    """The facts of the line that takes them on record."""
    names = [fingerprint(key) for key in keys.unknown]
    facts: dict[str, Any] = {"human": keys.human.name, "keys": names, "by": "", "signature": ""}
    if not keys.known:
        return facts
    text = acceptance_text(config.team_id, keys.human.name, names)
    by, signature = _signed(text, replace(keys.human, keys=keys.known), KEYS_NAMESPACE)
    return {**facts, "by": by, "signature": signature}


def take_in_drops(caller: Caller, snapshot: Snapshot) -> Snapshot:
    """The snapshot once what waits beside the queue was taken in; itself when nothing does.

    One turn takes in so many files that nobody waits long for the lock, so there may be more of them.
    """
    while snapshot.dropped:
        before = len(snapshot.dropped)
        with caller.transaction("heal"):
            pass
        snapshot = caller.team.snapshot()
        if len(snapshot.dropped) >= before:
            break
    return snapshot


def _notice(code: str, place: str, text: str) -> Problem:
    return Problem(code, "notice", place, text)
