"""Agents by the Master: created by a spawn command or by hand, told to the residents, asked to stop, ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial

from team_console.store.contract.snapshot import Snapshot, TeamState
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.delivery_schedule import lease_end
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import FieldDict, Fields, Message, Status, ids_of
from team_console.store.model.names import ALL, USER, check_name, is_name, refuse_case_twin
from team_console.store.model.safe import safe_line
from team_console.store.protocol.agent_stops import stopped_agents
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.protocol.judgement import with_bearing
from team_console.store.protocol.kinds import SHUTDOWN_REQUEST
from team_console.store.protocol.membership import CREATED, created_agent, known_members, members
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.phrases import phrase
from team_console.store.protocol.placed_message import EARLIEST
from team_console.store.protocol.request_row import RequestRow
from team_console.store.protocol.shown_when_decided import Seen
from team_console.store.protocol.sprint_bodies import sprint_content
from team_console.store.protocol.sprint_in_text import CARRIERS
from team_console.store.protocol.team_rules import ending_problem
from team_console.store.protocol.verdicts import SIGNATURE, SIGNED_ORDER
from team_console.store.service.agent_command import run_command
from team_console.store.service.answerable import answerable_request, close_question, requests_in
from team_console.store.service.caller import Caller, Receipt, receipt
from team_console.store.service.running_grants import end_grants_for
from team_console.store.service.writing import Draft, check_known, new_request_id, roles_now, write_drafts
from team_console.store.settings.team_config import TeamConfig

_LEASE_MARGIN = timedelta(seconds=10)


def hold_question(tx: Transaction, question: Message, *, actor: str, seconds: float) -> None:
    """Note on the question that `actor` is busy with it for `seconds`; the note lapses by itself if it dies."""
    until = to_text(tx.now + timedelta(seconds=seconds) + _LEASE_MARGIN)
    tx.replace(question, question.with_changes(claimed_by=actor, lease_until=until))


def release_question(tx: Transaction, message_id: str) -> bool:
    """Take the note off again; whether there was one."""
    held = tx.get(message_id)
    if held is None or held.status == Status.CLAIMED or held.envelope("lease_until") is None:
        return False
    tx.replace(held, held.with_changes(claimed_by=None, lease_until=None))
    return True


def refuse_held(question: Message, tx: Transaction) -> None:
    """Refuse a question that somebody is starting an agent for.

    Raises:
        TeamError: `STORE_LOCKED`, with who and until when.
    """
    until = lease_end(question)
    holder = question.envelope("claimed_by")
    if until is None or holder is None or until <= tx.now or question.status == Status.CLAIMED:
        return
    raise TeamError(
        Code.STORE_LOCKED,
        f"{holder} is starting the agent for {question.message_id} right now",
        f"Try again after {to_text(until, milliseconds=False)} if no AGENT_CREATED has come.",
        held_by=str(holder),
        held_until=to_text(until),
    )


# Who is in the team, as the Master tells the residents, and which names are free.

_LONGEST_BASE = 56


def tell_residents(
    tx: Transaction, sender: str, *, arrived: str | None = None, left: str | None = None
) -> list[Message]:
    """Return the complete roster, one single message to each resident and to nobody else (requirements 169, 176,
    178, 180).
    """
    roles = {name: role for name, role in roles_now(tx).items() if name != left}
    if arrived is not None:
        roles[arrived] = "temp"
    lists = {
        f"{role}s": [name for name, item in roles.items() if item == role] for role in ("resident", "slave", "temp")
    }
    residents = lists["residents"]
    if not residents:
        return []
    # The sprint session that the newest message speaks of, else the team's name: an empty one tells nobody which.
    bodies = (parse_message(each).body for each in reversed(tx.everything()) if each.type in CARRIERS)
    sessions = (session for body in bodies if (session := text_in(body, "session_id")))
    body = {"session_id": next(sessions, tx.config.name), "roster": lists}
    say = partial(phrase, tx.config.language)
    change = say("{} left the team", left) if left else say("who is in the team now")
    change = say("{} is in the team now", arrived) if arrived else change
    payload = {
        "summary": say("{}: {}", say("Roster"), change),
        "content": sprint_content("AGENT_ROSTER_BROADCAST", body),
    }
    return _write_checked(tx, sender, residents, payload)


def _write_checked(tx: Transaction, sender: str, to: Sequence[str], payload: Fields) -> list[Message]:
    """Write a message once it is seen to break no rule."""
    draft = Draft("message", sender, tuple(to), payload)
    draft.check(tx.config)
    return write_drafts(tx, draft)


def send_roster(caller: Caller) -> Receipt:
    """Send every resident the complete roster as it is now.

    Raises:
        TeamError: `AGENT_NOT_FOUND` in a team without residents, `NOT_PERMITTED` for anyone but the lead.
    """
    with caller.transaction("roster") as tx:
        messages = tell_residents(tx, caller.actor)
        if not messages:
            text = f"team {tx.config.name} has no residents to tell the roster"
            raise TeamError(Code.AGENT_NOT_FOUND, text, "A resident is a member with the role resident.")
        tx.record("roster", ids=ids_of(messages), to=[message.recipients[0] for message in messages])
    return receipt(tx, "roster", messages)


def tell_asker_and_close(
    tx: Transaction,
    actor: str,
    question: Message,
    name: str,
    outcome: str,
    agent: str,
    body: Fields,
    *,
    note: str | None,
    more: Fields | None = None,
) -> list[Message]:
    """Tell the asker in the sprint message `name` that its agent is there or gone, and close the question."""
    body = {**body, "in_reply_to": question.message_id, **({"note": note} if note else {})}
    summary, content = f"{name}: {phrase(tx.config.language, outcome, agent)}", sprint_content(name, body)
    payload = {"request_id": question.message_id, "summary": summary, "content": content, **(more or {})}
    messages = _write_checked(tx, actor, (question.sender,), payload)
    release_question(tx, question.message_id)
    close_question(tx, question, actor=actor)
    return messages


def _roster_forecast(state: TeamState, *, without: str | None = None) -> str:
    """Return who will be sent the roster, in words: every resident but the one that is leaving."""
    roles = roles_now(state)
    return ", ".join(name for name, role in roles.items() if role == "resident" and name != without)


def free_name(state: TeamState, question: Message, wanted: str | None) -> str:
    """Return the wanted name when nobody has it, else the agent type with the first free number.

    Raises:
        TeamError: `INVALID_NAME` for a name that is taken or cannot be a name.
    """
    config, messages = state.config, state.everything()
    taken = {*members(config, messages), *config.agents}
    if wanted is not None:
        wanted = check_name(wanted, field="agent_name")
        if wanted in taken:
            raise TeamError(Code.INVALID_NAME, f"agent_name: {wanted} is already in the team", "Choose another name.")
        refuse_case_twin(wanted, (ALL, USER, *taken), field="agent_name")
        return wanted
    base = parse_message(question).subject or ""
    if not is_name(base) or len(base) > _LONGEST_BASE:
        text = f"agent_type: {value_words(base)} cannot become a name"
        raise TeamError(Code.INVALID_NAME, text, "Refuse the request, or name the agent yourself.")
    taken |= {name for message in messages for name in (message.sender, *message.recipients)}
    number = 1
    while f"{base}-{number}" in taken:
        number += 1
    return f"{base}-{number}"


# Creation of agents by the Master: the answer, the name, the roster told.


def announce_new_agent(
    tx: Transaction,
    actor: str,
    question: Message,
    *,
    agent_name: str | None = None,
    started: str | None = None,
    note: str | None = None,
) -> tuple[str, list[Message]]:
    """Announce the agent that was asked for: AGENT_CREATED to the asker, the full roster to every resident.

    Args:
        agent_name: A free name; without it the agent type and a number.
        started: The name under which a spawn command has started it already.

    Returns:
        The agent's name and what was written.

    Raises:
        TeamError: `INVALID_NAME` for a name that is taken, `STORE_LOCKED` while another console starts the agent.
    """
    if started is None:
        refuse_held(question, tx)
    name = started or free_name(tx, question, agent_name)
    body = {"agent_name": name, "agent_type": parse_message(question).subject or name}
    for row in asked_of_former_life(tx, name):
        close_question(tx, row.question, actor=actor)
    end_grants_for(tx, name, actor)
    told = tell_asker_and_close(tx, actor, question, "AGENT_CREATED", "{} is ready", name, body, note=note)
    return name, [*told, *tell_residents(tx, actor, arrived=name)]


def start_agent(caller: Caller, *, request_id: str, agent_name: str | None, seen: Seen) -> str:
    """Hold the question, run the spawn command without the lock, and give back the agent's name.

    Two consoles never start two agents for one request. Each fact `agent_name` replaces `{agent_name}` in the arguments
    and is `TEAM_CONSOLE_AGENT_NAME` in the environment.

    Raises:
        TeamError: As for `announce_new_agent`, or `SPAWN_FAILED` with the request still open.
    """
    config = caller.team.config()
    if config.distrust:
        hint = "The request stays open: let nobody else write the settings and their folder."
        raise TeamError(Code.SPAWN_FAILED, f"the spawn command is not run: {config.distrust}", hint)
    limit = config.overdue_seconds.get("create", 60.0)
    with caller.transaction("spawn") as tx:
        question = answerable_request(tx, request_id, actor=caller.actor, seen=seen).question
        refuse_held(question, tx)
        name = free_name(tx, question, agent_name)
        body = parse_message(question).body
        facts = {
            "agent_name": name,
            "agent_type": check_name(body.get("agent_type"), field="agent_type"),
            "role_hint": str(body.get("role_hint", "")),
            "requested_by": question.sender,
            "team": caller.team.location,
        }
        hold_question(tx, question, actor=caller.actor, seconds=limit)
        tx.record("spawn", request_id=request_id, agent=name)
    try:
        words, variables = list(config.spawn), {}
        for key, value in facts.items():
            value = value.replace("\0", "")  # no program can be given one
            words = [word.replace("{" + key + "}", value) for word in words]
            variables[f"TEAM_CONSOLE_{key.upper()}"] = value
        failure = run_command(words, limit=limit, variables=variables)
        if failure is not None:
            text = f"the spawn command {words[0]} failed: {safe_line(failure)}"
            hint = "The request stays open: correct the command (spawn in the settings)."
            raise TeamError(Code.SPAWN_FAILED, text, hint)
    except BaseException as error:
        with caller.transaction("spawn") as tx:
            if release_question(tx, question.message_id):
                tx.record("spawn_failed", request_id=request_id, agent=name, error=str(error))
        raise
    return name


def creation_forecast(state: TeamState, question: Message, agent_name: str | None) -> tuple[str, ...]:
    """Return the effects of approving this creation, as sentences.

    Raises:
        TeamError: `INVALID_NAME` for a name that is taken or cannot be one.
    """
    name, residents = free_name(state, question, agent_name), _roster_forecast(state)
    roster = f", the roster to {residents}" if residents else "; there are no residents to tell the roster"
    former = [row.request_id for row in asked_of_former_life(state, name)]
    closes = f"closes what was asked about the {name} before: {', '.join(former)}"
    return (f"{name} is created; AGENT_CREATED goes to {question.sender}{roster}", *([closes] if former else []))


def asked_of_former_life(state: TeamState, agent: str) -> list[RequestRow]:
    """Return the open requests about an agent of this name, which a new one is not meant by (D34)."""
    rows = requests_in(state, state.everything()).values()
    return [row for row in rows if row.is_open and row.stops == agent]


# Endings: an agent whose end was approved is asked to stop, and whoever must know hears of it once it has stopped.


def agent_to_end(config: TeamConfig, question: Message) -> str:
    """Return the agent whose end is asked for.

    Raises:
        TeamError: `INVALID_FIELD` when the request names none that could be ended.
    """
    agent = parse_message(question).subject
    if agent is None or not is_name(agent) or agent in (ALL, USER, config.lead):
        text = f"agent_name: {value_words(agent)} is no agent that could be ended"
        raise TeamError(Code.INVALID_FIELD, text, "Refuse the request with a reason.")
    return agent


def approve_ending(tx: Transaction, actor: str, question: Message, note: str | None) -> list[Message]:
    """Ask the agent to stop, or confirm its end where it has stopped already; what was written.

    Raises:
        TeamError: `INVALID_FIELD` or `AGENT_NOT_FOUND`.
    """
    agent = agent_to_end(tx.config, question)
    check_known(tx, [agent])
    if _is_stopped(tx, agent):
        return confirm_ending(tx, actor, question, agent, note)
    say = partial(phrase, tx.config.language)
    asker, done = question.sender, "Your work is done, as you reported."
    because = say(done) if asker == agent else say("Your work is done; {} asked for your end.", asker)
    payload = {
        "request_id": new_request_id(tx, "shutdown", agent),
        "in_reply_to": question.message_id,
        "content": note or because,
        **({"note": note} if note else {}),
    }
    return write_drafts(tx, Draft(SHUTDOWN_REQUEST, actor, (agent,), payload))


def _is_stopped(state: TeamState, agent: str) -> bool:
    """Return whether the agent has stopped already, by the messages and the notes on sessions."""
    return agent in stopped_agents(state.config, (*state.everything(), *state.session_notes()), state.recorded)


def finish_endings(tx: Transaction) -> list[Message]:
    """Confirm every approved ending whose agent has stopped or did not answer in time; returns what was written.

    Written in the name of whoever approved it, and on record as such; nothing when nothing has come to its end.
    """
    written: list[Message] = []
    for case, order, due in _unconfirmed_endings(tx):
        if due <= tx.now:
            question, agent = case.question, agent_to_end(tx.config, case.question)
            messages = confirm_ending(tx, order.sender, question, agent, None, order=order)
            ids = ids_of(messages)
            tx.record("confirm_end", request_id=question.message_id, agent=agent, by=order.sender, ids=ids)
            written += messages
    return written


def finish_due(caller: Caller, snapshot: Snapshot) -> bool:
    """Confirm approved endings that are due, and return whether any was; the lock is taken only for one."""
    due = next_ending(snapshot)
    if due is None or due > caller.team.clock() or caller.team.read_only:
        return False
    with caller.transaction("confirm_end") as tx:
        return bool(finish_endings(tx))


def next_ending(snapshot: Snapshot) -> datetime | None:
    """Return when the next approved ending is to be confirmed; None when none waits.

    A moment of the past where the agent has agreed already and nobody has confirmed it.
    """
    return min((due for _, _, due in _unconfirmed_endings(snapshot)), default=None)


def ending_forecast(state: TeamState, question: Message) -> tuple[str, ...]:
    """Return the effects of approving this ending, as sentences: who ends, who is told and when."""
    config, messages = state.config, state.everything()
    agent = agent_to_end(config, question)
    residents = _roster_forecast(state, without=agent)
    seconds = config.overdue_seconds["shutdown"]
    odd = ending_problem(config, known_members(config, messages), agent)
    roster = f", the roster to {residents}," if residents else ""
    creator = _creator_to_tell(state, question, agent)
    follows = f"AGENT_DESTROYED goes to {question.sender}{f' and {creator}' if creator else ''}{roster}"
    if _is_stopped(state, agent):
        does = f"{agent} has stopped already; {follows} at once"
    else:
        does = f"{agent} is asked to stop; {follows} when it has answered, or after {seconds:g} s"
    return (*((odd,) if odd else ()), does)


def confirm_ending(
    tx: Transaction, actor: str, question: Message, agent: str, note: str | None, *, order: Message | None = None
) -> list[Message]:
    """Tell the asker AGENT_DESTROYED and every resident the roster without the agent, and close the question.

    Args:
        order: What a human signed to have the agent stopped; whoever comes by after it writes the confirmation.
    """
    more: FieldDict = {}
    if order is not None and SIGNATURE in order.payload:
        more[SIGNED_ORDER] = {
            key: order.record[key] for key in ("message_id", "type", "from", "to", "created", "payload")
        }
    body, outcome = {"agent_name": agent}, "{} has left the team"
    told = tell_asker_and_close(tx, actor, question, "AGENT_DESTROYED", outcome, agent, body, note=note, more=more)
    told += _tell_creator(tx, actor, question, agent, more)
    end_grants_for(tx, agent, actor)
    return [*told, *tell_residents(tx, actor, left=agent)]


def creator_of(state: TeamState, agent: str) -> str | None:
    """Return who asked for the agent of this name that was created last; None where that is not known."""
    live = (each for each in reversed(state.everything()) if each.type in CARRIERS)
    announced = (
        each for each in live if (read := parse_message(each)).name == CREATED and created_agent(read) == agent
    )
    message, recorded = next(announced, None), state.recorded
    if message is None and recorded is not None:
        message = next(filter(None, map(recorded.message, reversed(recorded.creations_of(agent)))), None)
    return message.recipients[0] if message is not None else None


def _creator_to_tell(state: TeamState, question: Message, agent: str) -> str | None:
    """Return who asked for this agent and is to be told of its end; None where that is nobody who does not know."""
    creator = creator_of(state, agent)
    if creator in (agent, state.config.lead, question.sender):
        return None
    return creator if creator in known_members(state.config, state.everything()) else None


def _tell_creator(tx: Transaction, actor: str, question: Message, agent: str, more: Fields) -> list[Message]:
    """Tell whoever asked for this agent that it is gone, where somebody else asked for its end.

    A confirmation without the order that a human signed would count as forged in a team of signed verdicts.
    """
    creator = _creator_to_tell(tx, question, agent)
    if creator is None:
        return []
    say = partial(phrase, tx.config.language)
    summary = f"AGENT_DESTROYED: {say('{} has left the team', agent)}"
    is_sprint = SIGNED_ORDER in more or not tx.config.must_be_signed(actor)
    text = (
        sprint_content("AGENT_DESTROYED", {"agent_name": agent, "in_reply_to": question.message_id})
        if is_sprint
        else summary
    )
    payload = {"summary": summary, "content": text, **(more if is_sprint else {})}
    if is_sprint:
        payload["request_id"] = question.message_id
    return _write_checked(tx, actor, (creator,), payload)


def _unconfirmed_endings(state: TeamState) -> Iterator[tuple[RequestRow, Message, datetime]]:
    """Yield endings that were approved and not confirmed, each with the order to stop and when it is due."""
    messages = state.everything()
    orders = [item for item in messages if item.type == SHUTDOWN_REQUEST and text_in(item.payload, "in_reply_to")]
    if not orders:
        return
    ended = {
        parse_message(message).request_id
        for message in messages
        if (message.type in CARRIERS and message.content.startswith("AGENT_DESTROYED"))
    }
    agents = {item.recipients[0] for item in orders if item.payload["in_reply_to"] not in ended}
    if not agents:
        return
    about = with_bearing(orders, lambda: messages)
    for case in requests_in(state, about).values():
        if case.ending is not None and case.ends in agents:
            # Of an agent that refused to stop there is no `ending`: the request has its no as `refusal`.
            has_agreed = case.ending.verdict is not None
            yield case, case.ending.question, EARLIEST if has_agreed else case.ending.due_at or EARLIEST
