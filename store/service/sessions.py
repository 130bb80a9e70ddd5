"""Hand mail to sessions of clients, note what they do, and withdraw the requests that they left behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from team_console.store.contract.snapshot import OUTCOME_UNKNOWN, Snapshot
from team_console.store.contract.team import Presence, Team, is_presence_name
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Priority, Status, ids_of, nonempty
from team_console.store.protocol.client_requests import asker_of, origin_of
from team_console.store.protocol.client_sessions import SESSION, Doing, SessionNote, session_note
from team_console.store.protocol.judgement import judge
from team_console.store.protocol.kinds import kind_of
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.request_row import RequestState
from team_console.store.service.asking import withdraw
from team_console.store.service.caller import Caller
from team_console.store.service.compaction import tidy
from team_console.store.service.deliveries import Job, after_attempt
from team_console.store.service.inbox import InboxQuery, first_fitting, waiting_in
from team_console.store.service.writing import Draft, check_known, expanded_recipients, record_of, roles_now
from team_console.store.settings.team_config import TeamConfig

SESSION_ENDED = "session ended"
"""Why a request of a process that is gone needs no answer."""
_OVER = (Code.ALREADY_ANSWERED, Code.INVALID_REQUEST_ID)
"""Errors that say that somebody else ended the request first."""


def orphaned_requests(team: Team, questions: Mapping[str, Message]) -> Mapping[str, Message]:
    """Return open requests (request id -> question) whose asker has certainly ended; takes no lock."""
    named = {key: asker for key, question in questions.items() if is_presence_name(asker := asker_of(question.payload))}
    if not named:
        return {}
    attendance = team.attendance(Presence.ASKER)
    # guard: requests-of-killed-hooks
    return {key: questions[key] for key, asker in named.items() if attendance.is_gone(asker)}


def end_orphaned_requests(caller: Caller, questions: Mapping[str, Message]) -> tuple[str, ...]:
    """Withdraw what is left behind, in the name of its askers; returns the ids of the requests that this ended.

    Args:
        questions: Request id -> question of the open requests, as of a look without a lock.

    Raises:
        TeamError: The store's own.
    """
    orphans = orphaned_requests(caller.team, questions).items()
    return tuple(key for key, asked in orphans if end_if_open(caller, key, asker=asked.sender, reason=SESSION_ENDED))


def end_if_open(caller: Caller, request_id: str, *, asker: str, reason: str) -> bool:
    """Withdraw a request unless it has been answered or withdrawn meanwhile; returns whether this did it.

    Raises:
        TeamError: The store's own.
    """
    try:
        return not withdraw(caller, request_id=request_id, gone=asker, reason=reason).repeated
    except TeamError as error:
        if error.code not in _OVER:
            raise
        return False


def refuse_orphaned(caller: Caller, snapshot: Snapshot, request_id: str) -> None:
    """Refuse to answer a request whose asker is gone: a yes would be on record that nobody carries out.

    Raises:
        TeamError: `INVALID_REQUEST_ID`.
    """
    question = orphaned_requests(caller.team, open_requests(snapshot)).get(request_id)
    if question is None:
        return
    end_if_open(caller, request_id, asker=question.sender, reason=SESSION_ENDED)
    text = f"{request_id} needs no answer any more: {SESSION_ENDED}"
    raise TeamError(
        Code.INVALID_REQUEST_ID, text, f"{question.sender} asks again if it matters.", request_id=request_id
    )


def open_requests(snapshot: Snapshot) -> Mapping[str, Message]:
    """Find the requests of clients that nothing has ended yet: request id -> question.

    Looks at the live messages alone: an answer that left the queue took its question along.
    """
    questions: dict[str, Message] = {}
    for message in snapshot.messages:
        if kind_of(message.type).opens is not None and origin_of(message.payload).client:
            read = parse_message(message)
            if read.opens is not None and read.request_id is not None:
                questions[read.request_id] = message
    if not questions:
        return {}
    about = [item for item in snapshot.messages if parse_message(item).request_id in questions]
    rows = judge(about, snapshot.config, snapshot.recorded, snapshot.taken_at)
    # A superseded plan would be open again once the later one is withdrawn.
    waiting = {row.question for row in rows.values() if row.is_open or row.state is RequestState.SUPERSEDED}
    return {key: question for key, question in questions.items() if question in waiting}


# Mail for agents that do not ask: handed to their client's session, once, and read when that session goes on.

_URGENT = (Priority.CRITICAL, Priority.HIGH)


def is_urgent(message: Message, config: TeamConfig) -> bool:
    """Return whether a message is for the middle of the work: high or critical, by the team's own order if it has
    one.
    """
    least = max((config.ranks.get(word, number) for number, word in enumerate(_URGENT, start=1)), default=0)
    return message.rank_by(config.ranks) <= least


def mail_waiting(caller: Caller) -> tuple[Message, ...] | None:
    """Return what waits for the actor, most urgent first, without a lock; None when that takes a lock to tell."""
    team = caller.team
    look = team.addressed(caller.actor)
    if look is None:
        return None
    config = team.config()
    waiting = InboxQuery(caller.actor, delivered=True).among(look.messages, team.clock(), config.ranks)
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
    if waiting is not None and not _choose_what_fits(waiting, caller.team.config(), room, size, urgent):
        return ()
    handed: list[Message] = []
    try:
        with caller.transaction("hand_over") as tx:
            taken = waiting_in(tx, InboxQuery(caller.actor, delivered=True))
            # guard: mail-once-each
            fresh = [message for message in taken if caller.actor not in message.handed_to]
            chosen = _choose_what_fits(fresh, tx.config, room, size, urgent)
            handed = [_mark_delivered(tx, message, caller.actor, session) for message in chosen]
            if handed:
                tx.record("hand_over", agent=caller.actor, session=session, ids=ids_of(handed))
    except TeamError as error:
        # What is on record as handed over never comes again. Where nobody can tell, twice is better than never.
        # guard: session-mail-after-unknown-commit
        if not (handed and error.facts.get(OUTCOME_UNKNOWN)):
            raise
    return tuple(handed)


def handed_elsewhere(caller: Caller, *, session: str) -> tuple[Message, ...]:
    """Return what was handed to another session of the actor that ended before it showed it as read."""
    look = caller.team.addressed(caller.actor)
    messages = look.messages if look is not None else caller.team.snapshot().messages
    name = caller.actor
    return tuple(
        message
        for message in messages
        if message.is_delivered_to(name) and message.handed_to.get(name, session) != session
    )


def _choose_what_fits(
    waiting: Sequence[Message], config: TeamConfig, room: int, size: Callable[[Message], int], urgent: bool
) -> list[Message]:
    """Return the messages that fit into the room, at least one; arguments as for `hand_over`."""
    meant = (message for message in waiting if not urgent or is_urgent(message, config))
    return first_fitting(meant, room, size)


def _mark_delivered(tx: Transaction, message: Message, agent: str, session: str) -> Message:
    """Mark a message as delivered to this session of the agent; returns it as it is now."""
    job = Job(message, (agent,), expanded_recipients(lambda: roles_now(tx), message))
    handed = {**message.handed_to, agent: session}
    changed = after_attempt(job, {agent: None}, tx.now).with_changes(handed_to=handed)
    tx.replace(message, changed)
    return changed


# Notes on a client's session: that it, or a teammate in it, works, rests or ended; the roster is made of them.

LONGEST_LAST_WORDS = 4000
"""Characters of last words that are kept."""


def note_session(
    caller: Caller,
    *,
    session: str,
    doing: Doing,
    client: str = "",
    teammate: str | None = None,
    last_words: str = "",
    mode: str = "",
) -> bool:
    """Note what the actor's session, or a teammate in it, is doing now; False when that is on record already.

    Args:
        session: The client's own id of the session.
        teammate: A temporary member that works in the session.
        last_words: What was said at the end of the turn.
        mode: In which the client decides on tools.

    Raises:
        TeamError: `AGENT_NOT_FOUND` for an actor that is no member, or the store's own.
    """
    words = last_words[:LONGEST_LAST_WORDS].encode("utf-8", "replace").decode()  # half an emoji is no text to a store
    note = SessionNote(caller.actor, session, doing, client, teammate, words, mode)
    return _write_note(caller, note, lambda tx: _tells_more(note, tx.select(recipient=caller.actor, types=(SESSION,))))


def use_up_permission(caller: Caller, request_id: str, *, session: str, client: str, teammate: str | None) -> bool:
    """Use up the permission of this id, which holds for one call; returns False when it was used before.

    On record it is a note of the session that quotes the id.

    Raises:
        TeamError: As for `note_session`.
    """
    note = SessionNote(caller.actor, session, Doing.WORKING, client, teammate)

    def is_unused(tx: Transaction) -> bool:
        return not any(item.type == SESSION and item.sender == caller.actor for item in tx.thread(request_id))

    return _write_note(caller, note, is_unused, {"request_id": request_id, "used": True})


def _write_note(
    caller: Caller, note: SessionNote, is_new: Callable[[Transaction], bool], more: Mapping[str, Any] = {}
) -> bool:
    """Write the note if it `is_new`, and return that: a message of the member to itself, read already."""
    payload = nonempty(
        {
            "session": note.session,
            "state": str(note.doing),
            "client": note.client,
            "agent": note.teammate,
            "last_words": note.last_words,
            "mode": note.mode,
            **more,
        }
    )
    draft = Draft(SESSION, note.member, (note.member,), payload, priority=Priority.LOW.value)
    with caller.transaction("session") as tx:
        check_known(tx, [caller.actor])
        if not is_new(tx):
            return False
        at = to_text(tx.now)
        message = record_of(tx, draft, note.member, payload, status=Status.READ.value, read_at=at)
        tx.add(message)
        tx.archive(note.member, message)
        facts = {"agent": note.teammate} if note.teammate else {}
        tx.record("session", session=note.session, state=str(note.doing), **facts, **more)
        tidy(tx, keep=[message.message_id])
    return True


def _tells_more(note: SessionNote, known: Sequence[Message]) -> bool:
    """Return whether a note says something else than the newest one on the same agent in the same session."""
    for message in reversed(known):
        older = session_note(message)
        if older is None or older.session != note.session:
            continue
        if older.teammate == note.teammate:
            return (older.doing, older.last_words, older.mode) != (note.doing, note.last_words, note.mode)
        if older.teammate is None and older.doing is Doing.ENDED and note.doing is Doing.ENDED:
            return False
    return note.doing is not Doing.ENDED
