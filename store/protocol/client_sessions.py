"""Read notes on the sessions of clients: who works, rests or has ended in which, and who brought whom along."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.message import Message, ids_of
from team_console.store.model.names import ALL, USER, as_name
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.protocol.placed_message import PlacedMessage, StoreOrder

SESSION = "session_state"
"""The kind of these notes."""


class Doing(StrEnum):
    """What whoever a note is about is doing."""

    STARTED = "started"
    WORKING = "working"
    IDLE = "idle"
    ENDED = "ended"


class SessionNote(Struct, frozen=True):
    """What one note says.

    Attributes:
        member: Who says it: the member whose session it is.
        session: The client's own id of the session.
        client: `claude-code`, `codex`, ...; empty when not said.
        teammate: Whom it is about, where that is not the member itself.
        last_words: What was said at the end of the turn, perhaps only its beginning.
        mode: In which the client decides on tools, in its own word; empty when not said.
    """

    member: str
    session: str
    doing: Doing
    client: str = ""
    teammate: str | None = None
    last_words: str = ""
    mode: str = ""

    @property
    def name(self) -> str:
        """The agent it is about."""
        return self.teammate or self.member


class AgentSession(Struct, frozen=True):
    """How one agent stands in one session.

    Attributes:
        since: When it began to do what it does.
        sponsor: The member whose session it is, for a teammate.
        mode: As in the latest note that says one.
    """

    session: str
    doing: Doing
    since: StoreOrder
    client: str = ""
    sponsor: str | None = None
    mode: str = ""

    @property
    def is_of_teammate(self) -> bool:
        """Whether it goes on, and is that of a teammate."""
        return self.sponsor is not None and self.doing is not Doing.ENDED


def session_note(message: Message) -> SessionNote | None:
    """Return a message's note on a session; None for any other message and for a malformed one."""
    if message.type != SESSION:
        return None
    payload = message.payload
    session, word, teammate = payload.get("session"), payload.get("state"), payload.get("agent")
    if not isinstance(session, str) or not session or word not in tuple(Doing):
        return None
    if teammate is not None and ((teammate := as_name(teammate)) is None or teammate in (ALL, USER)):
        return None
    client, last_words, mode = (text_in(payload, key) for key in ("client", "last_words", "mode"))
    return SessionNote(message.sender, session, Doing(word), client, teammate, last_words, mode)


class Sessions(Struct):
    """Who stands how in which session, as notes are read in order: agent -> session -> how it stands."""

    by_agent: dict[str, dict[str, AgentSession]] = {}

    def add(self, note: SessionNote, order: StoreOrder) -> list[str]:
        """Take the next note; returns the teammates who are gone by it."""
        known = self.by_agent.setdefault(note.name, {})
        earlier, sponsor = known.get(note.session), note.member if note.teammate else None
        mode = note.mode or (earlier.mode if earlier is not None else "")
        known[note.session] = AgentSession(note.session, note.doing, order, note.client, sponsor, mode)
        if note.doing is not Doing.ENDED:
            return []
        if note.teammate is not None:
            return [note.teammate]
        gone = []
        for name, sessions in self.by_agent.items():
            session = sessions.get(note.session)
            if session is not None and session.is_of_teammate and session.sponsor == note.member:
                sessions[note.session] = replace(session, doing=Doing.ENDED, since=order)
                gone.append(name)
        return gone

    def current(self, name: str) -> AgentSession | None:
        """Return the agent's state: the latest report of its running sessions, else the latest of all."""
        sessions = self.by_agent.get(name, {}).values()
        return max(sessions, key=lambda session: (session.doing is not Doing.ENDED, session.since), default=None)

    def ended(self) -> dict[str, StoreOrder]:
        """Return agents all of whose sessions have ended -> when the last one did."""
        latest = {name: self.current(name) for name in self.by_agent}
        return {name: last.since for name, last in latest.items() if last is not None and last.doing is Doing.ENDED}


def lasting_notes(messages: Iterable[Message]) -> Iterable[str]:
    """Return the ids of the notes that the present state rests on: the newest of each agent in each session, if it goes
    on, and the last of each agent.

    Args:
        messages: In stored order.
    """
    newest: dict[tuple[str, str, str], Message] = {}  # member, session, and whom the note is about -> its message
    ended: set[tuple[str, str]] = set()  # member and session
    last: dict[str, Message] = {}
    for message in messages:
        note = session_note(message)
        if note is None:
            continue
        newest[note.member, note.session, note.name] = message
        last[note.name] = message
        if note.teammate is None and note.doing is Doing.ENDED:
            ended.add((note.member, note.session))
        elif note.teammate is None:
            ended.discard((note.member, note.session))
    going_on = {message.message_id for key, message in newest.items() if key[:2] not in ended}
    return going_on | set(ids_of(last.values()))


def is_end(entry: PlacedMessage) -> bool:
    """Return whether a message only says that its sender's session, or a teammate, is gone."""
    note = session_note(entry.message)
    return note is not None and note.doing is Doing.ENDED
