"""Answers: the body of the message that answers a request, checked against what the request lets its answerer say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from msgspec.structs import replace
from team_console.store.desk.answering.questions import Terms, Verdict
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import nearest
from team_console.store.protocol.checks.values import named
from team_console.store.protocol.client_requests import (
    ALWAYS,
    ONCE,
    Question,
    answers_text,
    modes_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.edits_before_approval import editable_part, edited_input, edited_text
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.kinds.templates import phrase
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.answering import VERDICT_ONLY

_RESPONSES: Mapping[RequestKind, str] = {
    RequestKind.PLAN: "plan_approval_response",
    RequestKind.SHUTDOWN: "shutdown_response",
    RequestKind.PERMISSION: "permission_response",
    RequestKind.QUESTION: "question_response",
}
_IN_WORDS = frozenset({RequestKind.ESCALATION, RequestKind.CLARIFICATION})
"""Requests that may be answered by words that are neither yes nor no."""


def answer_type(kind: RequestKind) -> str:
    """The kind of message that answers a request: its own where it has one, else a plain message."""
    return _RESPONSES.get(kind, "message")


def words_as_answer(question: Message, kind: RequestKind, verdict: Verdict) -> Verdict:
    """Words said to the only question of a request are its answer.

    Raises:
        TeamError: `INVALID_FIELD` where there are several questions and the words name none.
    """
    if kind is not RequestKind.QUESTION or verdict.approve is not None or not verdict.text:
        return verdict
    asked = questions_of(question.payload)
    if len(asked) != 1:
        text = f"{reading(question).request_id} asks {len(asked)} questions, and the words name none of them"
        _refuse(text, "Answer each: --option HEADER=LABEL or --text HEADER=WORDS.")
    return replace(verdict, approve=True, text=None, answers={asked[0].text: verdict.text})


def answer_body(question: Message, kind: RequestKind, verdict: Verdict, language: str) -> dict[str, Any]:
    """The payload that answers `question`, without its summary.

    Raises:
        TeamError: `INVALID_FIELD` for an answer that does not fit the request, with what would.
    """
    _check_fits(question, kind, verdict)
    body: dict[str, Any] = {"request_id": reading(question).request_id}
    if verdict.approve is not None:
        body["approve"] = verdict.approve
    if content := verdict.content(language):
        body["content"] = content
    if verdict.suggestion:
        body["suggestion"] = verdict.suggestion
    if verdict.approve:
        body.update(_granted(question, kind, verdict))
    if kind not in VERDICT_ONLY:
        body["in_reply_to"] = question.message_id
        body.setdefault("content", phrase(language, "Approved." if verdict.approve else "Rejected."))
    return body


_DONE = {RequestKind.SHUTDOWN: ("agreed to", "refused"), RequestKind.QUESTION: ("answered", "not answered")}
_REFUSED = {
    RequestKind.CREATE: "The creation of {} was refused",
    RequestKind.DESTROY: "The end of {} was refused",
}


def answer_preview(question: Message, kind: RequestKind, verdict: Verdict, language: str) -> str:
    """The line an inbox shows: the decision, then the reason, else what was decided."""
    refused = _REFUSED.get(kind)
    if refused is not None:
        return phrase(language, refused, reading(question).subject or "?")[:120]
    done = "answered" if verdict.approve is None else _DONE.get(kind, ("approved", "rejected"))[not verdict.approve]
    chosen = answers_text({"answers": verdict.answers}) if verdict.answers else ""
    what = (chosen or verdict.content(language)).strip().partition("\n")[0] or question.summary
    line = phrase(language, "{} {}: {}", phrase(language, kind.capitalize()), phrase(language, done), what)
    return line.rstrip(":： ")[:120]


def _check_fits(question: Message, kind: RequestKind, verdict: Verdict) -> None:
    request_id = reading(question).request_id
    if kind is RequestKind.QUESTION and verdict.approve and verdict.answers is None:
        _refuse(f"{request_id} is a question, which a yes does not answer", _how_to_answer(question))
    if verdict.approve is None and kind not in _IN_WORDS:
        _refuse(f"{request_id} is a request of kind {kind}, which wants a yes or no", "Use approve or reject.")
    if verdict.answers is not None and kind is not RequestKind.QUESTION:
        _refuse(f"{request_id} is a request of kind {kind}; only questions have options", "Use approve or reject.")
    terms = verdict.terms
    if terms.updated is not None and editable_part(question) is None:
        text = f"{request_id} cannot be edited: whoever asked takes only a yes or no"
        _refuse(text, "Refuse it, and say what to change.")
    if (terms.scope != ONCE or terms.number is not None) and kind is not RequestKind.PERMISSION:
        _refuse(f"{request_id} is a request of kind {kind}; only a permission holds for longer", "Leave it out.")
    if terms.mode is not None and kind is not RequestKind.PLAN:
        _refuse(f"{request_id} is a request of kind {kind}; only a plan has a mode to go on in", "Leave it out.")


def _granted(question: Message, kind: RequestKind, verdict: Verdict) -> dict[str, Any]:
    """What a yes says beyond yes."""
    terms = verdict.terms
    if kind is RequestKind.PERMISSION:
        return {**_scope(question, terms), **_updated(question, terms, "updated_input")}
    if kind is RequestKind.PLAN:
        return {**_mode(question, terms), **_updated(question, terms, "updated_plan")}
    if kind is RequestKind.QUESTION:
        return {"answers": _answers(question, verdict.answers or {})}
    return {}


def _scope(question: Message, terms: Terms) -> dict[str, Any]:
    """Once, or always: the client's own suggestion, untouched."""
    if terms.scope not in (ONCE, ALWAYS):
        _refuse(f"scope: {named(terms.scope)} is neither once nor always", "Use one of them.")
    if terms.scope == ONCE and terms.number is None:
        return {"scope": ONCE}
    suggestions = permission_of(question.payload).suggestions
    if not suggestions:
        text = "the client suggests nothing that could be allowed always"
        _refuse(text, "Approve it once; the client asks again next time.")
    number = terms.number if terms.number is not None or len(suggestions) > 1 else 1
    if number is None or not 1 <= number <= len(suggestions):
        which = "name which one" if number is None else f"there is no suggestion {number}"
        text = f"always: {which}; the client suggests {len(suggestions)}"
        _refuse(text, f"Give a number from 1 to {len(suggestions)}.")
    return {"scope": ALWAYS, "suggestion": suggestions[number - 1]}


def _mode(question: Message, terms: Terms) -> dict[str, Any]:
    modes = modes_of(question.payload)
    if terms.mode is None:
        return {}
    if terms.mode not in modes:
        hint = f"It can go on in {', '.join(modes)}." if modes else "Leave it out."
        _refuse(f"mode: {named(terms.mode)} is not among what this plan offers", hint)
    return {"mode": terms.mode}


def _updated(question: Message, terms: Terms, key: str) -> dict[str, Any]:
    """The edited version; nothing when what was approved is what was asked for."""
    part = editable_part(question)
    if terms.updated is None or part is None:
        return {}
    if isinstance(terms.updated, Mapping):
        if key == "updated_plan":
            _refuse("the edited plan is not a text", "Give the plan as text.")
        same = dict(terms.updated) == dict(permission_of(question.payload).input)
        return {} if same else {key: dict(terms.updated)}
    text = edited_text(part, terms.updated)
    if text is None:
        return {}
    if not text.strip():
        _refuse("nothing is left of what was to be approved", "Refuse it instead, and say why.")
    if key == "updated_plan":
        return {key: text}
    try:
        return {key: edited_input(question, part, text)}
    except (ValueError, RecursionError) as error:
        _refuse(f"the edited input cannot be read: {error}", "It must be one JSON object, as it was.")


def _answers(question: Message, given: Mapping[str, str | Sequence[str]]) -> dict[str, Any]:
    """One answer to each question: a label or own words, a list of them where several may be chosen."""
    asked = questions_of(question.payload)
    texts = [item.text for item in asked]
    for text in given:
        if text not in texts:
            meant = nearest(text, texts) or texts[0]
            _refuse(f"answers: nobody asked {named(text)}", f"Did you mean {named(meant)}?")
    return {item.text: _chosen(item, given.get(item.text)) for item in asked}


def _chosen(item: Question, value: str | Sequence[str] | None) -> str | list[str]:
    words = [value] if isinstance(value, str) else list(value or ())
    if not words or not all(isinstance(word, str) and word.strip() for word in words):
        labels = ", ".join(option.label for option in item.options)
        _refuse(f"answers: {named(item.text)} has no answer", f"Choose {labels}, or use own words." if labels else "")
    if len(words) > 1 and not item.several:
        _refuse(f"answers: {named(item.text)} takes one answer, not {len(words)}", "Choose one of them.")
    return words if item.several else words[0]


def _how_to_answer(question: Message) -> str:
    item = next(iter(questions_of(question.payload)), None)
    options = " or ".join(option.label for option in item.options) if item is not None else ""
    return f"Choose with: team-console answer REQUEST --option LABEL{f' ({options:.120})' if options else ''}"


def _refuse(message: str, hint: str) -> NoReturn:
    raise TeamError(Code.INVALID_FIELD, message, hint)
