"""Requests of an agent: what `AgentClient` asks others, answers to others, and waits for.

The half of the Python API (`store.api`) that is about requests; everything said there holds here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType
from team_console.store.desk import asking, requests
from team_console.store.desk.caller import Caller, Receipt
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import ALWAYS, ONCE
from team_console.store.protocol.reading import reading
from team_console.store.protocol.seen import Face, Seen, seen_of
from team_console.store.views.rows import RequestRow


class RequestVerbs:
    """What an agent does with requests; every `AgentClient` can."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

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
        return self._requested(
            requests.submit_plan(self._caller, content=content, summary=summary, modes=modes, expires=expires)
        )

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
        return self._requested(receipt)

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
            question: The question; or several, each with `question`, `header`, `options` (each with `label` and
                `description`) and `multiSelect`.
            options: What may be chosen, where there is one question.
            several: Whether more than one of them may be.
            expires, summary: As for `ask_permission`.

        Raises:
            TeamError: As for `ask_permission`.
        """
        single = {"question": question, "options": [{"label": label} for label in options], "multiSelect": several}
        questions = [single] if isinstance(question, str) else list(question)
        return self._requested(asking.ask_question(self._caller, questions=questions, expires=expires, summary=summary))

    def withdraw(self, request: str | Request, *, reason: str) -> Receipt:
        """Take back an open request of one's own: nothing decides it any more. Doing it twice changes nothing.

        Raises:
            TeamError: `ALREADY_ANSWERED`: the answer counts; `NOT_PERMITTED`, `INVALID_REQUEST_ID`, `MISSING_REASON`.
        """
        request_id = request if isinstance(request, str) else request.request_id
        return asking.withdraw(self._caller, request_id=request_id, reason=reason)

    def request_shutdown(self, agent: str, *, reason: str | None = None) -> Request:
        """Ask an agent to stop, as the lead; it agrees or refuses with a reason. Nothing is ended by force.

        Raises:
            TeamError: `NOT_PERMITTED` for anyone but the lead, `AGENT_NOT_FOUND`, or as for `send`.
        """
        return self._requested(requests.request_shutdown(self._caller, agent=agent, reason=reason))

    def request(self, request_id: str) -> Request:
        """A request by its id, to look at it or wait for its answer: one of an earlier run, or of any kind.

        Nothing is looked up yet; an id that no request has is refused by `Request.look` and `Request.wait`.
        """
        return Request(self._caller, request_id)

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
        request_id, seen = _as_seen(request)
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

    def answer(
        self,
        request: str | Message | RequestRow,
        answers: Mapping[str, str | Sequence[str]] | None = None,
        *,
        content: str | None = None,
    ) -> Receipt:
        """Answer a question, as the lead; a clarification or an escalation with `content` alone.

        Args:
            answers: Question text -> the label of an option, several where they may be, or own words.

        Raises:
            TeamError: `MISSING_CONTENT`, `INVALID_FIELD` for what does not fit the questions, or as for `approve`.
        """
        request_id, seen = _as_seen(request)
        return requests.answer(self._caller, request_id=request_id, answers=answers, content=content, seen=seen)

    def reject(self, request: str | Message | RequestRow, *, reason: str, suggest: str | None = None) -> Receipt:
        """Say no to an open request, with the reason and what would be accepted instead.

        Raises:
            TeamError: `MISSING_REASON`, or as for `approve`.
        """
        request_id, seen = _as_seen(request)
        return requests.reject(self._caller, request_id=request_id, reason=reason, suggest=suggest, seen=seen)

    def _requested(self, receipt: Receipt) -> Request:
        return Request(self._caller, receipt.request_id or receipt.messages[0].message_id, receipt)


class Request:
    """A request, usually one that this agent made: its id, what was written for it, and how it stands.

    Attributes:
        request_id: What an answer quotes. Keep it to wait again after a restart, with `AgentClient.request`.
        receipt: What writing it did, with its warnings; None when it was not made here.
    """

    def __init__(self, caller: Caller, request_id: str, receipt: Receipt | None = None) -> None:
        self.request_id = request_id
        self.receipt = receipt
        self._caller = caller

    def look(self) -> RequestRow:
        """The request as it stands, without waiting: `state`, `is_open`, `is_approved`, `reason`, `answered_by`.

        Raises:
            TeamError: `INVALID_REQUEST_ID`, `STORE_UNREADABLE`.
        """
        from team_console.store.views.requests.following import RequestFollower

        return RequestFollower(self._caller.team, self.request_id, me=self._caller.actor).look()

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
        from team_console.store.views.requests.verdicts import await_verdict, mark_verdict_read

        asked = self.receipt.messages[0] if self.receipt is not None else None
        outcome = await_verdict(self._caller.team, self.request_id, timeout=timeout, me=self._caller.actor, asked=asked)
        if outcome.is_open:
            return None
        mark_verdict_read(self._caller, outcome.message)
        return outcome.row


def _as_seen(request: str | Message | RequestRow) -> tuple[str, Seen]:
    """The id of the request, and what of it was in hand."""
    if isinstance(request, str):
        return request, Seen(face=Face.NAMED)
    if isinstance(request, RequestRow):
        return request.request_id, seen_of(request.question, face=Face.HANDED)
    return reading(request).request_id or request.message_id, seen_of(request, face=Face.HANDED)
