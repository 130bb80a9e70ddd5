"""Conversion of what the store knows into results of the tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from team_console.console.mcp.results import Mail, Me, Member, Roster, Verdict, Written, moment
from team_console.store.attachments import attached_content
from team_console.store.backends.locations import redact
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.model.message import TRUST, Message
from team_console.store.protocol.verdicts import MEANINGS, Mark
from team_console.store.service.caller import Receipt
from team_console.store.views.rows import RosterRow, View
from team_console.store.views.verdicts import Outcome

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
    return _mail(message, message.content if attached is None else attached), problems


def _mail(message: Message, content: str) -> Mail:
    payload = message.payload
    quoted = payload.get("in_reply_to")
    told = {
        "message_id": message.message_id,
        "from": message.sender,
        "to": list(message.recipients),
        "type": message.type,
        "priority": message.priority,
        "created": message.created,
        "summary": message.summary,
        "content": content,
        "request_id": message.request_id,
        "in_reply_to": quoted if isinstance(quoted, str) else None,
        "fields": {key: value for key, value in payload.items() if key not in _SHOWN},
        "trust": _trust(message),
        "answer_with": _answer_with(message),
    }
    return Mail.model_validate(told)


def _trust(message: Message) -> str | None:
    mark = message.record.get(TRUST)
    return None if mark is None else f"{mark}: {MEANINGS[Mark(mark)]}"


def verdict(outcome: Outcome, warnings: list[str] | None = None) -> Verdict:
    """How a request stands."""
    answer = outcome.message
    payload: Mapping[str, Any] = answer.payload if answer is not None else {}
    answers, mode, plan = payload.get("answers"), payload.get("mode"), payload.get("updated_plan")
    return Verdict(
        request_id=outcome.request_id,
        state=outcome.state,
        decided=outcome.state != "open",
        reason=outcome.reason or "",
        answers=_answers(answers) if isinstance(answers, Mapping) else None,
        mode=mode if isinstance(mode, str) else None,
        plan=plan if isinstance(plan, str) else None,
        answered_by=answer.sender if answer is not None else None,
        next=_NEXT.get(outcome.state, ""),
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
        mode=None,
        plan=None,
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
    return Roster(team=config.name, lead=config.lead, agents=[_member(row) for row in view.roster])


def _member(row: RosterRow) -> Member:
    return Member(
        name=row.name,
        role=row.role,
        state=str(row.state),
        reason=row.reason,
        reported=row.reported,
        unread=row.unread,
        plan_first=row.plan_mode_required,
        last_seen=moment(row.last_seen),
    )


def _answer_with(message: Message) -> str | None:
    if message.type != "shutdown_request" or message.request_id is None:
        return None
    return f'answer_shutdown(request_id="{message.request_id}", agree=true or false, reason=...)'


def _answers(answers: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """The answers as far as they are of the form that is asked for; others become text."""
    return {
        str(question): [str(item) for item in given] if isinstance(given, list) else str(given)
        for question, given in answers.items()
    }
