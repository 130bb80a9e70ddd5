"""Creation of agents by the Master: the answer, the name, the roster told; and the trigger of a course correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from team_console.store.contract.transaction import Transaction
from team_console.store.desk.advice import advise
from team_console.store.desk.agents.roster import (
    composed,
    conclude,
    free_name,
    residents_of,
    scrum_master,
    tell_residents,
)
from team_console.store.desk.agents.spawn import hold, let_go, refuse_held, start_agent
from team_console.store.desk.answering.questions import open_question
from team_console.store.desk.caller import Caller, Receipt
from team_console.store.desk.draft import Draft, write
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import check_name
from team_console.store.protocol.checks.values import named
from team_console.store.protocol.kinds.templates import phrase
from team_console.store.protocol.reading import reading
from team_console.store.protocol.seen import Seen
from team_console.store.settings.team_config import TeamConfig

CORRECTION_REASONS = ("user_request", "repeated_failures", "new_requirements")
"""Why a course correction may be triggered (`REQUIREMENTS.md` B.4)."""


def announce(
    tx: Transaction,
    actor: str,
    question: Message,
    *,
    agent_name: str | None = None,
    started: str | None = None,
    note: str | None = None,
) -> tuple[str, list[Message]]:
    """Create the agent that was asked for: AGENT_CREATED to the asker, the full roster to every resident.

    Args:
        agent_name: A free name; without it the agent type and a number.
        started: The name under which a spawn command has started it already.

    Returns:
        The agent's name and what was written.

    Raises:
        TeamError: `INVALID_NAME` for a name that is taken, `STORE_LOCKED` while another console starts the agent.
    """
    read = reading(question)
    if started is None:
        refuse_held(question, tx)
    name = started or free_name(tx.config, tx.everything(), agent_name, agent_type=read.subject)
    body = {"agent_name": name, "agent_type": read.subject or name}
    told = conclude(tx, actor, question, "AGENT_CREATED", "{} is ready", name, body, note=note)
    return name, [*told, *tell_residents(tx, actor, arrived=name)]


def start(caller: Caller, *, request_id: str, agent_name: str | None = None, seen: Seen | str | None = None) -> str:
    """Hold the question, run the spawn command without the lock, and give back the agent's name.

    Two consoles never start two agents for one request.

    Raises:
        TeamError: As for `announce`, or `SPAWN_FAILED` with the request still open.
    """
    config = caller.team.config()
    if config.distrust:
        hint = "The request stays open: let nobody else write the settings and their folder."
        raise TeamError(Code.SPAWN_FAILED, f"the spawn command is not run: {config.distrust}", hint)
    limit = config.overdue_seconds.get("create", 60.0)
    with caller.team.transaction(actor=caller.actor, action="spawn", wait=caller.wait) as tx:
        question = open_question(tx, request_id, actor=caller.actor, seen=seen).question.message
        refuse_held(question, tx)
        name = free_name(tx.config, tx.everything(), agent_name, agent_type=reading(question).subject)
        facts = _facts(caller, question, name)
        hold(tx, question, actor=caller.actor, seconds=limit)
        tx.record("spawn", request_id=request_id, agent=name)
    try:
        start_agent(config.spawn, facts=facts, limit=limit)
    except BaseException as error:
        with caller.team.transaction(actor=caller.actor, action="spawn", wait=caller.wait) as tx:
            if let_go(tx, question.message_id):
                tx.record("spawn_failed", request_id=request_id, agent=name, error=str(error))
        raise
    return name


def told(config: TeamConfig, messages: Sequence[Message], question: Message, agent_name: str | None) -> tuple[str, ...]:
    """What an approval of this creation will do, as sentences.

    Raises:
        TeamError: `INVALID_NAME` for a name that is taken or cannot be one.
    """
    name = free_name(config, messages, agent_name, agent_type=reading(question).subject)
    residents = residents_of(config, messages)
    roster = f", the roster to {', '.join(residents)}" if residents else "; there are no residents to tell the roster"
    return (f"{name} is created; AGENT_CREATED goes to {question.sender}{roster}",)


def trigger_course_correction(
    caller: Caller,
    *,
    user_input: str,
    reason: str = "user_request",
    current_batch_id: str | int | None = None,
    added_stories: Sequence[str] = (),
    dropped_stories: Sequence[str] = (),
) -> Receipt:
    """Send CC_TRIGGER to the scrum master (requirement 185).

    Raises:
        TeamError: `INVALID_FIELD` for an unknown reason or a text above 2,000 characters, `MISSING_CONTENT` for an
            empty one, `AGENT_NOT_FOUND` when the team has no scrum master, `NOT_PERMITTED` for anyone but the lead.
    """
    if reason not in CORRECTION_REASONS:
        text = f"reason: {named(reason)} is none of {', '.join(CORRECTION_REASONS)}"
        raise TeamError(Code.INVALID_FIELD, text, "Use one of them.")
    if not user_input.strip():
        raise TeamError(Code.MISSING_CONTENT, "the course correction says nothing", "Say what should change.")
    body: dict[str, Any] = {"reason": reason, "user_input": user_input, "current_batch_id": current_batch_id}
    given = {"added_stories": list(added_stories), "dropped_stories": list(dropped_stories)}
    body.update({key: value for key, value in given.items() if value})
    with caller.team.transaction(actor=caller.actor, action="course_correction", wait=caller.wait) as tx:
        summary = phrase(tx.config.language, "{}: {}", phrase(tx.config.language, "Course correction"), user_input)
        payload = {"summary": summary[:120], "content": composed("CC_TRIGGER", body)}
        draft = Draft("message", caller.actor, (scrum_master(tx),), payload)
        warnings = draft.check(tx.config)
        messages, _ = write(tx, draft, draft.to)
        warnings += advise(tx, messages)
        tx.record(
            "course_correction", ids=[message.message_id for message in messages], to=list(draft.to), reason=reason
        )
    return Receipt("course_correction", tuple(messages), tuple(warnings), notices=tuple(tx.notices))


def _facts(caller: Caller, question: Message, name: str) -> Mapping[str, str]:
    body = reading(question).body
    return {
        "agent_name": name,
        "agent_type": check_name(body.get("agent_type"), field="agent_type"),
        "role_hint": str(body.get("role_hint", "")),
        "requested_by": question.sender,
        "team": caller.team.location,
    }
