"""Answering what agents' clients ask: permissions, plans with their modes, questions with their options."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from team_console.console.app.editor import edit_text
from team_console.console.app.unwritten import Agreed
from team_console.console.app.workspace import Workspace
from team_console.console.display.wording import quoted, written
from team_console.console.handlers.agreeing import agree, ask, single
from team_console.console.handlers.asking_again import SeenRequest
from team_console.store.model.safe import safe_line
from team_console.store.protocol.client_requests import (
    ALWAYS,
    ONCE,
    editable_part,
    headline_of,
    modes_of,
    origin_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.seen import Seen
from team_console.store.service import requests
from team_console.store.service.caller import Caller, Receipt
from team_console.store.views.proposals import mode_words, suggestion_words
from team_console.store.views.rows import RequestRow
from team_console.widgets.details.client_request import asked_blocks

if TYPE_CHECKING:
    from team_console.widgets.forms.answers import Answers
    from team_console.widgets.forms.approval import Decision, Way

OWN_FORMS = frozenset({RequestKind.PLAN, RequestKind.PERMISSION, RequestKind.QUESTION})
"""Kinds of request that are said yes to with a form of their own."""
_LONGEST = 300


def ask_for_yes(workspace: Workspace, row: RequestRow, shown: SeenRequest) -> None:
    """Open the form in which a request of one of these kinds is answered."""
    if row.kind is RequestKind.QUESTION:
        _answer_questions(workspace, row, shown)
    else:
        _approve(workspace, row, shown)


def _approve(workspace: Workspace, row: RequestRow, shown: SeenRequest) -> None:
    from team_console.widgets.forms.approval import Approval

    purpose = f"approve:{row.request_id}"
    is_permission = row.kind is RequestKind.PERMISSION
    part = editable_part(row.question, whole=workspace.pane.content_of(row.question))
    ways = _ways_of_permission(row) if is_permission else _ways_of_plan(row)
    asker = safe_line(row.asker, 64)
    form = Approval[Agreed](
        f"Let {asker} do this?" if is_permission else f"Approve the plan of {asker}",
        _about(row),
        lambda decision: shown.act(lambda seen: agree(workspace, _agreed(row, seen, ways, decision))),
        ways=ways,
        shown=asked_blocks(row.question) if is_permission else (),
        text=part.text if part is not None else None,
        edit=partial(edit_text, workspace.app, suffix=part.suffix) if part is not None else None,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    ask(workspace, form, about=row)


def _ways_of_permission(row: RequestRow) -> Sequence[Way]:
    """Once, always by each suggestion of the client, and no."""
    from team_console.widgets.fields.options import OptionLine
    from team_console.widgets.forms.approval import Way

    suggested = permission_of(row.question.payload).suggestions
    always = [Way(OptionLine("always", _offered(suggestion)), "Allow always") for suggestion in suggested]
    no = Way(OptionLine("no", "and the agent reads your words"), "Refuse", refuses=True)
    return Way(OptionLine("once", "this call alone"), "Allow once"), *always, no


def _offered(suggestion: Any) -> str:
    """What would be allowed always, as a safe line; one that is cut says so: its widest rule may be the last."""
    words = suggestion_words(suggestion)
    cut = f" [cut: all {len(words):,} characters stand with the request]" if len(words) > _LONGEST else ""
    return safe_line(words, _LONGEST) + cut


def _ways_of_plan(row: RequestRow) -> Sequence[Way]:
    """Yes in each mode the client offers; a plan without any is only said yes to."""
    from team_console.widgets.fields.options import OptionLine
    from team_console.widgets.forms.approval import Way

    modes = modes_of(row.question.payload)
    ways = [Way(OptionLine(f"go on in {safe_line(mode, 40)}", mode_words(mode)), "Approve") for mode in modes]
    return tuple(ways) or (Way(OptionLine("approve"), "Approve"),)


def _agreed(row: RequestRow, seen: Seen | str, ways: Sequence[Way], decision: Decision) -> Agreed:
    refuses, asker = ways[decision.way].refuses, safe_line(row.asker, 64)
    verb = "reject" if refuses else "approve"
    return single(
        row.request_id,
        verb,
        f"{verb} the {row.kind} of {asker}",
        partial(_decide, row, seen, refuses, decision),
        told=partial(_told, row),
        purpose=f"approve:{row.request_id}",
    )


def _decide(row: RequestRow, seen: Seen | str, refuses: bool, decision: Decision, caller: Caller) -> Receipt:
    words = decision.words
    if refuses:
        return requests.reject(caller, request_id=row.request_id, reason=words, seen=seen)
    is_permission, modes = row.kind is RequestKind.PERMISSION, modes_of(row.question.payload)
    number = decision.way if is_permission and decision.way else None
    return requests.approve(
        caller,
        request_id=row.request_id,
        note=words or None,
        seen=seen,
        scope=ONCE if number is None else ALWAYS,
        suggestion=number,
        mode=modes[decision.way] if modes and not is_permission else None,
        updated=decision.edited,
    )


def _answer_questions(workspace: Workspace, row: RequestRow, shown: SeenRequest) -> None:
    from team_console.widgets.forms.answers import AnswerForm

    questions = questions_of(row.question.payload)
    if not questions:
        workspace.toast("It holds no question that can be read; r refuses it.", severity="warning")
        return
    purpose = f"answer:{row.request_id}"
    form = AnswerForm[Agreed](
        f"Answer {safe_line(row.asker, 64)}",
        _about(row, with_title=False),
        questions,
        lambda answers: shown.act(lambda seen: agree(workspace, _answered(row, seen, answers, purpose))),
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    ask(workspace, form, about=row)


def _answered(row: RequestRow, seen: Seen | str, answers: Answers, purpose: str) -> Agreed:
    def do(caller: Caller) -> Receipt:
        return requests.answer(caller, request_id=row.request_id, answers=answers, seen=seen)

    words = f"answer the question of {safe_line(row.asker, 64)}"
    return single(row.request_id, "answer", words, do, told=partial(_told, row), purpose=purpose)


def _about(row: RequestRow, *, with_title: bool = True) -> str:
    """What is asked and where, as safe lines."""
    payload = row.question.payload
    origin, title = origin_of(payload), row.title
    if row.kind is RequestKind.PERMISSION:
        title = headline_of(permission_of(payload), origin.directory)
    words = [quoted(title)] if with_title else []
    words += [f"in {safe_line(origin.directory, _LONGEST)}"] if origin.directory else []
    return " ".join(words)


def _told(row: RequestRow, receipt: Receipt) -> str:
    payload = receipt.messages[0].payload if receipt.messages else {}
    asker = safe_line(row.asker, 64)
    if row.kind is RequestKind.QUESTION:
        return written(f"answered the question of {asker}", receipt)
    word = "approved" if payload.get("approve") else "rejected"
    edited = ", as edited" if "updated_input" in payload or "updated_plan" in payload else ""
    always = ", always" if payload.get("scope") == ALWAYS else ""
    return written(f"{word} the {row.kind} of {asker}{always}{edited}", receipt)
