"""Notes on a client's session: that it, or a teammate in it, works, rests or ended; the roster is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from team_console.store.contract.transaction import Transaction
from team_console.store.desk.caller import Caller
from team_console.store.desk.draft import check_known, sealed
from team_console.store.desk.maintenance.compaction import tidy
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message, Priority, Status, new_message_id, new_record
from team_console.store.protocol.relations.sessions import SESSION, Doing, SessionNote, session_note

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
) -> bool:
    """Note what the actor's session, or a teammate in it, is doing now; False when that is on record already.

    Args:
        session: The client's own id of the session.
        teammate: A temporary member that works in the session.
        last_words: What was said at the end of the turn.

    Raises:
        TeamError: `AGENT_NOT_FOUND` for an actor that is no member, or the store's own.
    """
    words = last_words[:LONGEST_LAST_WORDS].encode("utf-8", "replace").decode()  # half an emoji is no text to a store
    note = SessionNote(caller.actor, session, doing, client, teammate, words)
    with caller.team.transaction(actor=caller.actor, action="session", wait=caller.wait) as tx:
        check_known(tx, [caller.actor])
        if not _is_news(note, tx.select(recipient=caller.actor, types=(SESSION,))):
            return False
        _put(tx, note)
    return True


def use_once(caller: Caller, request_id: str, *, session: str, client: str = "", teammate: str | None = None) -> bool:
    """Use up what was allowed once under this id, by a note that the agent goes on; False when it was used before.

    Raises:
        TeamError: As for `note_session`.
    """
    note = SessionNote(caller.actor, session, Doing.WORKING, client, teammate)
    with caller.team.transaction(actor=caller.actor, action="session", wait=caller.wait) as tx:
        check_known(tx, [caller.actor])
        if any(message.type == SESSION and message.sender == caller.actor for message in tx.thread(request_id)):
            return False
        _put(tx, note, {"request_id": request_id, "used": True})
    return True


def _put(tx: Transaction, note: SessionNote, more: Mapping[str, Any] = {}) -> None:
    message = _written(tx, note, more)
    tx.add(message)
    tx.archive(note.member, message)
    facts = {"agent": note.teammate} if note.teammate else {}
    tx.record("session", session=note.session, state=str(note.doing), **facts, **more)
    tidy(tx, keep=[message.message_id])


def _is_news(note: SessionNote, known: Sequence[Message]) -> bool:
    """Whether the newest note on the same agent in the same session says something else."""
    for message in reversed(known):
        older = session_note(message)
        if older is None or older.session != note.session:
            continue
        if older.teammate == note.teammate:
            return (older.doing, older.last_words) != (note.doing, note.last_words)
        if older.teammate is None and older.doing is Doing.ENDED and note.doing is Doing.ENDED:
            return False
    return note.doing is not Doing.ENDED


def _written(tx: Transaction, note: SessionNote, more: Mapping[str, Any]) -> Message:
    """The note as a message of the member to itself, read already: nobody has to be told."""
    facts: dict[str, Any] = {"session": note.session, "state": str(note.doing), "client": note.client}
    facts |= {"agent": note.teammate or "", "last_words": note.last_words, **more}
    at = to_text(tx.now)
    message_id = new_message_id(tx.now)
    while tx.known(message_id) is not None:
        message_id = new_message_id(tx.now)
    message = new_record(
        message_id=message_id,
        type=SESSION,
        sender=note.member,
        to=note.member,
        created=at,
        priority=Priority.LOW.value,
        payload={key: value for key, value in facts.items() if value},
        status=Status.READ.value,
        read_at=at,
    )
    return sealed(message, tx.config.key)
