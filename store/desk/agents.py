"""The Master's side of the sprint: agents created and ended, the roster told, a course correction triggered."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from store.desk.draft import Draft, check_known, new_request_id, write
from store.desk.requests import close_question, open_question
from store.desk.roster import composed, free_name, scrum_master, tell_residents
from store.desk.seat import Receipt, Seat
from store.desk.spawn import hold, let_go, refuse_held, start_agent
from store.desk.upkeep import settle
from store.errors import Code, TeamError
from store.message import Message
from store.names import ALL, USER, check_name, is_name
from store.protocol.kinds import RequestKind
from store.protocol.reading import reading
from store.protocol.registry import CARRIERS
from store.protocol.secrets import secret_warnings
from store.team import Transaction

if TYPE_CHECKING:
    from store.desk.requests import Verdict

CORRECTION_REASONS = ("user_request", "repeated_failures", "new_requirements")
"""Why a course correction may be triggered (`REQUIREMENTS.md` B.4)."""


def answer_agent_request(seat: Seat, *, request_id: str, verdict: Verdict, seen: str | None = None) -> Receipt:
    """Answer a creation or destruction request, whichever it is; `requests.approve` and `reject` call this.

    Raises:
        TeamError: As for `answer_creation` and `answer_destruction`.
    """
    if not verdict.approve:
        return refuse(seat, request_id=request_id, reason=verdict.content, seen=seen)
    with _transaction(seat, "approve") as tx:
        _, kind = open_question(tx, request_id, actor=seat.actor, seen=seen)
    if kind is RequestKind.CREATE:
        return answer_creation(seat, request_id=request_id, note=verdict.text, seen=seen)
    return answer_destruction(seat, request_id=request_id, note=verdict.text, seen=seen)


def answer_creation(
    seat: Seat, *, request_id: str, agent_name: str | None = None, note: str | None = None, seen: str | None = None
) -> Receipt:
    """Create the agent that was asked for: AGENT_CREATED to the asker, the full roster to every resident.

    One transaction with one audit record. When the settings name a spawn command it runs before, while the question
    is held for this answer, so that two consoles never start two agents for one request.

    Args:
        agent_name: A free name; without it the agent type and a number.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `NOT_PERMITTED`, `ALREADY_ANSWERED`, `INVALID_NAME` for a name that is taken,
            `STORE_LOCKED` while another console starts the agent, `SPAWN_FAILED` with the request still open.
    """
    config = seat.team.config()
    started = _started(seat, request_id, agent_name, seen) if config.spawn else None
    try:
        return _announce(seat, request_id, started, agent_name, note, seen)
    except TeamError as error:
        if started is not None:
            error.hint = f"{error.hint} The spawn command has already started {started}.".strip()
            error.facts["agent_started"] = started
        raise


def _announce(
    seat: Seat, request_id: str, started: str | None, agent_name: str | None, note: str | None, seen: str | None
) -> Receipt:
    with _transaction(seat, "approve") as tx:
        question = _question(tx, seat, request_id, seen, RequestKind.CREATE)
        if started is None:
            refuse_held(question, tx)
        name = started or free_name(tx, agent_name, agent_type=reading(question).subject)
        body = {"agent_name": name, "agent_type": reading(question).subject or name}
        answer = _say(tx, seat, "AGENT_CREATED", question, {**body, **_quoting(question, note)}, f"{name} is ready")
        rosters = tell_residents(tx, seat, arrived=name)
        _finish(tx, seat, question, "approve", [answer, *rosters], agent=name)
    return _receipt(tx, "approve", request_id, [answer, *rosters], note, rosters)


def answer_destruction(seat: Seat, *, request_id: str, note: str | None = None, seen: str | None = None) -> Receipt:
    """End an agent: shutdown_request to it, AGENT_DESTROYED to the asker, the roster without it to every resident.

    One transaction with one audit record (creation sequence, steps 9 to 11).

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `NOT_PERMITTED`, `ALREADY_ANSWERED`, `INVALID_FIELD` when the request names no
            agent that could be ended.
    """
    with _transaction(seat, "approve") as tx:
        question = _question(tx, seat, request_id, seen, RequestKind.DESTROY)
        agent = _doomed(tx, question)
        words = {"content": note or f"Your work is done; {question.sender} asked for your end."}
        order = Draft(
            "shutdown_request", seat.actor, (agent,), {"request_id": new_request_id(tx, "shutdown", agent), **words}
        )
        shutdowns, _ = write(tx, order, [agent])
        body = {"agent_name": agent, **_quoting(question, note)}
        answer = _say(tx, seat, "AGENT_DESTROYED", question, body, f"{agent} was asked to stop")
        rosters = tell_residents(tx, seat, left=agent)
        _finish(tx, seat, question, "approve", [*shutdowns, answer, *rosters], agent=agent)
    return _receipt(tx, "approve", request_id, [answer, *shutdowns, *rosters], note, rosters)


def refuse(seat: Seat, *, request_id: str, reason: str, seen: str | None = None) -> Receipt:
    """Refuse a creation or destruction: a plain message to the asker that quotes the request and says why (B.5).

    Raises:
        TeamError: `MISSING_REASON`, `INVALID_REQUEST_ID`, `NOT_PERMITTED`, `ALREADY_ANSWERED`.
    """
    if not reason.strip():
        raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Give it with --reason TEXT.")
    with _transaction(seat, "reject") as tx:
        question, kind = open_question(tx, request_id, actor=seat.actor, seen=seen)
        _refuse_answered_in_order(tx, question, kind)
        refuse_held(question, tx)
        what = "creation" if kind is RequestKind.CREATE else "end"
        payload = {
            "request_id": request_id,
            "approve": False,
            "in_reply_to": question.message_id,
            "summary": f"The {what} of {reading(question).subject or 'the agent'} was refused"[:120],
            "content": reason,
        }
        draft = Draft("message", seat.actor, (question.sender,), payload)
        draft.check(tx.config)
        messages, _ = write(tx, draft, draft.to)
        _finish(tx, seat, question, "reject", messages)
    return _receipt(tx, "reject", request_id, messages, reason)


refuse_creation = refuse


def trigger_course_correction(
    seat: Seat,
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
        text = f"reason: {reason!r:.80} is none of {', '.join(CORRECTION_REASONS)}"
        raise TeamError(Code.INVALID_FIELD, text, "Use one of them.")
    if not user_input.strip():
        raise TeamError(Code.MISSING_CONTENT, "the course correction says nothing", "Say what should change.")
    body: dict[str, Any] = {"reason": reason, "user_input": user_input, "current_batch_id": current_batch_id}
    given = {"added_stories": list(added_stories), "dropped_stories": list(dropped_stories)}
    body.update({key: value for key, value in given.items() if value})
    payload = {"summary": f"Course correction: {user_input}"[:120], "content": composed("CC_TRIGGER", body)}
    with _transaction(seat, "course_correction") as tx:
        draft = Draft("message", seat.actor, (scrum_master(tx),), payload)
        warnings = draft.check(tx.config)
        messages, _ = write(tx, draft, draft.to)
        tx.record("course_correction", ids=[one.message_id for one in messages], to=list(draft.to), reason=reason)
    return Receipt("course_correction", tuple(messages), tuple(warnings), notices=tuple(tx.notices))


def _started(seat: Seat, request_id: str, agent_name: str | None, seen: str | None) -> str:
    """Hold the question, run the spawn command without the lock, and give back the agent's name."""
    config = seat.team.config()
    if config.distrust:
        hint = "The request stays open: let nobody else write the settings and their folder."
        raise TeamError(Code.SPAWN_FAILED, f"the spawn command is not run: {config.distrust}", hint)
    limit = config.overdue_seconds.get("create", 60.0)
    with _transaction(seat, "spawn") as tx:
        question = _question(tx, seat, request_id, seen, RequestKind.CREATE)
        refuse_held(question, tx)
        name = free_name(tx, agent_name, agent_type=reading(question).subject)
        facts = _facts(seat, question, name)
        hold(tx, question, actor=seat.actor, seconds=limit)
        tx.record("spawn", request_id=request_id, agent=name)
    try:
        start_agent(config.spawn, facts=facts, limit=limit)
    except BaseException as error:
        with _transaction(seat, "spawn") as tx:
            if let_go(tx, question.message_id):
                tx.record("spawn_failed", request_id=request_id, agent=name, error=str(error))
        raise
    return name


def _facts(seat: Seat, question: Message, name: str) -> Mapping[str, str]:
    body = reading(question).body
    return {
        "agent_name": name,
        "agent_type": check_name(body.get("agent_type"), field="agent_type"),
        "role_hint": str(body.get("role_hint", "")),
        "requested_by": question.sender,
        "team": seat.team.location,
    }


def _question(tx: Transaction, seat: Seat, request_id: str, seen: str | None, kind: RequestKind) -> Message:
    question, found = open_question(tx, request_id, actor=seat.actor, seen=seen)
    if found is not kind:
        text = f"{request_id} is a request of kind {found}, not {kind}"
        raise TeamError(Code.INVALID_REQUEST_ID, text, "Quote the id of the right request.", request_id=request_id)
    _refuse_answered_in_order(tx, question, kind)
    return question


def _refuse_answered_in_order(tx: Transaction, question: Message, kind: RequestKind) -> None:
    """Another Master's answer quotes no id: it answers the oldest open request it fits (002-c).

    An agent ends once, whoever asked for it; agents are created for the one who asked.
    """
    waiting: deque[Message] = deque()
    anyone = kind is RequestKind.DESTROY
    for one in tx.everything():
        if one.type not in CARRIERS:
            continue
        seen = reading(one)
        same_asker = anyone or one.sender == question.sender
        if seen.opens is kind and same_asker and seen.subject == reading(question).subject:
            waiting.append(one)
        elif seen.answers is kind and one.sender == tx.config.lead and (anyone or one.is_addressed_to(question.sender)):
            answered = _answered_by(one, waiting, reading(question).subject)
            if answered is not None and answered.message_id == question.message_id:
                raise TeamError(
                    Code.ALREADY_ANSWERED,
                    f"{question.message_id} was already answered by {one.sender} at {one.created}",
                    "The first answer stands.",
                    request_id=question.message_id,
                    answered_by=one.sender,
                    answered_at=one.created,
                )


def _answered_by(answer: Message, waiting: deque[Message], subject: str | None) -> Message | None:
    seen = reading(answer)
    if seen.request_id is not None:
        found = next((one for one in waiting if one.message_id == seen.request_id), None)
        if found is not None:
            waiting.remove(found)
        return found
    return waiting.popleft() if waiting and seen.subject == subject else None


def _doomed(tx: Transaction, question: Message) -> str:
    agent = reading(question).subject
    if agent is None or not is_name(agent) or agent in (ALL, USER, tx.config.lead):
        text = f"agent_name: {agent!r:.80} is no agent that could be ended"
        raise TeamError(Code.INVALID_FIELD, text, "Refuse the request with a reason.")
    check_known(tx, [agent])
    return agent


def _quoting(question: Message, note: str | None) -> dict[str, Any]:
    return {"in_reply_to": question.message_id, **({"note": note} if note else {})}


def _say(tx: Transaction, seat: Seat, name: str, question: Message, body: Mapping[str, Any], summary: str) -> Message:
    payload = {"request_id": question.message_id, "summary": f"{name}: {summary}", "content": composed(name, body)}
    draft = Draft("message", seat.actor, (question.sender,), payload)
    draft.check(tx.config)
    messages, _ = write(tx, draft, draft.to)
    return messages[0]


def _finish(
    tx: Transaction, seat: Seat, question: Message, action: str, written: Sequence[Message], **facts: Any
) -> None:
    let_go(tx, question.message_id)
    close_question(tx, question, actor=seat.actor)
    settle(tx)
    tx.record(
        action,
        request_id=question.message_id,
        kind=str(reading(question).opens),
        asker=question.sender,
        question=question.message_id,
        ids=[one.message_id for one in written],
        **facts,
    )


def _receipt(
    tx: Transaction,
    action: str,
    request_id: str,
    messages: Sequence[Message],
    note: str | None,
    rosters: Sequence[Message] | None = None,
) -> Receipt:
    warnings = secret_warnings(note) if note else []
    if rosters is not None and not rosters:
        warnings.append("the team has no residents, so nobody was sent the roster")
    return Receipt(action, tuple(messages), tuple(warnings), request_id, notices=tuple(tx.notices))


def _transaction(seat: Seat, action: str) -> AbstractContextManager[Transaction]:
    return seat.team.transaction(actor=seat.actor, action=action, wait=seat.wait)
