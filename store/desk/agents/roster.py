"""Who is in the team, as the Master tells the residents, and which names are free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from team_console.store.contract.transaction import Transaction
from team_console.store.desk.agents.spawn import let_go
from team_console.store.desk.answering.questions import close_question
from team_console.store.desk.caller import Caller, Receipt
from team_console.store.desk.draft import Draft, write
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER, check_name, is_name, refuse_case_twin
from team_console.store.protocol.checks.values import named
from team_console.store.protocol.kinds.directions import SM, classes_of
from team_console.store.protocol.kinds.registry import CARRIERS
from team_console.store.protocol.kinds.templates import phrase
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.membership import members
from team_console.store.settings.team_config import TeamConfig

_LONGEST_BASE = 56


def composed(name: str, body: Mapping[str, Any]) -> str:
    """The content of a sprint message; pydantic is imported only when one is written."""
    from team_console.store.protocol.checks.sprint_text import compose

    return compose(name, body)


def tell_residents(
    tx: Transaction, sender: str, *, arrived: str | None = None, left: str | None = None
) -> list[Message]:
    """The complete roster, one single message to each resident and to nobody else (requirements 169, 176, 178, 180)."""
    roles = {name: role for name, role in members(tx.config, tx.everything()).items() if name != left}
    if arrived is not None:
        roles[arrived] = "temp"
    lists = {
        f"{role}s": [name for name, item in roles.items() if item == role] for role in ("resident", "slave", "temp")
    }
    residents = lists["residents"]
    if not residents:
        return []
    body = {"session_id": _session(tx), "roster": lists}
    say = partial(phrase, tx.config.language)
    change = say("{} is in the team now", arrived) if arrived else say("{} left the team", left) if left else ""
    change = change or say("who is in the team now")
    payload = {"summary": say("{}: {}", say("Roster"), change), "content": composed("AGENT_ROSTER_BROADCAST", body)}
    draft = Draft("message", sender, tuple(residents), payload)
    draft.check(tx.config)
    return write(tx, draft, residents)[0]


def send_roster(caller: Caller) -> Receipt:
    """Send every resident the complete roster as it is now.

    Raises:
        TeamError: `AGENT_NOT_FOUND` in a team without residents, `NOT_PERMITTED` for anyone but the lead.
    """
    with caller.team.transaction(actor=caller.actor, action="roster", wait=caller.wait) as tx:
        messages = tell_residents(tx, caller.actor)
        if not messages:
            text = f"team {tx.config.name} has no residents to tell the roster"
            raise TeamError(Code.AGENT_NOT_FOUND, text, "A resident is a member with the role resident.")
        to = [message.recipients[0] for message in messages]
        tx.record("roster", ids=[message.message_id for message in messages], to=to)
    return Receipt("roster", tuple(messages), notices=tuple(tx.notices))


def conclude(
    tx: Transaction,
    actor: str,
    question: Message,
    name: str,
    outcome: str,
    agent: str,
    body: Mapping[str, Any],
    *,
    note: str | None,
    more: Mapping[str, Any] | None = None,
) -> list[Message]:
    """Tell the asker in the sprint message `name` that its agent is there or gone, and close the question."""
    body = {**body, "in_reply_to": question.message_id, **({"note": note} if note else {})}
    summary, content = f"{name}: {phrase(tx.config.language, outcome, agent)}", composed(name, body)
    payload = {"request_id": question.message_id, "summary": summary, "content": content, **(more or {})}
    draft = Draft("message", actor, (question.sender,), payload)
    draft.check(tx.config)
    messages, _ = write(tx, draft, draft.to)
    let_go(tx, question.message_id)
    close_question(tx, question, actor=actor)
    return messages


def residents_of(config: TeamConfig, messages: Sequence[Message], *, without: str | None = None) -> tuple[str, ...]:
    """Who is told the roster: every resident but the one that is leaving."""
    roles = members(config, messages)
    return tuple(name for name, role in roles.items() if role == "resident" and name != without)


def _session(tx: Transaction) -> str:
    """The sprint session that the newest message speaks of, else the team's name: an empty one tells nobody which."""
    for message in reversed(tx.everything()):
        if message.type in CARRIERS:
            session = reading(message).body.get("session_id")
            if isinstance(session, str) and session:
                return session
    return tx.config.name


def scrum_master(tx: Transaction) -> str:
    """The resident scrum master.

    Raises:
        TeamError: `AGENT_NOT_FOUND`.
    """
    roles = members(tx.config, tx.everything())
    for name in roles:
        if classes_of(name, roles=roles, lead=tx.config.lead) == {SM}:
            return name
    text = f"team {tx.config.name} has no scrum master"
    raise TeamError(Code.AGENT_NOT_FOUND, text, "A course correction goes to the resident scrum-master.")


def free_name(config: TeamConfig, messages: Sequence[Message], wanted: str | None, *, agent_type: str | None) -> str:
    """The wanted name when nobody has it, else the agent type with the first free number.

    Raises:
        TeamError: `INVALID_NAME` for a name that is taken or cannot be a name.
    """
    taken = {*members(config, messages), *config.agents}
    if wanted is not None:
        wanted = check_name(wanted, field="agent_name")
        if wanted in taken:
            raise TeamError(Code.INVALID_NAME, f"agent_name: {wanted} is already in the team", "Choose another name.")
        refuse_case_twin(wanted, (ALL, USER, *taken), field="agent_name")
        return wanted
    base = agent_type or ""
    if not is_name(base) or len(base) > _LONGEST_BASE:
        text = f"agent_type: {named(base)} cannot become a name"
        raise TeamError(Code.INVALID_NAME, text, "Refuse the request, or name the agent yourself.")
    taken |= {name for message in messages for name in (message.sender, *message.recipients)}
    number = 1
    while f"{base}-{number}" in taken:
        number += 1
    return f"{base}-{number}"
