"""Endings: an agent whose end was approved is asked to stop, and whoever must know hears of it once it has stopped.

Steps 9 to 11 of seed 002: the shutdown_request quotes the request for the end; AGENT_DESTROYED and the roster follow
when the agent agreed or the time for its answer is over. No process waits for that: whoever writes next, the router or
an open console finds what has come to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import Transaction
from team_console.store.desk.agents.roster import conclude, residents_of, tell_residents
from team_console.store.desk.caller import Caller
from team_console.store.desk.draft import Draft, check_known, new_request_id, write
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER, is_name
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.checks.team_rules import ending_problem
from team_console.store.protocol.checks.values import named
from team_console.store.protocol.entries import EARLIEST
from team_console.store.protocol.judgement import Case, judge, with_bearing
from team_console.store.protocol.kinds.registry import CARRIERS
from team_console.store.protocol.kinds.templates import phrase
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.membership import known
from team_console.store.protocol.relations.stops import REQUEST, has_stopped
from team_console.store.protocol.verdicts.statement import SIGNATURE
from team_console.store.protocol.verdicts.trust import ORDERED
from team_console.store.settings.team_config import TeamConfig


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
    """Ask the agent to stop, or confirm its end where it has stopped already; what was written.

    Raises:
        TeamError: `INVALID_FIELD` or `AGENT_NOT_FOUND`.
    """
    agent = doomed(tx.config, question)
    check_known(tx, [agent])
    if agent in has_stopped(tx.config, tx.everything(), tx.recorded):
        return confirm(tx, actor, question, agent, note)
    return [_order(tx, actor, question, agent, note)]


def finish_endings(tx: Transaction) -> list[Message]:
    """Confirm every approved ending whose agent has stopped or did not answer in time; what was written.

    Written in the name of whoever approved it, and on record as such; nothing when nothing has come to its end.
    """
    if not any(_is_for_end(order) for order in tx.select(types=(REQUEST,))):
        return []
    written: list[Message] = []
    for case, order, due in _unconfirmed(tx.everything(), tx.config, tx.recorded, tx.now):
        if due <= tx.now:
            question, agent = case.question.message, doomed(tx.config, case.question.message)
            messages = confirm(tx, order.sender, question, agent, None, order=order)
            ids = [message.message_id for message in messages]
            tx.record("confirm_end", request_id=question.message_id, agent=agent, by=order.sender, ids=ids)
            written += messages
    return written


def finish_due(caller: Caller, snapshot: Snapshot) -> bool:
    """Confirm approved endings that have come to their end; the lock is taken only for one. Whether there was one."""
    due = next_ending(snapshot)
    if due is None or due > caller.team.clock() or caller.team.read_only:
        return False
    with caller.team.transaction(actor=caller.actor, action="confirm_end", wait=caller.wait) as tx:
        return bool(finish_endings(tx))


def next_ending(snapshot: Snapshot) -> datetime | None:
    """When the next approved ending is to be confirmed; None when none waits.

    A moment of the past where the agent has agreed already and nobody has confirmed it.
    """
    if not any(message.type == REQUEST and _is_for_end(message) for message in snapshot.messages):
        return None
    waiting = _unconfirmed(snapshot.messages, snapshot.config, snapshot.recorded, snapshot.taken_at)
    return min((due for _, _, due in waiting), default=None)


def told(
    config: TeamConfig, messages: Sequence[Message], question: Message, recorded: RecordedFacts | None
) -> tuple[str, ...]:
    """What an approval of this ending will do, as sentences: whose end, who hears of it and when."""
    agent = doomed(config, question)
    residents = residents_of(config, messages, without=agent)
    seconds = config.overdue_seconds["shutdown"]
    odd = ending_problem(config, known(config, messages), agent)
    roster = f", the roster to {', '.join(residents)}," if residents else ""
    follows = f"AGENT_DESTROYED goes to {question.sender}{roster}"
    if agent in has_stopped(config, messages, recorded):
        does = f"{agent} has stopped already; {follows} at once"
    else:
        does = f"{agent} is asked to stop; {follows} when it has answered, or after {seconds:g} s"
    return (*((odd,) if odd else ()), does)


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
        "content": note or _because(tx.config.language, question, agent),
        **({"note": note} if note else {}),
    }
    messages, _ = write(tx, Draft("shutdown_request", actor, (agent,), payload), [agent])
    return messages[0]


def _because(language: str, question: Message, agent: str) -> str:
    if question.sender == agent:
        return phrase(language, "Your work is done, as you reported.")
    return phrase(language, "Your work is done; {} asked for your end.", question.sender)


def _unconfirmed(
    messages: Sequence[Message], config: TeamConfig, recorded: RecordedFacts | None, now: datetime
) -> Iterator[tuple[Case, Message, datetime]]:
    """Endings that were approved and nobody confirmed, each with the order to stop and when it is to be confirmed."""
    ended = {reading(message).request_id for message in messages if _confirms(message)}
    orders = [item for item in messages if item.type == REQUEST and _is_for_end(item)]
    agents = {item.recipients[0] for item in orders if item.payload["in_reply_to"] not in ended}
    if not agents:
        return
    about = with_bearing(orders, lambda: messages)
    for case in judge(about, config, recorded, now).values():
        if case.ending is not None and case.ends in agents:
            has_agreed = case.ending.verdict is not None
            yield case, case.ending.question.message, EARLIEST if has_agreed else case.ending.due_at or EARLIEST


def _is_for_end(order: Message) -> bool:
    """Whether an order to stop was given because of a request for the agent's end."""
    return isinstance(order.payload.get("in_reply_to"), str)


def _confirms(message: Message) -> bool:
    return message.type in CARRIERS and message.content.startswith("AGENT_DESTROYED")
