"""Python API for agents: join a team, send and receive, hand in a plan and wait, answer requests, look around.

Every method is the verb of the command line with the same name: the same checks, the same single way to write,
the same audit trail. A method that writes returns after the store has it durably. Names are agent names as in the
team's settings, ids are texts, durations are seconds, moments are `datetime` in UTC.

Whatever is refused or fails raises `TeamError`: `code` (a `Code`), `message` (what happened, with the place), `hint`
(the next step, in the words of the command line) and `facts` (who answered, when, who holds the lock). An argument of
another type than a method names is `INVALID_FIELD`. Besides what the methods name, each that writes raises
`STORE_LOCKED` when the lock was held for all of `lock_wait` seconds, `READ_ONLY`, `STORE_UNREADABLE`, and
`STORE_FAILED` when writing failed, with the store as it was before.

Methods block. In a program with an event loop call them in a thread: `await asyncio.to_thread(agent.receive, wait=30)`.
Use an `AgentClient` from one thread at a time; any number of them, in threads or processes, can be on one team. One
that was made before a fork works on both sides of it. After `close` every method but `close` raises `USAGE`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial, wraps
from types import TracebackType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team, attached_content
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import Message
from team_console.store.model.names import check_name
from team_console.store.protocol.client_requests import ALWAYS, ONCE
from team_console.store.protocol.parsing import thread_of
from team_console.store.protocol.shown_when_decided import Face, Seen, seen_of
from team_console.store.service import asking, inbox, requests
from team_console.store.service import sending as mail
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.decision import UNSEEN
from team_console.store.service.inbox import Received
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


# Arguments of another type than a method names are refused.

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def check_types(act: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Return the function, which refuses with `INVALID_FIELD` an argument of another type than it names."""
    kinds: dict[str, Any] = {}
    code = act.__code__
    names = code.co_varnames[: code.co_argcount]

    @wraps(act)
    def checked(*args: _Given.args, **options: _Given.kwargs) -> _Made:
        if not kinds:
            kinds.update(get_type_hints(act))
        for name, value in {**dict(zip(names, args, strict=False)), **options}.items():
            # guard: api-takes-what-it-names
            if name in kinds and not _is_of_type(value, kinds[name]):
                text = f"{name}: {value_words(value)} is no {act.__annotations__[name]}"
                raise TeamError(Code.INVALID_FIELD, text, f"See the documentation of {act.__qualname__}.")
        return act(*args, **options)

    return checked


def _is_of_type(value: object, kind: Any) -> bool:
    """Return whether a value is of a type, with all in it. A text is no sequence of texts here, and NaN no number."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, UnionType):
        return any(_is_of_type(value, each) for each in inner)
    if origin is Mapping:
        key_type, value_type = inner
        if not isinstance(value, Mapping):
            return False
        return all(_is_of_type(key, key_type) and _is_of_type(item, value_type) for key, item in value.items())
    if origin is Sequence:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Collection):
            return False
        return all(_is_of_type(one, inner[0]) for one in value)
    if kind in (int, float):
        return isinstance(value, (int, kind)) and not isinstance(value, bool) and value == value
    return isinstance(value, origin or kind)


# The team, as an agent acts in it.


class Request:
    """A request, usually one that this agent made: its id, what was written for it, and how it stands.

    Attributes:
        request_id: What an answer quotes. Keep it to wait again after a restart, with `AgentClient.request`.
        receipt: What writing it did, with its warnings; None when it was not made here.
    """

    def __init__(self, agent: AgentClient, request_id: str, receipt: Receipt | None = None) -> None:
        self.request_id = request_id
        self.receipt = receipt
        self._agent = agent

    def look(self) -> RequestRow:
        """Return the request as it stands, without waiting: `state`, `is_open`, `is_approved`, `reason`,
        `answered_by`.

        Raises:
            TeamError: `INVALID_REQUEST_ID`, `STORE_UNREADABLE`.
        """
        from team_console.store.views.verdicts import verdict_of  # views, which who only writes needs not

        caller = self._agent._caller
        return verdict_of(caller.team, self.request_id, me=caller.actor)

    @check_types
    def wait(self, timeout: float | None = None) -> RequestRow | None:
        """Wait until the request is not open any more, woken by the store; None when that took too long.

        It ends with the first valid answer (`is_approved`, `reason`, `answered_by`), or when the request was
        superseded by a later one, withdrawn or timed out (`state`). An answer to this agent is marked as read, as it
        would be by `receive`; unless the team was opened read-only.

        Args:
            timeout: Seconds; None waits as long as it takes. The request stays open when they are over.

        Raises:
            TeamError: `INVALID_REQUEST_ID`, also when the request was rewritten behind its asker and decided as what
                it was not; `STORE_UNREADABLE`, `USAGE` in a thread whose event loop runs.
        """
        from team_console.store.views.verdicts import await_verdict, mark_verdict_read

        asked = self.receipt.messages[0] if self.receipt is not None else None
        caller = self._agent._caller
        outcome = await_verdict(caller.team, self.request_id, timeout=timeout, me=caller.actor, asked=asked)
        if outcome.is_open:
            return None
        mark_verdict_read(caller, outcome.verdict)
        return outcome


def _id_and_seen(request: str | Message | RequestRow) -> tuple[str, Seen]:
    """Return the id of the request, and what of it was in hand."""
    if isinstance(request, str):
        return request, UNSEEN
    if isinstance(request, RequestRow):
        return request.request_id, seen_of(request.question, face=Face.HANDED)
    return thread_of(request), seen_of(request, face=Face.HANDED)


@check_types
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
    given = None if location is None else os.fspath(location)
    team = open_team(given, read_only=read_only)
    if team.root is not None:  # a forked process may stand in another folder
        given = team.location
    return AgentClient(team, name, lock_wait=lock_wait, reopen=partial(open_team, given, read_only=read_only))


class AgentClient:
    """An agent on a team; made by `join_team`. Leaving its `with` block, or `close`, releases the team.

    Attributes:
        name: Who acts; `from` of everything it sends.
        location: The team, as `-t` takes it.
    """

    def __init__(
        self, team: Team, name: str, *, lock_wait: float = 10.0, reopen: Callable[[], Team] | None = None
    ) -> None:
        """Act on `team`; `reopen` opens it once more, for a process that was forked from this one."""
        self._callers = [Caller(team, name, lock_wait)]
        self.name = name
        self.location = team.location
        self._reopen = reopen
        self._process = os.getpid()
        self._is_closed = False
        self._taking = threading.RLock()
        """Held while a wait takes messages: the end of the client comes before or after, never in the middle."""

    def __enter__(self) -> AgentClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Release what the team holds open. What was received with a lease stays leased until the lease ends."""
        # A take of a waiting thread is over before, or finds the client closed: nobody would get what it takes after.
        with self._taking:
            self._is_closed = True
        self._callers[-1].team.close()

    @property
    def _caller(self) -> Caller:
        """Who acts on which team, as the service takes it.

        Raises:
            TeamError: `USAGE` after `close`.
        """
        # guard: closed-client-refused
        if self._is_closed:
            raise TeamError(Code.USAGE, f"this client of {self.name} is closed", "Join once more: join_team(...)")
        # guard: team-per-process
        if self._process != os.getpid() and self._reopen is not None:
            # A thread of the other process may have been in the middle of anything there, with a lock that nobody here
            # gives back. The team of before is kept: its end would end what the other process has open.
            self._callers.append(replace(self._callers[-1], team=self._reopen()))
            self._process, self._taking = os.getpid(), threading.RLock()
        return self._callers[-1]

    @check_types
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
            type: A kind of message; `docs/reference/kinds.md` lists them with who may send them to whom.
            priority: `critical` (or `urgent`), `high`, `medium` or `low`; None takes that of the kind.
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

    @check_types
    def broadcast(self, content: str, *, summary: str, message_id: str | None = None) -> Receipt:
        """Send one message to every member but the sender; `Receipt.messages` are the deliveries.

        Raises:
            TeamError: As for `send`.
        """
        return mail.broadcast(self._caller, summary=summary, content=content, message_id=message_id)

    @check_types
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
        from team_console.store.service.waiting import LONGEST_WAIT, wait_for_messages

        if not 0 <= wait <= LONGEST_WAIT:
            raise TeamError(Code.INVALID_FIELD, f"wait: {wait} is not a number of seconds", "Give 30, for example.")
        return wait_for_messages(self._caller, partial(self._unless_closed, take), timeout=wait)

    @check_types
    def peek(self, *, limit: int | None = None, type: str | None = None, delivered: bool = False) -> Received:
        """Return what `receive` would hand out now; nothing is locked, marked or archived.

        Raises:
            TeamError: As for `receive`.
        """
        return inbox.receive(
            self._caller, agent=self.name, type=type, limit=limit, delivered=delivered, mark_read=False
        )

    @check_types
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

    @check_types
    def content_of(self, message: Message) -> str:
        """Return the whole content, read from its attachment where `Message.content` holds only the beginning (above
        64 KB).

        Raises:
            TeamError: `INVALID_FIELD` when the attachment is missing or was altered.
        """
        attached = attached_content(self._caller.team, message)
        return message.content if attached is None else attached

    @check_types
    def requests(self, *, only_open: bool = False) -> tuple[RequestRow, ...]:
        """Return the team's requests: open ones first, the oldest on top, then answered ones, the newest on top.

        Raises:
            TeamError: `STORE_UNREADABLE`; an empty answer would be a lie.
        """
        rows = self._view().requests
        return tuple(row for row in rows if row.is_open) if only_open else rows

    def roster(self) -> tuple[RosterRow, ...]:
        """Return the agents: role, state as far as their messages tell, unread messages, when they were last seen.

        Raises:
            TeamError: `STORE_UNREADABLE`.
        """
        return self._view().roster

    def status(self) -> dict[str, Any]:
        """Return the object of `team-console status --json`: `condition`, `messages` by status, what `needs` this
        agent.

        A queue that cannot be read is an answer, not an error: `condition` says so, and what is not known is None.
        """
        from team_console.store.views.status import status_json, view_of_team

        team = self._caller.team
        return status_json(view_of_team(team, team.snapshot(), me=self.name), team)

    @check_types
    def submit_plan(
        self, content: str, *, summary: str | None = None, modes: Sequence[str] = (), expires: datetime | None = None
    ) -> Request:
        """Hand in a plan to the lead, who approves or rejects it. A later plan supersedes an open one.

        Where the human edited the plan before approving it, the verdict's payload has it as `updated_plan`.

        Args:
            summary: 5-10 words; the first line of the plan when left out.
            modes: In which you can go on after a yes; `mode` of the verdict's payload is the one that was chosen.
            expires: As for `ask_permission`.

        Raises:
            TeamError: `MISSING_CONTENT`, `NOT_PERMITTED` for the lead itself, or as for `send`.
        """
        return self._request_made(
            requests.submit_plan(self._caller, content=content, summary=summary, modes=modes, expires=expires)
        )

    @check_types
    def ask_permission(
        self,
        tool: str,
        input: Mapping[str, Any],
        *,
        directory: str | None = None,
        session: str | None = None,
        client: str | None = None,
        suggestions: Sequence[Any] = (),
        before: str | UnsetType | None = UNSET,
        expires: datetime | None = None,
        summary: str | None = None,
    ) -> Request:
        """Ask the human whether a tool may be used. Any number may be open; none supersedes another.

        The answer is `Request.wait().verdict`: its payload has `approve`, and after a yes `scope` (`once` or `always`,
        then with the `suggestion` that was chosen) and, where the human edited what was asked, `updated_input`.

        Args:
            tool, input: What is to be used and with what.
            directory: The folder it would work in.
            session, client: The session and the name of the program that asks, shown to the human.
            suggestions: What may be allowed always; the very object comes back.
            before: The file that would change, as it is now; None when it does not exist yet. Leave it out for others.
            expires: When you stop waiting; from then on it is withdrawn as timed out.
            summary: One line; made from tool and input when left out.

        Raises:
            TeamError: `INVALID_FIELD`, `NOT_PERMITTED` for the lead itself, or as for `send`.
        """
        receipt = asking.ask_permission(
            self._caller,
            tool=tool,
            input=input,
            directory=directory,
            session=session,
            client=client,
            suggestions=suggestions,
            before=before,
            expires=expires,
            summary=summary,
        )
        return self._request_made(receipt)

    @check_types
    def ask_question(
        self,
        question: str | Sequence[Mapping[str, Any]],
        *,
        options: Sequence[str] = (),
        several: bool = False,
        expires: datetime | None = None,
        summary: str | None = None,
    ) -> Request:
        """Ask the human a question, with options or without. Any number may be open.

        The answer is `Request.wait().verdict`: its payload has `answers`, question text -> label, labels or own words.

        Args:
            question: The question; or several, each with `question`, `header`, `options` (each with `label`,
                `description` and `preview`) and `multiSelect`.
            options: What may be chosen, where there is one question.
            several: Whether more than one of them may be.
            expires, summary: As for `ask_permission`.

        Raises:
            TeamError: As for `ask_permission`.
        """
        single = {"question": question, "options": [{"label": label} for label in options], "multiSelect": several}
        questions = [single] if isinstance(question, str) else list(question)
        receipt = asking.ask_question(self._caller, questions=questions, expires=expires, summary=summary)
        return self._request_made(receipt)

    @check_types
    def withdraw(self, request: str | Request, *, reason: str) -> Receipt:
        """Take back an open request of one's own: nothing decides it any more. Doing it twice changes nothing.

        Raises:
            TeamError: `ALREADY_ANSWERED`: the answer counts; `NOT_PERMITTED`, `INVALID_REQUEST_ID`, `MISSING_REASON`.
        """
        request_id = request if isinstance(request, str) else request.request_id
        return asking.withdraw(self._caller, request_id=request_id, reason=reason)

    @check_types
    def request_shutdown(self, agent: str, *, reason: str | None = None) -> Request:
        """Ask an agent to stop, as the lead; it agrees or refuses with a reason. Nothing is ended by force.

        Raises:
            TeamError: `NOT_PERMITTED` for anyone but the lead, `AGENT_NOT_FOUND`, or as for `send`.
        """
        return self._request_made(requests.request_shutdown(self._caller, agent=agent, reason=reason))

    @check_types
    def request(self, request_id: str) -> Request:
        """Return a request by its id, to look at it or wait for its answer: one of an earlier run, or of any kind.

        Nothing is looked up yet; an id that no request has is refused by `Request.look` and `Request.wait`.
        """
        return Request(self, request_id)

    @check_types
    def approve(
        self,
        request: str | Message | RequestRow,
        *,
        note: str | None = None,
        agent_name: str | None = None,
        always: int | None = None,
        mode: str | None = None,
        updated: Mapping[str, Any] | str | None = None,
    ) -> Receipt:
        """Say yes to an open request: a plan as the lead, a shutdown as the agent that was asked.

        Args:
            request: The message that asked, or its row: a request that was changed since is refused; or its id alone.
            note: A word to whoever asked.
            agent_name: For a creation: the name of the new agent.
            always: For a permission: which of the client's suggestions is allowed from now on, from 1.
            mode: For a plan: one of the modes it offers to go on in.
            updated: The edited plan, the edited command or content, or the whole input of a tool, approved in place
                of what was asked for.

        Raises:
            TeamError: `INVALID_REQUEST_ID`, `ALREADY_ANSWERED` (its facts say by whom and when: the first answer
                stands), `NOT_PERMITTED`, `INVALID_FIELD`, and for a creation `INVALID_NAME`, `SPAWN_FAILED`.
        """
        request_id, seen = _id_and_seen(request)
        return requests.approve(
            self._caller,
            request_id=request_id,
            note=note,
            agent_name=agent_name,
            seen=seen,
            scope=ONCE if always is None else ALWAYS,
            suggestion=always,
            mode=mode,
            updated=updated,
        )

    @check_types
    def answer(
        self,
        request: str | Message | RequestRow,
        answers: Mapping[str, str | Sequence[str]] | None = None,
        *,
        notes: Mapping[str, str] | None = None,
        content: str | None = None,
    ) -> Receipt:
        """Answer a question, as the lead; a clarification or an escalation with `content` alone.

        Args:
            answers: Question text -> the label of an option, several where they may be, or own words.
            notes: Question text -> words beside what was chosen.

        Raises:
            TeamError: `MISSING_CONTENT`, `INVALID_FIELD` for what does not fit the questions, or as for `approve`.
        """
        request_id, seen = _id_and_seen(request)
        return requests.answer(
            self._caller, request_id=request_id, answers=answers, notes=notes, content=content, seen=seen
        )

    @check_types
    def reject(self, request: str | Message | RequestRow, *, reason: str, suggest: str | None = None) -> Receipt:
        """Say no to an open request, with the reason and what would be accepted instead.

        Raises:
            TeamError: `MISSING_REASON`, or as for `approve`.
        """
        request_id, seen = _id_and_seen(request)
        return requests.reject(self._caller, request_id=request_id, reason=reason, suggest=suggest, seen=seen)

    def _unless_closed(self, take: Callable[[Caller], Received], caller: Caller) -> Received:
        """Take; a wait that goes on in another thread when the client is closed takes nothing that nobody would get."""
        with self._taking:
            return take(replace(self._caller, wait=caller.wait))

    def _view(self) -> View:
        # The views cost as much at the start as all writing does; an agent that only works off its inbox needs none.
        from team_console.store.views.status import view_of_team

        team = self._caller.team
        return view_of_team(team, team.snapshot().require_known(), me=self.name)

    def _request_made(self, receipt: Receipt) -> Request:
        return Request(self, receipt.request_id or receipt.messages[0].message_id, receipt)
