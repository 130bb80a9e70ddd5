"""Python API for agents: join a team, send and receive, hand in a plan and wait, answer requests, look around.

Every method is the verb of the command line with the same name: the same checks, the same single way to write,
the same audit trail. A method that writes returns after the store has it durably. Names are agent names as in the
team's settings, ids are texts, durations are seconds, moments are `datetime` in UTC.

Whatever is refused or fails raises `TeamError`: `code` (a `Code`), `message` (what happened, with the place), `hint`
(the next step, in the words of the command line) and `facts` (who answered, when, who holds the lock). Besides what
the methods name, each that writes raises `STORE_LOCKED` when the lock was held for all of `lock_wait` seconds,
`READ_ONLY`, `STORE_UNREADABLE`, and `STORE_FAILED` when writing failed, with the store as it was before.

Methods block. In a program with an event loop call them in a thread: `await asyncio.to_thread(agent.receive, wait=30)`.
Use an `AgentClient` from one thread at a time; any number of them, in threads or processes, can be on one team.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any

from team_console.store.api.agent_requests import Request, RequestVerbs
from team_console.store.attachments import attached_content
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.desk import inbox, mail
from team_console.store.desk.caller import Caller, Receipt, Received
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import check_name
from team_console.store.views.rows import AgentState, RequestRow, RequestState, RosterRow, View

__all__ = [
    "AgentClient",
    "AgentState",
    "Code",
    "Message",
    "Receipt",
    "Received",
    "Request",
    "RequestRow",
    "RequestState",
    "RosterRow",
    "TeamError",
    "join_team",
]


def join_team(
    location: str | os.PathLike[str] | None, name: str, *, read_only: bool = False, lock_wait: float = 10.0
) -> AgentClient:
    """Open the team at `location` to act there as the agent `name`; nothing is written by it.

    Args:
        location: What `-t` takes: a folder, a database file or `postgresql://user@host/database`. None: the team
            of `TEAM_CONSOLE_TEAM`, else of the nearest project above the current folder.
        read_only: Open it so that nothing is ever locked, made or written; what writes raises `READ_ONLY`.
        lock_wait: Seconds for which a write waits while somebody else holds the lock.

    Raises:
        TeamError: `TEAM_NOT_FOUND`, `INVALID_NAME`.
    """
    name = check_name(name, field="name")
    team = open_team(None if location is None else os.fspath(location), read_only=read_only)
    return AgentClient(team, name, lock_wait=lock_wait)


class AgentClient(RequestVerbs):
    """An agent on a team; made by `join_team`. Leaving its `with` block, or `close`, releases the team.

    Attributes:
        name: Who acts; `from` of everything it sends.
        location: The team, as `-t` takes it.
    """

    def __init__(self, team: Team, name: str, *, lock_wait: float = 10.0) -> None:
        super().__init__(Caller(team, name, lock_wait))
        self.name = name
        self.location = team.location
        self._team = team

    def __enter__(self) -> AgentClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Release what the team holds open. What was received with a lease stays leased until the lease ends."""
        self._team.close()

    def send(
        self,
        to: str | Sequence[str],
        content: str | None = None,
        *,
        summary: str | None = None,
        type: str = "message",
        priority: str | None = None,
        payload: Mapping[str, Any] | None = None,
        message_id: str | None = None,
        in_reply_to: str | None = None,
    ) -> Receipt:
        """Send a message, one delivery per recipient, all of them or none.

        Args:
            to: A name, several names, or `"all"` for every member but the sender.
            summary: 5-10 words for the reader's list.
            type: A kind of message; the README lists them with who may send them to whom.
            priority: `critical`, `high`, `medium` or `low`; None takes that of the kind.
            payload: Further fields of this kind, as JSON values.
            message_id: Your own id. Sending the same again under it writes nothing (`Receipt.repeated`), so a send
                whose result was never seen can be repeated safely.
            in_reply_to: The id of the message this answers.

        Raises:
            TeamError: `AGENT_NOT_FOUND` (with the nearest name), `MISSING_RECIPIENT`, `MISSING_CONTENT`,
                `MISSING_SUMMARY`, `INVALID_TYPE`, `INVALID_FIELD`, `FORBIDDEN_FIELD`, `CONTENT_TOO_LARGE`,
                `DUPLICATE_ID`, `NOT_PERMITTED`.
        """
        return mail.send(
            self._caller,
            to=to,
            type=type,
            content=content,
            summary=summary,
            priority=priority,
            payload=payload,
            message_id=message_id,
            in_reply_to=in_reply_to,
        )

    def broadcast(self, content: str, *, summary: str, message_id: str | None = None) -> Receipt:
        """Send one message to every member but the sender; `Receipt.messages` are the deliveries.

        Raises:
            TeamError: As for `send`.
        """
        return mail.broadcast(self._caller, summary=summary, content=content, message_id=message_id)

    def receive(
        self,
        *,
        wait: float | None = None,
        lease: float | None = None,
        limit: int | None = None,
        type: str | None = None,
        delivered: bool = False,
    ) -> Received:
        """Take the own pending messages, most urgent first; each is handed out to exactly one caller.

        `Received.messages` holds them, empty when there are none. They are archived and marked as read, so a
        program that may die over its work takes them with a lease instead and acknowledges each when it is done.

        Args:
            wait: Seconds to wait for the first message, woken by the store; None looks once.
            lease: Seconds to hold the messages until `acknowledge`; what is not acknowledged by then is handed out
                again.
            limit: At most so many, for several workers with one name.
            type: Only this kind of message.
            delivered: Take, too, what the router pushed and nobody acknowledged; else `Received.delivered` names it.

        Raises:
            TeamError: `AGENT_NOT_FOUND` when the team does not know this agent, `INVALID_FIELD` for a number out of
                range, `USAGE` for a wait in a thread whose event loop runs; when its time is over while the team that
                was looked at before is away, what the store says, `STORE_UNREADABLE` for example.
        """
        take = partial(
            inbox.receive, agent=self.name, type=type, lease=lease, limit=limit, delivered=delivered, mark_read=True
        )
        if wait is None:
            return take(self._caller)
        # asyncio costs 45 ms at the start, as much as the rest: only who waits pays it.
        from team_console.store.desk.waiting import LONGEST_WAIT, wait_for_messages

        if not 0 <= wait <= LONGEST_WAIT:
            raise TeamError(Code.INVALID_FIELD, f"wait: {wait} is not a number of seconds", "Give 30, for example.")
        return wait_for_messages(self._caller, take, timeout=wait)

    def peek(self, *, limit: int | None = None, type: str | None = None, delivered: bool = False) -> Received:
        """What `receive` would hand out now; nothing is locked, marked or archived.

        Raises:
            TeamError: As for `receive`.
        """
        return inbox.receive(
            self._caller, agent=self.name, type=type, limit=limit, delivered=delivered, mark_read=False
        )

    def acknowledge(self, message: Message | str) -> Receipt:
        """Mark a leased or delivered message as read: the work on it is done. Doing it twice changes nothing.

        Args:
            message: As `receive` returned it, which also proves that its lease is still this one; or its id.

        Raises:
            TeamError: `NOT_PERMITTED` when the lease ended and the message was handed out again, or was never
                received; `INVALID_FIELD` when there is no such message for this agent.
        """
        if isinstance(message, str):
            return inbox.acknowledge(self._caller, ids=[message])
        token = message.envelope("token")
        return inbox.acknowledge(
            self._caller, ids=[message.message_id], token=token if isinstance(token, str) else None
        )

    def content_of(self, message: Message) -> str:
        """The whole content, read from its attachment where `Message.content` holds only the beginning (above 64 KB).

        Raises:
            TeamError: `INVALID_FIELD` when the attachment is missing or was altered.
        """
        attached = attached_content(self._team, message)
        return message.content if attached is None else attached

    def requests(self, *, only_open: bool = False) -> tuple[RequestRow, ...]:
        """The team's requests: open ones first, the oldest on top, then answered ones, the newest on top.

        Raises:
            TeamError: `STORE_UNREADABLE`; an empty answer would be a lie.
        """
        rows = self._view().requests
        return tuple(row for row in rows if row.is_open) if only_open else rows

    def roster(self) -> tuple[RosterRow, ...]:
        """The agents: role, state as far as their messages tell, unread messages, when they were last seen.

        Raises:
            TeamError: `STORE_UNREADABLE`.
        """
        return self._view().roster

    def status(self) -> dict[str, Any]:
        """The object of `team-console status --json`: `condition`, `messages` by status, what `needs` this agent.

        A queue that cannot be read is an answer, not an error: `condition` says so, and what is not known is None.
        """
        from team_console.store.views.looking import view_of_team
        from team_console.store.views.status_json import status_json

        return status_json(view_of_team(self._team, self._team.snapshot(), me=self.name, lists=False), self._team)

    def _view(self) -> View:
        # The views cost as much at the start as all writing does; an agent that only works off its inbox needs none.
        from team_console.store.views.looking import view_of_team

        return view_of_team(self._team, inbox.readable(self._team.snapshot()), me=self.name)
