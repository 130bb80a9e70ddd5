"""Deliveries: what an attempt makes of a message (decision D3), what a pass of the router did and left, and
remedies: what a human does about messages that are on their way or failed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.snapshot import Snapshot, TeamState
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.delivery_schedule import (
    ON_ITS_WAY,
    attempts_of,
    is_due,
    is_held,
    lease_end,
    max_attempts,
    next_attempt,
    wait_after,
)
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import FieldDict, Message, Status, by_id, ids_of
from team_console.store.model.names import ALL, USER, check_name, is_name
from team_console.store.model.safe import counted, is_blank
from team_console.store.protocol.kinds import SHUTDOWN_REQUEST
from team_console.store.protocol.message_seal import Seal, message_seal
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import when_created
from team_console.store.protocol.rights import check_permission, check_settings
from team_console.store.protocol.trail_facts import is_answer
from team_console.store.service.caller import Caller, Receipt, receipt
from team_console.store.service.inbox import TrustCheck
from team_console.store.service.writing import (
    NO_CLAIM,
    check_known,
    expanded_recipients,
    leave_as_is,
    roles_now,
    sealed,
)
from team_console.store.settings.team_config import TeamConfig

ROUTER = "@router"
"""`claimed_by` of a message the router is handing over; no agent can have this name."""
_MAX_ERROR = 500
_NO_ATTEMPT: FieldDict = {**NO_CLAIM, "next_attempt_at": None, "ended_at": None}
"""What says that an attempt is under way, is put off or was the last one, taken out of a record."""


class Job(Struct, frozen=True):
    """One message that is due, and whom it is still to be handed to.

    Attributes:
        everyone: All its addressees but the sender, those included whom the router does not serve.
    """

    message: Message
    targets: tuple[str, ...]
    everyone: tuple[str, ...]


def is_served(config: TeamConfig, name: str) -> bool:
    """Return whether the router pushes to `name`: to every agent, but to the human and the lead only by a command.

    People read in the console; a message pushed to a file for them would look delivered and be seen by nobody.
    """
    return bool(config.agent(name).deliver) or name not in (USER, config.lead)


def job_of(config: TeamConfig, members: Callable[[], Collection[str]], message: Message, now: datetime) -> Job | None:
    """Return the job that `message` is now, None when it is not due or nobody is to be served."""
    if not is_due(message, now):
        return None
    everyone = expanded_recipients(members, message)
    done = {*message.read_by, *message.delivered_to} if message.is_group else set()
    targets = tuple(name for name in everyone if name not in done and is_served(config, name))
    return Job(message, targets, everyone) if targets else None


def why_unreachable(config: TeamConfig, members: Callable[[], Collection[str]], name: str) -> str | None:
    """Return why nothing can be handed to `name` at all; None when it can."""
    if not is_name(name):
        return f"{name!r} is not an agent name"
    if config.declared and name not in config.agents and name not in members():
        return f"no agent {name} in team {config.name}"
    return None


def after_attempt(
    job: Job, outcomes: Mapping[str, str | None], now: datetime, *, attempts: int | None = None
) -> Message:
    """Return the message after an attempt; `outcomes` maps each target to its error, or None.

    Args:
        attempts: The number of this attempt, where the message does not count it yet.
    """
    message, at = job.message, to_text(now)
    handed = {**message.delivered_to, **{name: at for name, error in outcomes.items() if error is None}}
    errors = [f"{name}: {error}" if len(job.targets) > 1 else error for name, error in outcomes.items() if error]
    if message.is_group and handed:
        message = message.with_changes(delivered_to=handed)
    if errors:
        return after_failure(message, "; ".join(errors), now, attempts=attempts)
    others = [name for name in job.everyone if name not in handed and name not in message.read_by]
    if message.is_group and others:
        return message.with_changes(status=Status.PENDING.value, attempts=None, error_message=None, **_NO_ATTEMPT)
    number = {} if attempts is None else {"attempts": attempts}
    delivered = {"status": Status.DELIVERED.value, **number, "delivered_at": at, "error_message": None}
    return message.with_changes(**delivered, **_NO_ATTEMPT)


def after_failure(message: Message, error: str, now: datetime, *, attempts: int | None = None) -> Message:
    """Return the message after a failed attempt: to be tried again later, or a dead letter when the tries are used
    up.

    A group message stays `pending` between tries, so that those of its addressees who pull it still can.
    """
    attempts = attempts_of(message) if attempts is None else attempts
    facts = {**_NO_ATTEMPT, "attempts": attempts, "error_message": error[:_MAX_ERROR]}
    if attempts >= max_attempts(message):
        return message.with_changes(**{**facts, "status": Status.FAILED.value, "ended_at": to_text(now)})
    facts["next_attempt_at"] = to_text(now + wait_after(attempts))
    status = Status.PENDING if message.is_group else Status.RETRY
    return message.with_changes(**{**facts, "status": status.value})


# What the router tried: which messages a pass is about, each try with its outcome, and the audit record of both.


class Attempt(Struct, frozen=True):
    """One try to hand a message to one recipient, or what kept a message from being tried.

    Attributes:
        message: As stored after the try.
        error: Why it failed or was left, None when it was handed over.
        is_refused: Whether the table did not let its row change, so that it is as it was.
    """

    message: Message
    recipient: str
    error: str | None
    is_refused: bool = False


class PassResult(Struct):
    """What one pass of the router did.

    Attributes:
        expired: Messages given up because of their age.
        next_due: When the router has something to do again, None when nothing waits.
        skipped: What is on its way and was left where it is, with the reason.
    """

    attempts: list[Attempt] = []
    expired: list[Message] = []
    next_due: datetime | None = None
    skipped: tuple[Attempt, ...] = ()

    @property
    def delivered(self) -> list[Attempt]:
        """The tries that succeeded."""
        return [attempt for attempt in self.attempts if attempt.error is None]

    @property
    def failed(self) -> list[Attempt]:
        """The tries that failed, whether they will be repeated or not."""
        return [attempt for attempt in self.attempts if attempt.error is not None]

    @property
    def words(self) -> str:
        """What was done, as part of a sentence; empty for nothing."""
        counts = ((self.delivered, "delivered"), (self.failed, "failed"), (self.expired, "expired"))
        return ", ".join(f"{counted(len(some), 'message')} {word}" for some, word in counts if some)

    def counts_json(self) -> FieldDict:
        """Return how many messages were delivered, failed and expired as JSON."""
        return {
            "messages_delivered": len(self.delivered),
            "messages_failed": len(self.failed),
            "messages_expired": len(self.expired),
            "delivery_summary": self.summary_json(),
        }

    def summary_json(self) -> list[FieldDict]:
        """Return the deliveries and failures per recipient as JSON, in order of appearance."""
        rows: dict[str, FieldDict] = {}
        for attempt in self.attempts:
            row = rows.setdefault(attempt.recipient, {"recipient": attempt.recipient, "delivered": 0, "failed": 0})
            row["delivered" if attempt.error is None else "failed"] += 1
        return list(rows.values())

    def refused_json(self) -> FieldDict:
        """Return what the table did not let change as JSON, counted and named; nothing where it let all."""
        refused = [left for left in self.attempts if left.is_refused]
        return _named_json("refused", refused) if refused else {}

    def skipped_json(self) -> FieldDict:
        """Return the skipped messages as JSON, counted and named."""
        return _named_json("skipped", self.skipped)


def _named_json(how: str, left: Sequence[Attempt]) -> FieldDict:
    """Return messages that were left, counted and named, each with the reason."""
    rows = [{"message_id": each.message.message_id, "recipient": each.recipient, "reason": each.error} for each in left]
    return {f"messages_{how}": len(rows), how: rows}


class PassScope(Struct, frozen=True):
    """Which messages a pass is about; None means all.

    Attributes:
        limit: Time a command may take, in seconds, instead of its agent's own limit; it may be longer or shorter.
        most: How many messages at most, the oldest ones.
    """

    recipients: Collection[str] | None = None
    ids: Collection[str] | None = None
    limit: float | None = None
    most: int | None = None

    def takes(self, message: Message, targets: Iterable[str]) -> bool:
        """Return whether `message`, to be handed to `targets`, is meant."""
        return (self.ids is None or message.message_id in self.ids) and (
            self.recipients is None or any(name in self.recipients for name in targets)
        )


def members_of(state: TeamState) -> Callable[[], Collection[str]]:
    """Return the names of the members, worked out when first asked for."""
    return cache(lambda: roles_now(state))


def due_jobs(state: TeamState, scope: PassScope) -> list[Job]:
    """Return the due deliveries for the chosen recipients, oldest first and nothing else (decision D4)."""
    names = members_of(state)
    jobs = [job for message in state.everything() if (job := job_of(state.config, names, message, state.now))]
    chosen = [job for job in jobs if scope.takes(job.message, job.targets)]
    return sorted(chosen, key=lambda job: when_created(job.message))


def command_targets(config: TeamConfig, job: Job) -> list[str]:
    """Return the targets of `job` that have a command of their own."""
    return [name for name in job.targets if config.agent(name).deliver]


def push_and_note(
    tx: Transaction,
    job: Job,
    outcomes: Mapping[str, str | None],
    trust: TrustCheck,
    members: Callable[[], Collection[str]],
    *,
    attempts: int | None = None,
) -> list[Attempt]:
    """Push to each target that has no outcome yet, and put all outcomes on the message.

    Args:
        outcomes: Target -> its error, or None.
        attempts: As for `after_attempt`.
    """
    known = dict(outcomes)
    for name in job.targets:
        if name not in known:
            known[name] = why_unreachable(tx.config, members, name)
            if known[name] is None:
                tx.push(name, trust.marked(job.message))
    message = after_attempt(job, known, tx.now, attempts=attempts)
    tx.replace(job.message, message)
    return [Attempt(message, name, error) for name, error in known.items()]


def give_up(tx: Transaction, job: Job, error: str) -> list[Attempt]:
    """Note that the last attempt failed of which nobody knows how it ended."""
    message = after_failure(job.message, error, tx.now)
    tx.replace(job.message, message)
    return [Attempt(message, name, error) for name in job.targets]


def leave_refused_row(tx: Transaction, message: Message, names: Iterable[str], why: str) -> list[Attempt]:
    """Leave a message whose row cannot be changed; no try is spent."""
    left = leave_as_is(tx, message, why)
    return [Attempt(left, name, why, is_refused=True) for name in names]


def record_attempts(tx: Transaction, attempts: Sequence[Attempt]) -> None:
    """Put the outcomes on the audit trail; nothing when there are none."""
    lost = {
        attempt.message.message_id: f"{attempt.recipient}: {attempt.error}"
        for attempt in attempts
        if attempt.error is not None and not attempt.is_refused
    }
    attempts = [attempt for attempt in attempts if not attempt.is_refused]  # each has a line of its own
    if attempts:
        done = dict.fromkeys(attempt.message.message_id for attempt in attempts if attempt.error is None)
        tx.record("deliver", ids=list(done), failed=lost)


# Skipped messages: what a pass of the router left where it is although it is on its way, and why.


def skipped_attempts(snapshot: Snapshot, scope: PassScope, done: PassResult) -> tuple[Attempt, ...]:
    """Return what the pass that ended as `done` left; `snapshot` was taken after it."""
    tried = {(attempt.message.message_id, attempt.recipient) for attempt in done.attempts}
    # With `most`, `ids` are those of the messages that the pass chose; what it left is told, too.
    asked = replace(scope, ids=None) if scope.most is not None else scope
    return tuple(
        Attempt(message, name, _why_left(snapshot, message, name))
        for message in snapshot.messages
        if message.status in ON_ITS_WAY or message.status == Status.CLAIMED
        for name in message.recipients
        if message.is_yet_to_reach(name) and asked.takes(message, [name])
        if (message.message_id, name) not in tried
    )


def _why_left(snapshot: Snapshot, message: Message, name: str) -> str:
    """Return why a message was not handed to this recipient in a pass, in a few words."""
    config: TeamConfig = snapshot.config
    now, put_off, held_until = snapshot.taken_at, next_attempt(message), lease_end(message)
    if not is_served(config, name):
        return "the human reads it in the console" if name == USER else "the lead reads it in the console"
    if is_held(message, now) and held_until is not None:
        holder = message.envelope("claimed_by") or "somebody"
        return f"held by {holder} until {to_text(held_until, milliseconds=False)}"
    if put_off is not None and put_off > now:
        return f"put off until {to_text(put_off, milliseconds=False)}"
    return "not in this batch"


# Failures: what could not be delivered is tried again, sent elsewhere, set aside or taken back by a human.


class Remedy(StrEnum):
    """What can be done about a message that is on its way or got stuck."""

    RETRY = "retry"
    REDIRECT = "redirect"
    DISCARD = "discard"
    RECALL = "recall"


STATUSES_TREATED: Mapping[Remedy, frozenset[str]] = {
    Remedy.RETRY: frozenset({"failed", "expired", "retry"}),
    Remedy.REDIRECT: frozenset({"pending", "failed", "expired", "retry"}),
    Remedy.DISCARD: frozenset({"failed", "expired", "retry", "recalled"}),
    Remedy.RECALL: frozenset({"pending", "retry"}),
}
"""Remedy -> statuses of the messages that it is for."""
_NEVER_TRIED: FieldDict = {
    **_NO_ATTEMPT,
    **dict.fromkeys(("attempts", "retry_count", "error_message", "recalled_at")),
}
"""All that earlier attempts left in a record, taken out of it."""


class RemedyForecast(Struct, frozen=True):
    """What a remedy would do now.

    Attributes:
        possible: The messages it would be applied to.
        refused: Message id -> why not.
    """

    remedy: Remedy
    possible: tuple[Message, ...]
    refused: Mapping[str, str]


def remedy_forecast(caller: Caller, remedy: Remedy, ids: Sequence[str]) -> RemedyForecast:
    """Look, without the lock, which of the messages the remedy fits; the action judges again.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    snapshot = caller.team.snapshot().require_known()
    live = by_id(snapshot.messages)
    possible, refused = [], {}
    for message_id in dict.fromkeys(ids):
        try:
            possible.append(_require_fit(snapshot, remedy, message_id, live.get(message_id), caller.actor))
        except TeamError as error:
            refused[message_id] = error.message
    return RemedyForecast(remedy, tuple(possible), refused)


def apply_remedy(caller: Caller, remedy: Remedy, ids: Sequence[str], *, to: str = "", reason: str = "") -> Receipt:
    """Apply the remedy to those of the messages that it fits; of the others the receipt warns.

    - `RETRY`: failed, expired or put off -> pending, with all its tries again and a new expiry clock.
    - `REDIRECT`: undelivered messages go to another agent; id, sender and content stay.
    - `DISCARD`: dead letters leave the queue and stay readable in the history of whom they were for.
    - `RECALL`: taken back before anybody got it: it ends as recalled, or as delivered, never both.

    Args:
        to: The agent that a redirection goes to.
        reason: Why messages are discarded.

    Raises:
        TeamError: `INVALID_FIELD` or `NOT_PERMITTED` (saying who has it since when) of the first message when it fits
            none of them; `MISSING_REASON`, `AGENT_NOT_FOUND`, `INVALID_NAME`.
    """
    if remedy is Remedy.REDIRECT:
        to = check_name(to, field="to")
    elif remedy is Remedy.DISCARD and is_blank(reason):
        raise TeamError(Code.MISSING_REASON, "discarding needs a reason", "Give it with --reason TEXT.")
    facts = {key: value for key, value in (("to", to), ("reason", reason)) if value}
    changed: list[Message] = []
    before: dict[str, str] = {}
    refusals: dict[str, TeamError] = {}
    with caller.transaction(str(remedy)) as tx:
        for message_id in dict.fromkeys(ids):
            try:
                message = _require_fit(tx, remedy, message_id, tx.get(message_id), caller.actor)
                changed.append(_apply_to(tx, message, remedy, to))
                before[message_id] = message.status
            except TeamError as error:
                refusals[message_id] = error
        if changed:
            tx.record(str(remedy), ids=ids_of(changed), before=before, **facts)
    if refusals and not changed:
        raise next(iter(refusals.values()))
    return receipt(tx, str(remedy), changed, (error.message for error in refusals.values()))


def _apply_to(tx: Transaction, message: Message, remedy: Remedy, to: str) -> Message:
    """Make the change of a remedy, and return the message as it is then."""
    if remedy is Remedy.DISCARD:
        archive_and_remove(tx, message)
        return message
    at = to_text(tx.now)
    changes = {**_NEVER_TRIED, "status": Status.PENDING.value, "next_attempt_at": at}
    if remedy is Remedy.RECALL:
        changes |= {"status": Status.RECALLED.value, "recalled_at": at, "next_attempt_at": None}
    if remedy is Remedy.REDIRECT:
        check_known(tx, [to])
        check_permission(tx.config, sender=message.sender, recipient=to, type=parse_message(message).name)
        # Whichever field its writer named the recipient by: `to` takes its place.
        changes |= dict.fromkeys(("recipient", "to_agent", "to_agents"))
        changes |= {"to": to, "redirected_from": message.recipients[0]}
    changed = message.with_changes(**changes)
    if remedy is Remedy.REDIRECT and message_seal(message, tx.config.key) is Seal.SIGNED:
        changed = sealed(tx, changed)
    tx.replace(message, changed)
    return changed


def archive_and_remove(tx: Transaction, message: Message) -> None:
    """Take a message out of the queue, into the history of its recipients first (decision D12)."""
    owners = [name for name in message.recipients if is_name(name) and name != ALL]
    for name in owners or [tx.config.lead]:
        tx.archive(name, message)
    tx.remove(message)


def _require_fit(state: TeamState, remedy: Remedy, message_id: str, message: Message | None, actor: str) -> Message:
    """Return a message that the remedy fits as it is now.

    Refused is first who may not do it, then what somebody has already, then what cannot go to anybody else, and last a
    status that the remedy is not for.

    Raises:
        TeamError: As for `apply_remedy`.
    """
    config = state.config
    if message is None:
        hint = "List failed ones with: team-console failures. Others may be archived: team-console history --grep ID."
        raise TeamError(Code.INVALID_FIELD, f"no message {message_id} in the queue", hint)
    if actor not in (config.lead, USER, message.sender):
        who = f"its sender {message.sender} or the lead {config.lead}"
        raise _not_permitted(f"{message_id}: only {who} may {remedy} it", "Ask one of them.")
    if config.lost and actor != message.sender:
        check_settings(config, f"{remedy} what others sent")
    if is_held(message, state.now):
        holder = str(message.envelope("claimed_by")).removeprefix("@")
        until = f"until {message.envelope('lease_until')}"
        raise _not_permitted(f"{message_id} is with {holder} {until}", "Wait for the outcome.")
    if message.is_group and (message.read_by or message.delivered_to) and remedy is not Remedy.RETRY:
        names = ", ".join({**message.delivered_to, **message.read_by})
        raise _not_permitted(f"{message_id} has already reached {names}", "Send a message to the others.")
    if message.is_group and remedy is Remedy.REDIRECT:
        raise _not_permitted(f"{message_id} is for a group", "Send the message again to those who need it.")
    # guard: order-stops-nobody-else
    if remedy is Remedy.REDIRECT and message.type == SHUTDOWN_REQUEST:
        hint = "Recall it, and ask the other agent with: team-console shutdown NAME"
        raise _not_permitted(f"{message_id} asks {message.recipients[0]} itself to stop", hint)
    if remedy is Remedy.REDIRECT and is_answer(message):
        # What is on record of it says whom it is for, and nobody else can act on it.
        hint = "Retry it or discard it, and write to the other agent."
        raise _not_permitted(f"{message_id} answers what {message.recipients[0]} asked", hint)
    # A claim that holds was refused above: one whose lease is over waits like any other message.
    status = Status.PENDING.value if message.status == Status.CLAIMED else message.status
    if status not in STATUSES_TREATED[remedy]:
        at = message.envelope(f"{message.status}_at")
        allowed = ", ".join(sorted(STATUSES_TREATED[remedy]))
        hint = f"Only messages that are {allowed} can be treated with {remedy}."
        raise _not_permitted(f"{message_id} is {message.status}{f' since {at}' if at else ''}", hint)
    return message


def _not_permitted(message: str, hint: str) -> TeamError:
    return TeamError(Code.NOT_PERMITTED, message, hint)
