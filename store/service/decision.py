"""One decision on one request: what is decided, on what, by whom, in view of what; and what its answer says.

The screen, the command line, the API, SendMessage and MCP make this value and hand it to `requests.decide`; there is
no other way to a verdict. It knows nothing of forms or options of a command.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import asdict, replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import FieldDict, Fields, Message, without_none
from team_console.store.model.names import hint_with_nearest
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
from team_console.store.protocol.kinds import IN_WORDS, VERDICT_ONLY, RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.phrases import phrase
from team_console.store.protocol.remarks import REMARKS, Remark, remark_words
from team_console.store.protocol.shown_when_decided import Face, Seen
from team_console.store.protocol.titles import summary_of
from team_console.store.protocol.tool_input import editable_part, edited_input, edited_text

DECISION, KEY = "decision_sha256", "key"
"""Fields of the audit trail's line: the digest of the whole decision, and the key of the console that decided."""

Answers = Mapping[str, str | Sequence[str]]
"""Question text -> the label of an option or own words; several where the question allows it."""
UNSEEN = Seen(face=Face.NAMED)
"""Nothing was shown of a request: it was named by its id."""


class Decision(Struct, frozen=True):
    """A decision on one request, or a question back about it: what is decided, on what, by whom, in view of what.

    Attributes:
        approve: None for an answer that is neither yes nor no.
        text: Note of an approval, reason of a refusal, words of an answer.
        suggestion: What would be accepted instead (requirement 94).
        scope: `once` or `always`, for a permission.
        number: Which of the client's own suggestions is allowed always, from 1.
        mode: The mode in which the asker of a plan goes on.
        updated: What is approved in place of what was asked for: an edited plan or part of a tool's input as text, or
            the whole input.
        answers: Question text -> label, labels or own words.
        notes: Question text -> words beside what was chosen.
        message_id: Id given by the answerer; None to make one.
        remarks: What is said to single lines of the request.
        asks_back: Whether it is a question about the request, which stays open.
        seen: What was shown of the request: its digest, and what of it was painted before the key.
        agent_name: The name of the agent to be created.
        by: Who decided; empty for whoever hands it in.
        key: The key of a console that decided; empty elsewhere.
        is_signed: Whether a signature was asked of whoever decided, when it was decided.
        is_with_others: Whether it was decided together with others, so that it must have been shown whole.
    """

    request_id: str
    approve: bool | None
    text: str | None = None
    suggestion: str | None = None
    scope: str = ONCE
    number: int | None = None
    mode: str | None = None
    updated: Fields | str | None = None
    answers: Answers | None = None
    notes: Mapping[str, str] = {}
    message_id: str | None = None
    remarks: tuple[Remark, ...] = ()
    asks_back: bool = False
    seen: Seen = UNSEEN
    agent_name: str | None = None
    by: str = ""
    key: str = ""
    is_signed: bool = False
    is_with_others: bool = False

    @property
    def action(self) -> str:
        """The verb of the audit trail."""
        if self.asks_back:
            return "askback"
        if self.approve is None or self.answers is not None:
            return "answer"
        return "approve" if self.approve else "reject"

    @property
    def shown(self) -> Fields:
        """The verdict's record of what was shown."""
        return self.seen.as_recorded

    @property
    def as_recorded(self) -> FieldDict:
        """What the audit trail keeps beside the verdict."""
        return {DECISION: self.sha256, **({KEY: self.key} if self.key else {})}

    @property
    def sha256(self) -> str:
        """The digest of the question as it was shown, and of everything that goes back to its asker."""
        # In this order, since the audit trail keeps the digest.
        given = (
            self.request_id,
            self.seen.question,
            self.seen.sha256,
            self.action,
            self.approve,
            self.text,
            self.suggestion,
            self.scope,
            self.number,
            self.mode,
            self.updated,
            self.answers,
            self.notes,
            self.agent_name,
            [asdict(remark) for remark in self.remarks],
        )
        return hashlib.sha256(json.dumps(given, sort_keys=True, default=_plain).encode()).hexdigest()

    def content(self, language: str) -> str:
        """Return the words the asker reads, ours among them in the team's language."""
        offered = ""
        if self.suggestion:
            offered = phrase(language, "{}: {}", phrase(language, "Suggestion"), self.suggestion)
        paragraphs = (self.text, offered, remark_words(self.remarks, language))
        return "\n\n".join(filter(None, paragraphs))


def _plain(value: object) -> object:
    """Return what JSON can hold in place of a value that it cannot."""
    return dict(value) if isinstance(value, Mapping) else str(value)


def refuse_empty(decision: Decision) -> None:
    """Refuse a decision without the words that it needs.

    Raises:
        TeamError: `MISSING_REASON` for a no, `MISSING_CONTENT` for an answer or a question back.
    """
    has_words = not is_blank(decision.text or "") or bool(decision.remarks)
    if has_words or decision.answers or decision.approve:
        return
    request_id = decision.request_id
    if decision.approve is False:
        raise TeamError(Code.MISSING_REASON, "a rejection needs a reason", "Give it with --reason TEXT.")
    if decision.asks_back:
        text, hint = "the question back is empty", 'For example: team-console askback REQUEST "How do we roll back?"'
        raise TeamError(Code.MISSING_CONTENT, text, hint, request_id=request_id)
    hint = "Choose with --option LABEL, or say it with --content TEXT."
    raise TeamError(Code.MISSING_CONTENT, "the answer is empty", hint, request_id=request_id)


def refuse_unbound(decision: Decision, *, actor: str, must_be_signed: bool) -> None:
    """Refuse a decision that is not what its human made it.

    Raises:
        TeamError: `NOT_PERMITTED` when it was decided together with others and not shown whole, by somebody else than
            hands it in, or to be signed when no signature is asked for any more.
    """
    request_id = decision.request_id
    # guard: several-only-shown-whole
    if decision.is_with_others and not decision.seen.is_whole:
        text = f"{request_id} was not shown whole, so it is not decided together with others"
        raise TeamError(Code.NOT_PERMITTED, text, "Open it, read it to its end, then decide.", request_id=request_id)
    # guard: decided-by-who-hands-it-in
    if decision.by not in ("", actor):
        text = f"{decision.by} decided on {request_id}, and {actor} hands it in"
        raise TeamError(Code.NOT_PERMITTED, text, "Each decides for himself.", request_id=request_id)
    # guard: signed-as-it-was-decided
    if decision.is_signed and not must_be_signed:
        text = f"verdicts were signed when {request_id} was decided, and the settings ask for no signature any more"
        raise TeamError(Code.NOT_PERMITTED, text, "Look at the settings, then decide again.", request_id=request_id)


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
    _refuse_misfit(question, kind, verdict)
    body: FieldDict = {
        "request_id": verdict.request_id,
        "approve": verdict.approve,
        "content": verdict.content(language) or None,
        REMARKS: [asdict(remark) for remark in verdict.remarks] or None,
        "suggestion": verdict.suggestion or None,
    }
    if verdict.approve:
        body |= _approved_fields(question, kind, verdict)
    if kind not in VERDICT_ONLY:
        body["in_reply_to"] = question.message_id
        body["content"] = body["content"] or phrase(language, "Approved." if verdict.approve else "Rejected.")
    return without_none(body)


def _refuse_misfit(question: Message, kind: RequestKind, verdict: Decision) -> None:
    """Refuse what a request of this kind does not let its answerer say."""
    request_id = verdict.request_id
    is_kind = f"{request_id} is a request of kind {kind}"
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


def _approved_fields(question: Message, kind: RequestKind, verdict: Decision) -> FieldDict:
    """Return the fields of the kind beside a yes: how long it holds, what was edited, what was chosen."""
    if kind is RequestKind.PERMISSION:
        return {**_scope_fields(question, verdict), **_edited_fields(question, verdict, "updated_input")}
    if kind is RequestKind.PLAN:
        modes = modes_of(question.payload)
        if verdict.mode is not None and verdict.mode not in modes:
            hint = f"It can go on in {', '.join(modes)}." if modes else "Leave it out."
            _refuse(f"mode: {value_words(verdict.mode)} is not among what this plan offers", hint)
        return {"mode": verdict.mode, **_edited_fields(question, verdict, "updated_plan")}
    if kind is RequestKind.QUESTION:
        answers = _chosen_answers(question, verdict.answers or {})
        notes = {text: {"notes": words} for text, words in verdict.notes.items() if words.strip()}
        _refuse_unasked(question, notes)
        return {"answers": answers, NOTES: notes or None}
    return {}


_PREVIEW_LENGTH = 120
"""Characters of a line in an inbox."""
_DONE_WORDS = {RequestKind.SHUTDOWN: ("agreed to", "refused"), RequestKind.QUESTION: ("answered", "not answered")}
"""Kind -> the words for a yes and a no."""


_REFUSAL_LINES = {
    RequestKind.CREATE: "The creation of {} was refused",
    RequestKind.DESTROY: "The end of {} was refused",
}


def answer_preview(question: Message, kind: RequestKind, verdict: Decision, language: str) -> str:
    """Return the line an inbox shows: the decision, then the reason, else what was decided."""
    if (refused := _REFUSAL_LINES.get(kind)) is not None:
        return phrase(language, refused, parse_message(question).subject or "?")[:_PREVIEW_LENGTH]
    done = "answered"
    if verdict.approve is not None:
        yes, no = _DONE_WORDS.get(kind, ("approved", "rejected"))
        done = yes if verdict.approve else no
    chosen = answers_text({"answers": verdict.answers}) if verdict.answers else ""
    what = (chosen or verdict.content(language)).strip().partition("\n")[0] or summary_of(question)
    line = phrase(language, "{} {}: {}", phrase(language, kind.capitalize()), phrase(language, done), what)
    return line.rstrip(":： ")[:_PREVIEW_LENGTH]


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
