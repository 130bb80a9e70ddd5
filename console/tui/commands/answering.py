"""Answering the questions of a client: the form, and what was chosen as a decision."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace
from team_console.console.tui.commands.deciding_words import (
    request_and_place,
)
from team_console.console.tui.commands.seen_request import SeenRequest, pending_write
from team_console.console.tui.main import MainScreen
from team_console.console.tui.pending_decisions import PendingDecision
from team_console.console.tui.toast_words import in_quotes
from team_console.store.model.safe import safe_line
from team_console.store.protocol.client_requests import (
    join_answers,
    questions_of,
)
from team_console.store.service.decision import Decision
from team_console.store.views.rows import RequestRow
from team_console.widgets.answer_form import AnswerForm, Answers, Notes


def answer_questions(screen: MainScreen, row: RequestRow, seen_request: SeenRequest) -> None:
    """Open the form that answers the questions of a client."""
    questions = questions_of(row.question.payload)
    if not questions:
        screen.toast("It holds no question that can be read; r refuses it.", severity="warning")
        return
    purpose, asker = f"answer:{row.request_id}", safe_line(row.asker, 64)

    def answered(answers: Answers, notes: Notes, view: Decision) -> PendingDecision:
        given = {text: [each] if isinstance(each, str) else each for text, each in answers.items()}
        told = (join_answers(each) + (f" ({notes[text]})" if text in notes else "") for text, each in given.items())
        chosen = "; ".join(told)
        decision = replace(view, approve=True, answers=answers, notes=notes)
        write = pending_write(f"answer {asker}: {in_quotes(chosen)}", decision)
        return PendingDecision("answer", (write,), f"answered the question of {asker}", purposes=(purpose,))

    form = AnswerForm[PendingDecision](
        f"Answer {asker}",
        request_and_place(row, with_title=False),
        questions,
        lambda answers, notes: seen_request.decide(partial(answered, answers, notes)),
        **screen.drafts.of_form(purpose),
    )
    screen.ask_to_decide(form, about=row)
