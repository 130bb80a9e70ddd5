"""Tools of the MCP server: each is a verb of the command line for the agent that the environment names.

No tool answers plans, permissions or questions: those are for the lead, at the console or with the verbs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import anyio
from anyio.abc import TaskGroup
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field
from team_console.console.mcp import results as convert
from team_console.console.mcp.agent import LEASE, LONGEST, ActingAgent, Tell, view_of, wait_for_mail, wait_for_verdict
from team_console.console.mcp.results import Inbox, Me, Roster, Verdict, Written, told
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.verdicts import Face, Seen
from team_console.store.service import asking, inbox, requests, sending
from team_console.store.service.caller import Caller, Receipt, Received
from team_console.store.service.waiting import human_present, is_human_awaited
from team_console.store.views.rows import RequestRow
from team_console.store.views.verdicts import verdict_of

ANSWERED_HERE = "answered in the session"
"""The reason of a request that the client's own user answered."""
_ROUND = "answers"
"""What the dialog is called in a round of its own."""
_LISTS_SINCE = "2025-11-25"
"""First version in which a form may let several options be chosen."""
Answers = dict[str, str | list[str]]
"""Question -> label, labels or own words; empty when not every question was answered."""


class Option(BaseModel):
    """One thing the human may choose."""

    label: str
    description: str = ""


class Question(BaseModel):
    """A question; the human chooses among its options or answers in own words."""

    question: str
    header: str = Field("", description="a word or two that name it")
    options: list[Option] = []
    multi_select: bool = Field(
        False, serialization_alias="multiSelect", description="whether several options may be chosen"
    )


def has_dialog(ctx: Context, questions: Sequence[Question]) -> bool:
    """Whether the client of this call can put these questions to its user."""
    if any(question.multi_select for question in questions) and (ctx.protocol_version or "") < _LISTS_SINCE:
        return False
    offered = ctx.client_capabilities.elicitation if ctx.client_capabilities is not None else None
    # One that names no mode at all means forms.
    return offered is not None and (offered.form is not None or offered.url is None)


async def answers_beside(
    ctx: Context,
    agent: ActingAgent,
    questions: Sequence[Question],
    request_id: str,
    *,
    seconds: float,
    tell: Tell,
) -> Answers | RequestRow:
    """The first of two: what the client's user answers, or how the request stands, at the latest after `seconds`.

    Raises:
        TeamError: As for `wait_for_verdict`.
    """
    given: Answers | None = None
    outcome: RequestRow | TeamError | None = None
    async with anyio.create_task_group() as group:

        async def there() -> None:
            nonlocal given
            given = await _asked(ctx, agent.name, questions)
            if given is not None:  # answered or dismissed: nobody waits beside a dialog that is closed
                group.cancel_scope.cancel()

        group.start_soon(there)
        try:
            outcome = await wait_for_verdict(agent, request_id, seconds, tell)
        except TeamError as error:  # a task group would hand it on inside a group of errors
            outcome = error
        group.cancel_scope.cancel()
    if isinstance(outcome, TeamError):
        raise outcome
    return given or outcome or await wait_for_verdict(agent, request_id, 0)


async def _asked(ctx: Context, asker: str, questions: Sequence[Question]) -> Answers | None:
    """The answers; empty for none, None for a client that after all shows no dialog."""
    form = _form(asker, questions)
    try:
        answer = await ctx.session.elicit_form(form.message, form.requested_schema, ctx.request_id)
    except (MCPError, ValueError):  # the latter: an answer that is none
        return None
    return answers_in(answer, questions)


def answers_in(answer: object, questions: Sequence[Question]) -> Answers:
    """Read what a form gave back, which may be anything."""
    if not isinstance(answer, ElicitResult) or answer.action != "accept" or answer.content is None:
        return {}
    given = {
        question.question: _given(answer.content, number, question) for number, question in enumerate(questions, 1)
    }
    return given if all(given.values()) else {}


def _given(content: Mapping[str, Any], number: int, question: Question) -> str | list[str]:
    own, chosen = content.get(f"words_{number}"), content.get(f"answer_{number}")
    if isinstance(own, str) and own.strip():
        return own.strip()
    if question.multi_select and isinstance(chosen, list):
        return [label for label in chosen if isinstance(label, str)]
    return chosen.strip() if isinstance(chosen, str) else ""


def _form(asker: str, questions: Sequence[Question]) -> ElicitRequestFormParams:
    fields: dict[str, Any] = {}
    required: list[str] = []
    for number, question in enumerate(questions, start=1):
        name, labels = f"answer_{number}", [option.label for option in question.options]
        title, several = safe_line(question.header or question.question), question.multi_select
        choice: dict[str, Any] = {"type": "string", **({"enum": labels} if labels else {})}
        shape = {"type": "array", "items": choice} if labels and several else choice
        fields[name] = {"title": title, "description": safe_line(question.question), **shape}
        if labels:
            fields[f"words_{number}"] = {"type": "string", "title": f"{title}: or in your own words"}
        else:
            required.append(name)
    schema = {"type": "object", "properties": fields, "required": required}
    return ElicitRequestFormParams(message=_message(asker, questions), requested_schema=schema)


def _message(asker: str, questions: Sequence[Question]) -> str:
    """What stands above the form: the questions, and what their options mean."""
    lines = [f"{asker} asks:"]
    for question in questions:
        described = (option for option in question.options if option.description)
        options = (f"- {safe_line(option.label)}: {safe_line(option.description)}" for option in described)
        lines += [safe_text(question.question), *options]
    return "\n".join(lines)


CLIENT = "mcp"
"""What requests say of where they come from."""
SETTLED = 2.0
"""Seconds after a call that took mail until the mail counts as read: a call that is given up comes to nothing."""

Seconds = Annotated[
    float,
    Field(ge=0, le=LONGEST, description=f"how long this call may wait, at most {LONGEST:g}; 0 looks once"),
]
Ticket = Annotated[str, Field(description="the request_id, quoted exactly")]
ToldMe = Annotated[CallToolResult, Me]
ToldRoster = Annotated[CallToolResult, Roster]
ToldInbox = Annotated[CallToolResult, Inbox]
ToldWritten = Annotated[CallToolResult, Written]
ToldVerdict = Annotated[CallToolResult, Verdict]
Summary = Annotated[str | None, Field(description="5-10 words for the reader's list")]


class Tools:
    """The tools of one agent.

    Args:
        settled: Seconds for which a call that took mail must not have been given up, before the mail counts as read.

    Attributes:
        later: Where mail is acknowledged after its call: a task group that lives as long as the server.
    """

    def __init__(self, agent: ActingAgent, settled: float = SETTLED) -> None:
        self._agent = agent
        self._settled = settled
        self.later: TaskGroup | None = None

    async def whoami(self) -> ToldMe:
        """Who you are in this team, who leads it, and what waits for you. Call it first."""
        return told(await self._agent.run(_me))

    async def roster(self) -> ToldRoster:
        """Everybody in the team: role, state, what they last reported, unread messages."""
        return told(convert.roster(await self._agent.view()))

    async def inbox(
        self,
        ctx: Context,
        wait_seconds: Seconds = 0,
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
        delivered: Annotated[
            bool, Field(description="take, too, what was delivered in another way and nobody acknowledged")
        ] = False,
    ) -> ToldInbox:
        """Take your messages, the most urgent first; each is handed out once and marked as read."""
        take = partial(inbox.receive, agent=self._agent.name, lease=LEASE, limit=limit, delivered=delivered)
        received = await wait_for_mail(self._agent, take, wait_seconds, _teller(ctx))
        answer = told(await self._agent.run(partial(inbox_of, received=received)))
        self._acknowledge_later(received)  # only what could be told
        return answer

    async def send(
        self,
        to: Annotated[str | list[str], Field(description='a name, several names, or "all"')],
        summary: Annotated[str, Field(description="5-10 words for the reader's list")],
        content: str | None = None,
        type: Annotated[str, Field(description="a kind of message that may be sent")] = "message",
        priority: Annotated[str | None, Field(description="critical, high, medium or low")] = None,
        in_reply_to: Annotated[str | None, Field(description="the message_id this answers")] = None,
        message_id: Annotated[
            str | None, Field(description="your own id: sending the same again under it writes nothing")
        ] = None,
        fields: Annotated[dict[str, Any] | None, Field(description="what else this kind carries")] = None,
    ) -> ToldWritten:
        """Send a message, one delivery per recipient, all of them or none."""
        return await self._write(
            lambda caller: sending.send(
                caller,
                to=to,
                type=type,
                content=content,
                summary=summary,
                priority=priority,
                payload=fields,
                message_id=message_id,
                in_reply_to=in_reply_to,
            )
        )

    async def hand_in_plan(
        self,
        ctx: Context,
        plan: Annotated[str, Field(description="the whole plan, as Markdown")],
        summary: Summary = None,
        wait_seconds: Seconds = LONGEST,
    ) -> ToldVerdict:
        """Hand in your plan to the lead and wait for the answer; a later plan supersedes an open one.

        `state` says whether it was approved. While it is open nobody has answered: look again with `verdict`.
        """
        receipt = await self._agent.run(
            lambda caller: requests.submit_plan(caller, content=plan, summary=summary, **_origin())
        )
        return await self._answered(ctx, receipt, wait_seconds)

    async def ask_human(
        self,
        ctx: Context,
        questions: Annotated[list[Question], Field(min_length=1, description="no two with the same text")],
        wait_seconds: Seconds = LONGEST,
    ) -> ToldVerdict | InputRequiredResult:
        """Ask the human at the console one or more questions and wait for the answers.

        While `state` is open nobody has answered: look again with `verdict`, and do not answer for the human.
        """
        if ctx.request_state is not None:
            given = answers_in((ctx.input_responses or {}).get(_ROUND), questions)
            return await self._settled_by(given or await self._outcome(ctx, ctx.request_state, 0), ctx.request_state)
        put = [item.model_dump(by_alias=True, exclude=None if item.header else {"header"}) for item in questions]
        receipt = await self._agent.run(lambda caller: asking.ask_question(caller, questions=put, **_origin()))
        # guard: no-dialog-beside-a-console
        if not wait_seconds or not has_dialog(ctx, questions) or await self._agent.run(_is_human_awaited):
            return await self._answered(ctx, receipt, wait_seconds)
        ticket = receipt.request_id or ""
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:  # asked between two calls: the id comes back with the next
            asked = ElicitRequest(params=_form(self._agent.name, questions))
            return InputRequiredResult(input_requests={_ROUND: asked}, request_state=ticket)
        first = await answers_beside(ctx, self._agent, questions, ticket, seconds=wait_seconds, tell=_teller(ctx))
        return await self._settled_by(first, ticket)

    async def verdict(self, ctx: Context, request_id: Ticket, wait_seconds: Seconds = 0) -> ToldVerdict:
        """How a plan or question of yours stands, by its ticket; waits for the answer if asked to."""
        return told(convert.verdict(await self._outcome(ctx, request_id, wait_seconds)))

    async def answer_back(
        self,
        request_id: Ticket,
        content: Annotated[str, Field(description="your answer; the request stays open")],
    ) -> ToldWritten:
        """Answer what the human asked back about a plan or question of yours before deciding it."""
        return await self._write(lambda caller: requests.answer(caller, request_id=request_id, content=content))

    async def answer_shutdown(
        self,
        request_id: Ticket,
        agree: bool,
        reason: Annotated[str, Field(description="needed when you do not agree: what must be finished first")] = "",
    ) -> ToldWritten:
        """Answer the lead's request that you stop. After agreeing finish nothing more: end your work."""
        return await self._write(lambda caller: _answer_stop(caller, request_id, agree, reason))

    async def report_done(
        self,
        summary: Annotated[str, Field(description="what is done, in 5-10 words")],
        details: Annotated[str, Field(description="what was made, what is left, where to look")] = "",
    ) -> ToldWritten:
        """Tell the lead that your work is done; it stands in the roster as your last report."""
        return await self._write(lambda caller: _report(caller, summary, details))

    async def _write(self, act: Callable[[Caller], Receipt]) -> CallToolResult:
        return told(convert.written(await self._agent.run(act)))

    async def _settled_by(self, first: Answers | RequestRow, request_id: str) -> CallToolResult:
        """The answers of the client's own dialog, unless the console was first."""
        if isinstance(first, RequestRow):
            return told(convert.verdict(await self._seen(first)))
        late = await self._agent.run(lambda caller: _ended_here(caller, request_id))
        return told(convert.verdict(await self._seen(late)) if late else convert.answered_here(request_id, first))

    async def _answered(self, ctx: Context, receipt: Receipt, seconds: float) -> CallToolResult:
        outcome = await self._outcome(ctx, receipt.request_id or "", seconds, receipt.messages[0])
        warnings = [*receipt.warnings, *(notice.message for notice in receipt.notices)]
        return told(convert.verdict(outcome, warnings))

    async def _outcome(self, ctx: Context, request_id: str, seconds: float, asked: Message | None = None) -> RequestRow:
        return await self._seen(await wait_for_verdict(self._agent, request_id, seconds, _teller(ctx), asked=asked))

    async def _seen(self, outcome: RequestRow) -> RequestRow:
        """The same, its answer marked as read."""
        answer = outcome.verdict
        if answer is not None and answer.is_unread_by(self._agent.name):
            # What the tool tells now would come once more as mail; it can be looked up again under its ticket.
            await self._agent.run(
                lambda caller: inbox.read_message(caller, agent=caller.actor, message_id=answer.message_id)
            )
        return outcome

    def _acknowledge_later(self, received: Received) -> None:
        ids = [message.message_id for message in received.messages if not message.is_group]
        if not ids:
            return
        assert self.later is not None
        self.later.start_soon(self._acknowledge, ids)

    async def _acknowledge(self, ids: list[str]) -> None:
        """Mark mail as read once its call has come to an end; the server's own end does not keep it from that."""
        try:
            await anyio.sleep(self._settled)
        finally:
            with anyio.CancelScope(shield=True):
                await self._agent.run(lambda caller: _acknowledged(caller, ids))


def _me(caller: Caller) -> Me:
    return convert.me(view_of(caller), caller.team.location, human_present=human_present(caller.team))


def _is_human_awaited(caller: Caller) -> bool:
    return is_human_awaited(caller.team)


def _ended_here(caller: Caller, request_id: str) -> RequestRow | None:
    """End a request that was answered in the client; how it stands when the console was first."""
    try:
        asking.withdraw(caller, request_id=request_id, reason=ANSWERED_HERE)
    except TeamError as error:
        # guard: console-answer-stands
        if error.code is not Code.ALREADY_ANSWERED:
            raise
        return verdict_of(caller.team, request_id, me=caller.actor)
    return None


def inbox_of(caller: Caller, *, received: Received) -> Inbox:
    problems = [problem.message for problem in received.notices]
    if received.delivered:
        ids = ", ".join(message.message_id for message in received.delivered)
        problems.append(f"delivered in another way and not acknowledged: {ids}; delivered=true takes them")
    if received.damaged:
        problems.append("entries of the queue are damaged, so nobody knows whom they are for")
    messages = []
    for message in received.messages:
        shown, problem = convert.mail(caller.team, message)
        messages.append(shown)
        problems += problem
    return Inbox(messages=messages, status_message=received.status_message, warnings=problems)


def _acknowledged(caller: Caller, ids: list[str]) -> None:
    """What could not be acknowledged comes back when its lease ends; the call that took it has long been answered."""
    with suppress(TeamError):
        inbox.acknowledge(caller, ids=ids)


def _origin() -> dict[str, Any]:
    """Where requests come from: by MCP, and from the folder in which the client started the server."""
    try:
        directory = os.getcwd()
    except FileNotFoundError:  # a worktree that was removed under its client: the agent can ask all the same
        directory = ""
    return {"client": CLIENT, "directory": directory}


def _answer_stop(caller: Caller, request_id: str, agree: bool, reason: str) -> Receipt:
    row = verdict_of(caller.team, request_id, me=caller.actor)
    # guard: no-plan-answers-by-mcp
    if row.kind is not RequestKind.SHUTDOWN:
        text = f"{request_id} is a request of kind {row.kind}, and no request to stop"
        raise TeamError(Code.INVALID_REQUEST_ID, text, "Quote the request_id of the shutdown_request in your inbox.")
    named = Seen(face=Face.NAMED)
    if agree:
        return requests.approve(caller, request_id=request_id, note=reason or None, seen=named)
    return requests.reject(caller, request_id=request_id, reason=reason, seen=named)


def _report(caller: Caller, summary: str, details: str) -> Receipt:
    lead = caller.team.config().lead
    payload = {"message": details or summary}
    return sending.send(caller, to=lead, type="notify", summary=summary, payload=payload)


def _teller(ctx: Context) -> Tell:
    """Sends progress to the client of this call; a client that asked for none is sent none."""

    async def tell(waited: float, at_most: float, what: str) -> None:
        await ctx.report_progress(waited, at_most, what)

    return tell
