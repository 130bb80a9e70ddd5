"""Sessions of clients: what a member says of its own, and of the teammates that one brought along.

A `session_state` is a note of a member to itself, read when it is written: it waits in nobody's inbox.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER, as_name
from team_console.store.protocol.entries import Entry, Order
from team_console.store.protocol.foreign_fields import text_in

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
    """

    member: str
    session: str
    doing: Doing
    client: str = ""
    teammate: str | None = None
    last_words: str = ""

    @property
    def name(self) -> str:
        """Whom it is about."""
        return self.teammate or self.member


class AgentSession(Struct, frozen=True):
    """How one agent stands in one session.

    Attributes:
        since: When it began to do what it does.
        sponsor: The member whose session it is, for a teammate.
    """

    session: str
    doing: Doing
    since: Order
    client: str = ""
    sponsor: str | None = None


def session_note(message: Message) -> SessionNote | None:
    """What a message says of a session; None for any other message, and for one that makes no sense."""
    if message.type != SESSION:
        return None
    payload = message.payload
    session, word, teammate = payload.get("session"), payload.get("state"), payload.get("agent")
    if not isinstance(session, str) or not session or word not in tuple(Doing):
        return None
    if teammate is not None and ((teammate := as_name(teammate)) is None or teammate in (ALL, USER)):
        return None
    return SessionNote(
        message.sender, session, Doing(word), text_in(payload, "client"), teammate, text_in(payload, "last_words")
    )


class Sessions(Struct):
    """Who stands how in which session, as notes are read in order: agent -> session -> how it stands."""

    by_agent: dict[str, dict[str, AgentSession]]

    @classmethod
    def none(cls) -> Sessions:
        """Before anything was said."""
        return cls({})

    def add(self, note: SessionNote, order: Order) -> list[str]:
        """Take the next note; returns the teammates who are gone by it."""
        known = self.by_agent.setdefault(note.name, {})
        known[note.session] = AgentSession(
            note.session, note.doing, order, note.client, note.member if note.teammate else None
        )
        if note.doing is not Doing.ENDED:
            return []
        if note.teammate is not None:
            return [note.teammate]
        return self._end_teammates(note, order)

    def current(self, name: str) -> AgentSession | None:
        """How the agent stands: the latest word of its sessions that go on, else the latest of all."""
        sessions = self.by_agent.get(name, {}).values()
        return max(sessions, key=lambda session: (session.doing is not Doing.ENDED, session.since), default=None)

    def ended(self) -> dict[str, Order]:
        """Agents all of whose sessions have ended -> when the last one did."""
        latest = {name: self.current(name) for name in self.by_agent}
        return {name: last.since for name, last in latest.items() if last is not None and last.doing is Doing.ENDED}

    def _end_teammates(self, note: SessionNote, order: Order) -> list[str]:
        gone = []
        for name, sessions in self.by_agent.items():
            session = sessions.get(note.session)
            if session is not None and session.sponsor == note.member and session.doing is not Doing.ENDED:
                sessions[note.session] = AgentSession(note.session, Doing.ENDED, order, session.client, session.sponsor)
                gone.append(name)
        return gone


def lasting_notes(messages: Iterable[Message]) -> Iterable[str]:
    """Ids of the notes that the present state rests on: the newest of each agent in each session, if it goes on.

    Args:
        messages: In stored order.
    """
    newest: dict[tuple[str, str, str], Message] = {}
    ended: set[tuple[str, str]] = set()
    last: dict[str, Message] = {}
    for message in messages:
        note = session_note(message)
        if note is None:
            continue
        newest[note.member, note.session, note.name] = message
        last[note.name] = message
        if note.teammate is None:
            (ended.add if note.doing is Doing.ENDED else ended.discard)((note.member, note.session))
    going_on = {message.message_id for key, message in newest.items() if key[:2] not in ended}
    return going_on | {message.message_id for message in last.values()}


def is_end(entry: Entry) -> bool:
    """Whether a message only says that its sender's session, or a teammate, is gone."""
    note = session_note(entry.message)
    return note is not None and note.doing is Doing.ENDED
