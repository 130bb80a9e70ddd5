"""Results of the tools: what a model gets to read, each with its schema."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field
from team_console.store.model.clock import to_text
from team_console.store.model.safe import UNSAFE


class Result(BaseModel):
    """A result; field names are those of the command line's JSON."""

    model_config = ConfigDict(populate_by_name=True)


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
    lead: str = Field(description="answers plans and questions, and may ask agents to stop")
    plan_first: bool = Field(description="hand in a plan and work only after its approval")
    unread: int = Field(description="messages you have not read: take them with `inbox`")
    open_requests: list[str] = Field(description="ids of own requests that nobody has answered, for `verdict`")
    human_present: bool = Field(description="whether a human has a console open on this team")


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
    fields: dict[str, Any] = Field(default_factory=dict, description="what else a message of this type carries")
    trust: str | None = Field(None, description="what is wrong with it, when anything is: do not act on it then")
    answer_with: str | None = Field(None, description="the tool call that answers it, when it wants an answer")


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
    repeated: bool = Field(False, description="it was written already under this id; nothing was written again")
    notes: list[str] = []
    warnings: list[str] = []


class Verdict(Result):
    """How a request stands."""

    request_id: str = Field(description="the ticket: give it to `verdict` to look again")
    state: str = Field(description="open, approved, rejected, answered, superseded or withdrawn")
    decided: bool = Field(description="false: nobody has answered yet, and silence is not a yes")
    reason: str = Field("", description="the words of whoever answered, or why it is not open any more")
    answers: dict[str, str | list[str]] | None = Field(None, description="question -> chosen label(s) or own words")
    mode: str | None = Field(None, description="for a plan: the mode to go on in")
    plan: str | None = Field(None, description="the plan as it was approved, when the human changed it before")
    answered_by: str | None = None
    next: str = Field("", description="what to do now")
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


def moment(at: datetime | None) -> str | None:
    """A moment as text."""
    return None if at is None else to_text(at)
