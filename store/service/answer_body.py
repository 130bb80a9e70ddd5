"""Make the body of the message that answers a request, checked against what the request lets its answerer say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

from msgspec.structs import asdict, replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import FieldDict, Message, without_none
from team_console.store.model.nearest import hint_with_nearest
from team_console.store.model.safe import is_blank
from team_console.store.protocol.client_requests import (
    ALWAYS,
    NOTES,
    ONCE,
    answers_text,
    modes_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.editable_part import editable_part, edited_input, edited_text
from team_console.store.protocol.kinds import IN_WORDS, VERDICT_ONLY, RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.phrases import phrase
from team_console.store.protocol.remarks import REMARKS
from team_console.store.protocol.titles import summary_of
from team_console.store.service.decision import Answers, Decision


def words_as_answer(question: Message, kind: RequestKind, verdict: Decision) -> Decision:
    """Take words said to the only question of a request for its answer.

    Raises:
        TeamError: `INVALID_FIELD` where there are several questions and the words name none.
    """
    if kind is not RequestKind.QUESTION or verdict.approve is not None or not verdict.text:
        return verdict
    asked = questions_of(question.payload)
    if len(asked) != 1:
        text = f"{verdict.request_id} asks {len(asked)} questions, and the words name none of them"
        _refuse(text, "Answer each: --option HEADER=LABEL or --text HEADER=WORDS.")
    return replace(verdict, approve=True, text=None, answers={asked[0].text: verdict.text})


def answer_body(question: Message, kind: RequestKind, verdict: Decision, language: str) -> FieldDict:
    """Return the payload that answers `question`, without its summary.

    Raises:
        TeamError: `INVALID_FIELD` for an answer that does not fit the request, with what would.
    """
    request_id, is_kind = verdict.request_id, f"{verdict.request_id} is a request of kind {kind}"
    if kind is RequestKind.QUESTION and verdict.approve and verdict.answers is None:
        item = next(iter(questions_of(question.payload)), None)
        options = " or ".join(option.label for option in item.options) if item is not None else ""
        hint = f"Choose with: team-console answer REQUEST --option LABEL{f' ({options:.120})' if options else ''}"
        _refuse(f"{request_id} is a question; it needs an answer, not an approval", hint)
    if verdict.approve is None and kind not in IN_WORDS:
        _refuse(f"{is_kind}, which is approved or rejected", "Use approve or reject.")
    if verdict.answers is not None and kind is not RequestKind.QUESTION:
        _refuse(f"{is_kind}; only questions have options", "Use approve or reject.")
    if verdict.updated is not None and editable_part(question) is None:
        text = f"{request_id} cannot be edited: whoever asked takes only a yes or no"
        _refuse(text, "Refuse it, and say what to change.")
    if (verdict.scope != ONCE or verdict.number is not None) and kind is not RequestKind.PERMISSION:
        _refuse(f"{is_kind}; only a permission holds for longer", "Leave it out.")
    if verdict.mode is not None and kind is not RequestKind.PLAN:
        _refuse(f"{is_kind}; only a plan has a mode to go on in", "Leave it out.")
    body: FieldDict = {
        "request_id": request_id,
        "approve": verdict.approve,
        "content": verdict.content(language) or None,
        REMARKS: [asdict(remark) for remark in verdict.remarks] or None,
        "suggestion": verdict.suggestion or None,
    }
    if verdict.approve and kind is RequestKind.PERMISSION:
        body |= {**_scope_fields(question, verdict), **_edited_fields(question, verdict, "updated_input")}
    elif verdict.approve and kind is RequestKind.PLAN:
        modes = modes_of(question.payload)
        if verdict.mode is not None and verdict.mode not in modes:
            hint = f"It can go on in {', '.join(modes)}." if modes else "Leave it out."
            _refuse(f"mode: {value_words(verdict.mode)} is not among what this plan offers", hint)
        body |= {"mode": verdict.mode, **_edited_fields(question, verdict, "updated_plan")}
    elif verdict.approve and kind is RequestKind.QUESTION:
        body["answers"] = _chosen_answers(question, verdict.answers or {})
        notes = {text: {"notes": words} for text, words in verdict.notes.items() if words.strip()}
        _refuse_unasked(question, notes)
        body[NOTES] = notes or None
    if kind not in VERDICT_ONLY:
        body["in_reply_to"] = question.message_id
        body["content"] = body["content"] or phrase(language, "Approved." if verdict.approve else "Rejected.")
    return without_none(body)


_DONE_WORDS = {RequestKind.SHUTDOWN: ("agreed to", "refused"), RequestKind.QUESTION: ("answered", "not answered")}
_REFUSAL_LINES = {
    RequestKind.CREATE: "The creation of {} was refused",
    RequestKind.DESTROY: "The end of {} was refused",
}


def answer_preview(question: Message, kind: RequestKind, verdict: Decision, language: str) -> str:
    """Return the line an inbox shows: the decision, then the reason, else what was decided."""
    if (refused := _REFUSAL_LINES.get(kind)) is not None:
        return phrase(language, refused, parse_message(question).subject or "?")[:120]
    done = "answered"
    if verdict.approve is not None:
        done = _DONE_WORDS.get(kind, ("approved", "rejected"))[not verdict.approve]
    chosen = answers_text({"answers": verdict.answers}) if verdict.answers else ""
    what = (chosen or verdict.content(language)).strip().partition("\n")[0] or summary_of(question)
    line = phrase(language, "{} {}: {}", phrase(language, kind.capitalize()), phrase(language, done), what)
    return line.rstrip(":： ")[:120]


def _scope_fields(question: Message, verdict: Decision) -> FieldDict:
    """Return how long a permission holds: once, or always with the client's own suggestion, untouched."""
    if verdict.scope not in (ONCE, ALWAYS):
        _refuse(f"scope: {value_words(verdict.scope)} is neither once nor always", "Use one of them.")
    if verdict.scope == ONCE and verdict.number is None:
        return {"scope": ONCE}
    suggestions = permission_of(question.payload).suggestions
    if not suggestions:
        text = "the client suggests nothing that could be allowed always"
        _refuse(text, "Approve it once; the client asks again next time.")
    number = verdict.number if verdict.number is not None or len(suggestions) > 1 else 1
    if number is None or not 1 <= number <= len(suggestions):
        which = "name which one" if number is None else f"there is no suggestion {number}"
        text = f"always: {which}; the client suggests {len(suggestions)}"
        _refuse(text, f"Give a number from 1 to {len(suggestions)}.")
    return {"scope": ALWAYS, "suggestion": suggestions[number - 1]}


def _edited_fields(question: Message, verdict: Decision, key: str) -> FieldDict:
    """Return the edited version; nothing when what was approved is what was asked for."""
    part, updated = editable_part(question), verdict.updated
    if updated is None or part is None:
        return {}
    if isinstance(updated, Mapping):
        if key == "updated_plan":
            _refuse("the edited plan is not a text", "Give the plan as text.")
        same = dict(updated) == dict(permission_of(question.payload).input)
        return {} if same else {key: dict(updated)}
    text = edited_text(part, updated)
    if text is None:
        return {}
    if is_blank(text):
        _refuse("nothing is left of what was to be approved", "Refuse it instead, and say why.")
    try:
        return {key: text if key == "updated_plan" else edited_input(question, part, text)}
    except (ValueError, RecursionError) as error:
        _refuse(f"the edited input cannot be read: {error}", "It must be one JSON object, as it was.")


def _chosen_answers(question: Message, given: Answers) -> FieldDict:
    """Return one answer to each question: a label or own words, a list of them where several may be chosen."""
    _refuse_unasked(question, given)
    chosen: FieldDict = {}
    for item in questions_of(question.payload):
        value = given.get(item.text)
        words = [value] if isinstance(value, str) else list(value or ())
        if not words or not all(isinstance(word, str) and word.strip() for word in words):
            labels = ", ".join(option.label for option in item.options)
            hint = f"Choose {labels}, or use own words." if labels else ""
            _refuse(f"answers: {value_words(item.text)} has no answer", hint)
        if len(words) > 1 and not item.several:
            _refuse(f"answers: {value_words(item.text)} takes one answer, not {len(words)}", "Choose one of them.")
        chosen[item.text] = words if item.several else words[0]
    return chosen


def _refuse_unasked(question: Message, texts: Iterable[str]) -> None:
    """Refuse answers to what is none of the questions."""
    asked = [item.text for item in questions_of(question.payload)]
    for text in texts:
        if text not in asked:
            hint = hint_with_nearest(text, asked, f"Asked: {', '.join(map(value_words, asked))}.")
            _refuse(f"answers: nobody asked {value_words(text)}", hint)


def _refuse(message: str, hint: str) -> NoReturn:
    raise TeamError(Code.INVALID_FIELD, message, hint)
