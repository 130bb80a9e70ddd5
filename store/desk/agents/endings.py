"""Endings: an agent whose end was approved is asked to stop, and whoever must know hears of it once it has stopped.

Steps 9 to 11 of seed 002: the shutdown_request quotes the request for the end; AGENT_DESTROYED and the roster follow
when the agent agreed or the time for its answer is over. No process waits for that: whatever is written next by the
agent itself, by the lead or by the router finds what has come to its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from team_console.store.contract.transaction import Transaction
from team_console.store.desk.agents.roster import conclude, residents_of, tell_residents
from team_console.store.desk.draft import Draft, check_known, new_request_id, write
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER, is_name
from team_console.store.protocol.checks.team_rules import ending_problem
from team_console.store.protocol.checks.values import named
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.kinds.registry import CARRIERS
from team_console.store.protocol.kinds.templates import phrase
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.membership import known
from team_console.store.protocol.relations.stops import REQUEST, RESPONSE, has_stopped
from team_console.store.protocol.verdicts.statement import SIGNATURE
from team_console.store.protocol.verdicts.trust import ORDERED, objection
from team_console.store.settings.team_config import TeamConfig


class Asked(Struct, frozen=True):
    """The latest shutdown_request that was sent for an ending.

    Attributes:
        answer: What the agent said to it: None nothing yet, else whether it agreed.
        due: When the time for an answer is over.
    """

    order: Message
    answer: bool | None
    due: datetime


def doomed(config: TeamConfig, question: Message) -> str:
    """The agent whose end is asked for.

    Raises:
        TeamError: `INVALID_FIELD` when the request names none that could be ended.
    """
    agent = reading(question).subject
    if agent is None or not is_name(agent) or agent in (ALL, USER, config.lead):
        text = f"agent_name: {named(agent)} is no agent that could be ended"
        raise TeamError(Code.INVALID_FIELD, text, "Refuse the request with a reason.")
    return agent


def approve_ending(tx: Transaction, actor: str, question: Message, note: str | None) -> list[Message]:
    """Ask the agent to stop, or confirm its end where it has stopped or did not answer in time; what was written.

    Raises:
        TeamError: `INVALID_FIELD`, `AGENT_NOT_FOUND`, or `ALREADY_ANSWERED` while the agent may still answer.
    """
    agent = doomed(tx.config, question)
    check_known(tx, [agent])
    asked = asked_for(tx, question)
    if asked is not None and asked.answer is None and tx.now < asked.due:
        raise TeamError(
            Code.ALREADY_ANSWERED,
            f"{question.message_id} was already approved by {asked.order.sender} at {asked.order.created}; "
            f"{agent} has until {to_text(asked.due, milliseconds=False)} to answer",
            "AGENT_DESTROYED follows when it has answered, or after that time.",
            request_id=question.message_id,
            answered_by=asked.order.sender,
            answered_at=asked.order.created,
        )
    is_over = asked is not None and asked.answer is not False
    if is_over or agent in has_stopped(tx.config, tx.everything()):
        return confirm(tx, actor, question, agent, note)
    return [_order(tx, actor, question, agent, note)]


def finish_endings(tx: Transaction) -> list[Message]:
    """Confirm every approved ending whose agent has stopped or did not answer in time; what was written.

    Written in the name of whoever approved it, and on record as such; nothing when nothing has come to its end.
    """
    written: list[Message] = []
    for question, asked in _unconfirmed(tx):
        agent = doomed(tx.config, question)
        if asked.answer or (asked.answer is None and tx.now >= asked.due):
            messages = confirm(tx, asked.order.sender, question, agent, None, order=asked.order)
            ids = [message.message_id for message in messages]
            tx.record("confirm_end", request_id=question.message_id, agent=agent, by=asked.order.sender, ids=ids)
            written += messages
    return written


def next_ending(messages: Sequence[Message], config: TeamConfig) -> datetime | None:
    """When the next approved ending is to be confirmed, as far as the live messages tell; None when none waits.

    A moment of the past where the agent has agreed already and nobody has confirmed it.
    """
    orders = [
        message
        for message in messages
        if message.type == REQUEST and isinstance(message.payload.get("in_reply_to"), str)
    ]
    if not orders:
        return None
    said = {
        reading(message).request_id: reading(message).approve
        for message in reversed(messages)
        if message.type == RESPONSE
    }
    confirmed = {reading(message).request_id for message in messages if _confirms(message)}
    latest = {order.payload["in_reply_to"]: order for order in orders}
    moments = (
        order.created_at if said.get(order.request_id) else _due(config, order)
        for question_id, order in latest.items()
        if question_id not in confirmed and said.get(order.request_id) is not False
    )
    return min((moment for moment in moments if moment is not None), default=None)


def told(config: TeamConfig, messages: Sequence[Message], question: Message) -> tuple[str, ...]:
    """What an approval of this ending will do, as sentences: whose end, who hears of it and when."""
    agent = doomed(config, question)
    residents = residents_of(config, messages, without=agent)
    seconds = config.overdue_seconds.get("shutdown", 15.0)
    odd = ending_problem(config, known(config, messages), agent)
    roster = f", the roster to {', '.join(residents)}," if residents else ""
    asks = f"{agent} is asked to stop; AGENT_DESTROYED goes to {question.sender}{roster}"
    return (*((odd,) if odd else ()), f"{asks} when it has answered, or after {seconds:g} s")


def asked_for(tx: Transaction, question: Message) -> Asked | None:
    """The latest request to stop that was sent because of this question."""
    orders = [
        order
        for order in tx.select(types=(REQUEST,))
        if _quotes(order, question) and not objection(tx.config, order, question)
    ]
    return _asked(tx, orders[-1]) if orders else None


def confirm(
    tx: Transaction, actor: str, question: Message, agent: str, note: str | None, *, order: Message | None = None
) -> list[Message]:
    """AGENT_DESTROYED to the asker, the roster without the agent to every resident, and the question is closed.

    Args:
        order: What a human signed to have the agent stopped; whoever comes by after it writes the confirmation.
    """
    more, outcome = _ordered(order) if order is not None else {}, "{} has left the team"
    body = {"agent_name": agent}
    told = conclude(tx, actor, question, "AGENT_DESTROYED", outcome, agent, body, note=note, more=more)
    return [*told, *tell_residents(tx, actor, left=agent)]


def _ordered(order: Message) -> dict[str, Any]:
    """The signed order, as it says what was decided; nothing of one that is not signed."""
    said = {key: order.record[key] for key in ("message_id", "type", "from", "to", "created", "payload")}
    return {ORDERED: said} if SIGNATURE in order.payload else {}


def _order(tx: Transaction, actor: str, question: Message, agent: str, note: str | None) -> Message:
    payload = {
        "request_id": new_request_id(tx, "shutdown", agent),
        "in_reply_to": question.message_id,
        "content": note or phrase(tx.config.language, "Your work is done; {} asked for your end.", question.sender),
    }
    messages, _ = write(tx, Draft("shutdown_request", actor, (agent,), payload), [agent])
    return messages[0]


def _unconfirmed(tx: Transaction) -> list[tuple[Message, Asked]]:
    """Endings that the lead approved and nobody confirmed, each with its latest request to stop."""
    orders = [order for order in tx.select(types=(REQUEST,)) if isinstance(order.payload.get("in_reply_to"), str)]
    latest = {
        order.payload["in_reply_to"]: order
        for order in orders
        if order.sender == tx.config.lead and not objection(tx.config, order)
    }
    if not latest:
        return []
    live = {reading(message).request_id for message in tx.select(types=CARRIERS) if _confirms(message)}
    found = []
    for question_id, order in latest.items():
        question = None if question_id in live else tx.known(question_id)
        if question is not None and reading(question).opens is RequestKind.DESTROY and not _is_answered(tx, question):
            found.append((question, _asked(tx, order)))
    return found


def _is_answered(tx: Transaction, question: Message) -> bool:
    lead = tx.config.lead
    thread = tx.thread(question.message_id)
    replies = [item for item in thread if item.sender == lead and not objection(tx.config, item, question)]
    return any(_confirms(message) or reading(message).approve is False for message in replies)


def _asked(tx: Transaction, order: Message) -> Asked:
    agent = order.recipients[0]
    answer = next(
        (
            read.approve
            for message in tx.thread(order.request_id or "")
            if message.sender == agent
            and (read := reading(message)).name == RESPONSE
            and read.approve is not None
            and not objection(tx.config, message, order)
        ),
        None,
    )
    return Asked(order, answer, _due(tx.config, order) or tx.now)


def _quotes(order: Message, question: Message) -> bool:
    return order.payload.get("in_reply_to") == question.message_id


def _confirms(message: Message) -> bool:
    return message.type in CARRIERS and message.content.startswith("AGENT_DESTROYED")


def _due(config: TeamConfig, order: Message) -> datetime | None:
    asked_at = order.created_at
    return None if asked_at is None else asked_at + timedelta(seconds=config.overdue_seconds.get("shutdown", 15.0))
