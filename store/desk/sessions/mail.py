"""Mail for agents that do not ask: handed to their client's session, once, and read when that session goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from team_console.store.contract.team import OUTCOME_UNKNOWN
from team_console.store.contract.transaction import Transaction
from team_console.store.desk.caller import Caller
from team_console.store.desk.delivery.delivery_state import Job, addressees, with_outcome
from team_console.store.desk.draft import current_members
from team_console.store.desk.wanted import Wanted, reserve_waiting
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message, Priority
from team_console.store.settings.team_config import TeamConfig

_URGENT = (Priority.CRITICAL, Priority.HIGH)


def is_urgent(message: Message, config: TeamConfig) -> bool:
    """Whether a message is for the middle of the work: high or critical, by the team's own order if it has one."""
    least = max((config.ranks.get(word, number) for number, word in enumerate(_URGENT, start=1)), default=0)
    return config.ranks.get(message.priority, message.rank) <= least


def mail_waiting(caller: Caller) -> tuple[Message, ...] | None:
    """What waits for the actor, most urgent first, without a lock; None when that takes a lock to tell."""
    team = caller.team
    look = team.addressed(caller.actor)
    if look is None:
        return None
    config = team.config()
    waiting = Wanted(caller.actor, delivered=True).among(look.messages, team.clock(), config.ranks)
    return tuple(message for message in waiting if caller.actor not in message.handed_to)


def hand_over(
    caller: Caller, *, session: str, room: int, size: Callable[[Message], int], urgent: bool = False
) -> tuple[Message, ...]:
    """Mark what waits for the actor as delivered to this session, most urgent first; each message once.

    What the router has pushed to a file counts as waiting: no client looks there.

    Args:
        room: How much of it fits; the first message is handed over however long it is.
        size: How much one message takes.
        urgent: Only what is for the middle of the work.

    Raises:
        TeamError: The store's own.
    """
    waiting = mail_waiting(caller)
    if waiting is not None and not _chosen(waiting, caller.team.config(), room, size, urgent):
        return ()
    handed: list[Message] = []
    try:
        with caller.team.claims(actor=caller.actor, action="hand_over", wait=caller.wait) as tx:
            taken = reserve_waiting(tx, Wanted(caller.actor, delivered=True))
            fresh = [message for message in taken if caller.actor not in message.handed_to]
            chosen = _chosen(fresh, tx.config, room, size, urgent)
            handed = [_delivered(tx, message, caller.actor, session) for message in chosen]
            if handed:
                ids = [message.message_id for message in handed]
                tx.record("hand_over", agent=caller.actor, session=session, ids=ids)
    except TeamError as error:
        # What is on record as handed over never comes again. Where nobody can tell, twice is better than never.
        if not (handed and error.facts.get(OUTCOME_UNKNOWN)):
            raise
    return tuple(handed)


def handed_elsewhere(caller: Caller, *, session: str) -> tuple[Message, ...]:
    """What was handed to another session of the actor, which ended before it showed that it had been read."""
    look = caller.team.addressed(caller.actor)
    messages = look.messages if look is not None else caller.team.snapshot().messages
    name = caller.actor
    return tuple(
        message
        for message in messages
        if message.is_delivered_to(name) and message.handed_to.get(name, session) != session
    )


def _chosen(
    waiting: Sequence[Message], config: TeamConfig, room: int, size: Callable[[Message], int], urgent: bool
) -> list[Message]:
    chosen: list[Message] = []
    for message in waiting:
        if urgent and not is_urgent(message, config):
            continue
        room -= size(message)
        if room < 0 and chosen:
            break
        chosen.append(message)
    return chosen


def _delivered(tx: Transaction, message: Message, agent: str, session: str) -> Message:
    everyone = addressees(lambda: current_members(tx), message)
    job = Job(message, (agent,), everyone)
    changed = with_outcome(job, {agent: None}, tx.now)
    changed = changed.with_changes(handed_to={**message.handed_to, agent: session}, claimed_at=None)
    tx.replace(message, changed)
    return changed
