"""Work out what a decision sends back to the client that asked.

Made of the request as it stands on record, which is what was shown: whatever else the client had in hand stays there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from team_console.store.model.message import Fields, Message, nonempty
from team_console.store.protocol.client_requests import (
    ALWAYS,
    Question,
    answers_in_words,
    answers_of,
    join_answers,
    modes_of,
    notes_of,
    permission_of,
    questions_of,
    rest_of_input,
)
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message


class SentBack(Struct, frozen=True):
    """What goes back to a client; each client's module writes it in that client's form.

    Attributes:
        approve: Yes or no; None where the answer says neither.
        words: The human's words: why not, or a note with the yes.
        input: What the tool goes on with: what the human made of it, a plan, answers beside their questions; in the
            fields of the tools of Claude Code. None where it goes on as it asked.
        rules: What the client offered and may do from now on; none for this call alone.
        mode: In which the session goes on after its plan; empty for the one it came from.
        answers: Question -> what was chosen or said.
        notes: Question -> words beside what was chosen.
    """

    approve: bool | None
    words: str = ""
    input: Fields | None = None
    rules: tuple[Any, ...] = ()
    mode: str = ""
    answers: Mapping[str, tuple[str, ...]] = {}
    notes: Mapping[str, str] = {}

    @property
    def answers_in_words(self) -> str:
        """The answers as one text, for a client that takes no other form."""
        return answers_in_words(self.answers, self.notes)


def sent_back(question: Message, verdict: Fields, *, plan: str | None = None) -> SentBack:
    """Return what goes back for the payload of an answer.

    Args:
        plan: The whole text of a plan of which the message holds only the beginning.
    """
    kind, approve, words = parse_message(question).opens, verdict.get("approve"), text_in(verdict, "content")
    if approve is False:
        return SentBack(False, words)
    if approve is not True:
        return SentBack(None, words)
    if kind is RequestKind.QUESTION:
        return _answers_back(question, verdict, words)
    if kind is RequestKind.PLAN:
        return _plan_back(question, verdict, words, question.content if plan is None else plan)
    updated = verdict.get("updated_input")
    edited = dict(updated) if isinstance(updated, Mapping) else None
    return SentBack(True, words, edited, _allowed_always(question, verdict))


def _allowed_always(question: Message, verdict: Fields) -> tuple[Any, ...]:
    """Return the rule that was chosen, alone in a tuple: one of those that the client offered; else nothing."""
    chosen = verdict.get("suggestion")
    # guard: only-offered-rules-go-back
    is_offered = verdict.get("scope") == ALWAYS and chosen in permission_of(question.payload).suggestions
    return (chosen,) if is_offered and isinstance(chosen, Mapping) else ()


def _answers_back(question: Message, verdict: Fields, words: str) -> SentBack:
    """Return the answers to the questions, with what stands beside each."""
    answers, notes, asked = answers_of(verdict), notes_of(verdict), questions_of(question.payload)
    if not answers:
        return SentBack(True, words, notes=notes)
    tool_input: dict[str, Any] = {
        "questions": question.payload.get("questions"),
        "answers": {text: join_answers(chosen) for text, chosen in answers.items()},
    }
    beside = {each.text: _annotation(each, answers.get(each.text, ()), notes.get(each.text, "")) for each in asked}
    if annotations := nonempty(beside):
        tool_input["annotations"] = annotations
    return SentBack(True, words, tool_input, answers=answers, notes=notes)


def _annotation(question: Question, chosen: Sequence[str], note: str) -> dict[str, str]:
    """Return what stands beside an answer: the preview of the option that was chosen, and the human's words."""
    previews = (option.preview for option in question.options if tuple(chosen) == (option.label,))
    return nonempty({"preview": next(previews, ""), "notes": note})


def _plan_back(question: Message, verdict: Fields, words: str, asked: str) -> SentBack:
    """Return the plan, as `asked` or as edited, with the further input that was shown with it.

    The words stand in the plan: the yes to one has no other place for them.
    """
    mode, plan = text_in(verdict, "mode"), text_in(verdict, "updated_plan") or asked
    if words:
        plan = f"{plan}\n\n## The human's words with the approval\n\n{words}\n"
    # guard: only-shown-input-goes-back
    tool_input = {**rest_of_input(question.payload), "plan": plan}
    return SentBack(True, words, tool_input, mode=mode if mode in modes_of(question.payload) else "")
