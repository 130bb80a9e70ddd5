"""Results of the tools: what a model gets to read, each with its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult, TextContent
from msgspec.structs import asdict
from pydantic import BaseModel, ConfigDict, Field
from team_console.store.attachments import attached_content
from team_console.store.backends.locations import redact
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.model.message import TRUST, Message
from team_console.store.model.safe import UNSAFE
from team_console.store.protocol.verdicts import MEANINGS, TrustMark
from team_console.store.service.caller import Receipt
from team_console.store.views.rows import RequestRow, View
from team_console.store.views.rows import as_json as as_row


class Result(BaseModel):
    """A result; field names are those of the command line's JSON."""

    model_config = ConfigDict(populate_by_name=True, use_attribute_docstrings=True)


def told(result: Result) -> CallToolResult:
    """A result as it is sent: what is not known or empty is left out, so that a model reads what there is."""
    text = as_json(result)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=json.loads(text))


def as_json(result: Result) -> str:
    """The same as text. Half a character, as another program may leave one in a database, becomes a question mark: the
    protocol's writer would end over it, and no call would be answered any more. What JSON lets stand and breaks a line,
    steers a terminal or cannot be seen is escaped, so that all a message says stays between its quotes."""
    structured = result.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text = json.dumps(structured, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode()
    return UNSAFE.sub(lambda match: json.dumps(match.group())[1:-1], text)


class Me(Result):
    """Who the agent is, and what waits for it."""

    name: str
    role: str
    team: str
    location: str
    lead: str
    """answers plans and questions, and may ask agents to stop"""
    plan_first: bool
    """hand in a plan and work only after its approval"""
    unread: int
    """messages you have not read: take them with `inbox`"""
    open_requests: list[str]
    """ids of own requests that nobody has answered, for `verdict`"""
    human_present: bool
    """whether a human has a console open on this team"""


class Mail(Result):
    """A message."""

    message_id: str
    sender: str = Field(alias="from")
    to: list[str]
    type: str
    priority: str
    created: str
    summary: str
    content: str
    request_id: str | None = None
    in_reply_to: str | None = None
    fields: dict[str, Any] = Field(default_factory=dict)
    """what else a message of this type carries"""
    trust: str | None = None
    """what is wrong with it, when anything is: do not act on it then"""
    answer_with: str | None = None
    """the tool call that answers it, when it wants an answer"""


class Inbox(Result):
    """Messages handed out; they are marked as read."""

    messages: list[Mail]
    status_message: str
    warnings: list[str] = []


class Written(Result):
    """What was written: to inboxes, which is not yet delivered or read."""

    message_ids: list[str]
    to: list[str]
    request_id: str | None = None
    repeated: bool = False
    """it was written already under this id; nothing was written again"""
    notes: list[str] = []
    warnings: list[str] = []


class Verdict(Result):
    """How a request stands."""

    request_id: str
    """the ticket: give it to `verdict` to look again"""
    state: str
    """open, approved, rejected, answered, superseded or withdrawn"""
    decided: bool
    """false: nobody has answered yet, and silence is not a yes"""
    reason: str = ""
    """the words of whoever answered, or why it is not open any more"""
    answers: dict[str, str | list[str]] | None = None
    """question -> chosen label(s) or own words"""
    mode: str | None = None
    """for a plan: the mode to go on in"""
    plan: str | None = None
    """the plan as it was approved, when the human changed it before"""
    answered_by: str | None = None
    asked_back: str | None = None
    """what the human asks you before deciding"""
    next: str = ""
    """what to do now"""
    warnings: list[str] = []


class Member(Result):
    """One agent of the team."""

    name: str
    role: str
    state: str
    reason: str = ""
    reported: str = ""
    unread: int = 0
    plan_first: bool = False
    last_seen: str | None = None


class Roster(Result):
    """Everybody in the team."""

    team: str
    lead: str
    agents: list[Member]


# Conversion of what the store knows into results of the tools.

_SHOWN = frozenset({"content", "summary", "request_id", "in_reply_to", "attachment"})
"""Fields of a payload that stand beside `fields`, or that hold no more than the content tells."""
_NEXT = {
    "open": "Nobody has answered yet. Call verdict with this request_id again, or go on with work that does not need "
    "the answer; it also comes to your inbox. Do not take silence for a yes.",
    "approved": "Go on.",
    "answered": "Go on with the answer.",
    "rejected": "Do not go on as asked: read the reason, and ask again if you want something else.",
    "superseded": "A later request took its place: look at that one.",
    "withdrawn": "It is not open any more and nobody approved it. Ask again if it still matters.",
}
"""What an agent does now, by the state of its request."""


_ASKED_BACK = "The human asks you something first: answer it with answer_back, then wait with verdict again."


def written(receipt: Receipt) -> Written:
    """What a write did."""
    return Written(
        message_ids=[message.message_id for message in receipt.messages],
        to=[name for message in receipt.messages for name in message.recipients],
        request_id=receipt.request_id,
        repeated=receipt.repeated,
        notes=list(receipt.notes),
        warnings=[*receipt.warnings, *(notice.message for notice in receipt.notices)],
    )


def mail(team: Team, message: Message) -> tuple[Mail, list[str]]:
    """A message with its whole content, and why it is only the beginning where its attachment cannot be read."""
    try:
        attached, problems = attached_content(team, message), list[str]()
    except TeamError as error:
        attached, problems = None, [f"only the beginning of {message.message_id} is shown: {error.message}"]
    payload, mark = message.payload, message.record.get(TRUST)
    quoted = payload.get("in_reply_to")
    told = {
        "message_id": message.message_id,
        "from": message.sender,
        "to": list(message.recipients),
        "type": message.type,
        "priority": message.priority,
        "created": message.created,
        "summary": message.summary,
        "content": message.content if attached is None else attached,
        "request_id": message.request_id,
        "in_reply_to": quoted if isinstance(quoted, str) else None,
        "fields": {key: value for key, value in payload.items() if key not in _SHOWN},
        "trust": None if mark is None else f"{mark}: {MEANINGS[TrustMark(mark)]}",
        "answer_with": None,
    }
    if message.type == "shutdown_request" and message.request_id is not None:
        told["answer_with"] = f'answer_shutdown(request_id="{message.request_id}", agree=true or false, reason=...)'
    return Mail.model_validate(told), problems


def verdict(outcome: RequestRow, warnings: list[str] | None = None) -> Verdict:
    """How a request stands."""
    answer = outcome.verdict
    payload: Mapping[str, Any] = answer.payload if answer is not None else {}
    answers, mode, plan = payload.get("answers"), payload.get("mode"), payload.get("updated_plan")
    return Verdict(
        request_id=outcome.request_id,
        state=outcome.outcome,
        decided=not outcome.is_open,
        reason=outcome.reason or "",
        answers=_answers(answers) if isinstance(answers, Mapping) else None,
        mode=mode if isinstance(mode, str) else None,
        plan=plan if isinstance(plan, str) else None,
        answered_by=answer.sender if answer is not None else None,
        asked_back=asked.content if (asked := outcome.asked_back) is not None else None,
        next=_ASKED_BACK if asked is not None else _NEXT.get(outcome.outcome, ""),
        warnings=warnings or [],
    )


def answered_here(request_id: str, answers: dict[str, str | list[str]]) -> Verdict:
    """What the user of the session answered in the client's own dialog; in the team the request has only ended."""
    return Verdict(
        request_id=request_id,
        state="answered",
        decided=True,
        reason="answered in the session",
        answers=answers,
        answered_by="the user of this session",
        next=_NEXT["answered"],
    )


def me(view: View, location: str, *, human_present: bool) -> Me:
    """Who the agent is, and what waits for it."""
    config = view.snapshot.config
    row = next((row for row in view.roster if row.name == view.me), None)
    own = [row.request_id for row in view.requests if row.is_open and row.asker == view.me]
    return Me(
        name=view.me,
        role=row.role if row is not None else config.agent(view.me).role,
        team=config.name,
        location=redact(location),
        lead=config.lead,
        plan_first=config.agent(view.me).plan_mode_required,
        unread=row.unread if row is not None else 0,
        open_requests=own,
        human_present=human_present,
    )


def roster(view: View) -> Roster:
    """Everybody in the team."""
    config = view.snapshot.config
    members = [
        Member.model_validate({**asdict(row), "plan_first": row.plan_mode_required, "last_seen": as_row(row.last_seen)})
        for row in view.roster
    ]
    return Roster(team=config.name, lead=config.lead, agents=members)


def _answers(answers: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """The answers as far as they are of the form that is asked for; others become text."""
    return {
        str(question): [str(item) for item in given] if isinstance(given, list) else str(given)
        for question, given in answers.items()
    }
