"""Questions: an open request found under its id, who may answer it now, and how it is closed (decisions D10, D14, D17).

What answers them stands above: `writing` dispatches, `creation` and `endings` answer for the Master.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import ChangedError, Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import named
from team_console.store.model.message import Message, Status
from team_console.store.model.names import nearest
from team_console.store.protocol.client_requests import (
    ALWAYS,
    ONCE,
    Question,
    answers_text,
    editable_part,
    edited_input,
    edited_text,
    modes_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.judgement import Case, RequestState, already_answered, judge, thread_of, with_bearing
from team_console.store.protocol.kinds import (
    IN_WORDS,
    RESPONSES,
    REUSED_IDS,
    SUPERSEDING,
    VERDICT_ONLY,
    RequestKind,
    phrase,
)
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.permissions import may_answer
from team_console.store.protocol.remarks import REMARKS, Remark, remark_words
from team_console.store.protocol.verdicts import Face, Seen, digest_of
from team_console.store.service.writing import mark_as_read


class Terms(Struct, frozen=True):
    """How far a yes goes.

    Attributes:
        scope: `once` or `always`.
        number: Which of the client's own suggestions is allowed always, from 1.
        mode: The mode in which the asker of a plan goes on.
        updated: What is approved in place of what was asked for: an edited plan or part of a tool's input as text, or
            the whole input.
    """

    scope: str = ONCE
    number: int | None = None
    mode: str | None = None
    updated: Mapping[str, Any] | str | None = None


class Verdict(Struct, frozen=True):
    """An answer to a request.

    Attributes:
        approve: None for an answer that is neither yes nor no.
        text: Note of an approval, reason of a refusal, words of an answer.
        suggestion: What would be accepted instead (requirement 94).
        terms: How far a yes goes.
        answers: Question text -> label, labels or own words.
        message_id: Id given by the answerer; None to make one.
        remarks: What is said to single lines of the request.
        asks_back: Whether it is a question about the request, which stays open.
    """

    approve: bool | None
    text: str | None = None
    suggestion: str | None = None
    terms: Terms = Terms()
    answers: Mapping[str, str | Sequence[str]] | None = None
    message_id: str | None = None
    remarks: tuple[Remark, ...] = ()
    asks_back: bool = False

    @property
    def action(self) -> str:
        """The verb of the audit trail."""
        if self.asks_back:
            return "askback"
        if self.approve is None or self.answers is not None:
            return "answer"
        return "approve" if self.approve else "reject"

    def content(self, language: str) -> str:
        """The words the asker reads, ours among them in the team's language."""
        offered = phrase(language, "{}: {}", phrase(language, "Suggestion"), self.suggestion)
        return "\n\n".join(
            filter(None, (self.text, offered if self.suggestion else "", remark_words(self.remarks, language)))
        )


def open_question(tx: Transaction, request_id: str, *, actor: str, seen: Seen | str | None = None) -> Case:
    """The request `request_id`, when `actor` may answer it now; judged under the lock.

    Args:
        seen: What was shown of it: everything, or the `digest_of` of the question alone; what was only named by its
            id may be whatever it is now, unless several have that id.

    Raises:
        ChangedError: It is not what was `seen`, or what was shown beside it is not.
        TeamError: `INVALID_REQUEST_ID` (also for one that was withdrawn, superseded or timed out, and for an id alone
            that several have), `NOT_PERMITTED`, `ALREADY_ANSWERED`.
    """
    wanted = (seen if isinstance(seen, str) else seen.question) if seen is not None else ""
    case, asked = find_question(tx, request_id, wanted)
    question = case.question.message
    tx.expect(question)
    # guard: seen-question
    if seen is not None:
        _refuse_unseen(tx, request_id, question, seen)
    if not may_answer(tx.config, actor=actor, kind=case.kind, addressee=case.addressee):
        raise TeamError(
            Code.NOT_PERMITTED,
            f"{actor} may not answer {request_id}; it is for {', '.join(question.recipients)}",
            "Only the addressee of a request answers it (for plans and sprint requests: the lead).",
            request_id=request_id,
        )
    refuse_decided(case)
    # guard: withdrawn-request-refused
    _refuse_over(tx, case)
    if seen is None or (isinstance(seen, Seen) and seen.face is Face.NAMED):
        _refuse_several(case, asked)
    return case


def _refuse_several(case: Case, asked: Iterable[Case]) -> None:
    """Refuse an id alone that several requests have: whoever asked last chose it, and an answer must not land there."""
    question, request_id = case.question.message, case.request_id
    for other in asked:
        message = other.question.message
        if digest_of(message) != digest_of(question) and (other.kind not in REUSED_IDS or other.is_open):
            text = f"{request_id} is the id of several requests: {question.message_id} and {message.message_id}"
            hint = f"Look at each with: team-console show {question.message_id}; it prints the word for --seen."
            raise TeamError(Code.INVALID_REQUEST_ID, text, hint, request_id=request_id)


def _refuse_unseen(tx: Transaction, request_id: str, question: Message, seen: Seen | str) -> None:
    """Refuse what was not on the screen: another question, or another former version beside it."""
    wanted = seen if isinstance(seen, str) else seen.question
    is_named_alone = isinstance(seen, Seen) and seen.face is Face.NAMED and not wanted
    if not is_named_alone and digest_of(question) != wanted:
        raise ChangedError(request_id, question)
    for other, digest in () if isinstance(seen, str) else seen.before:
        # guard: former-version-shown
        if not any(digest_of(message) == digest for message in tx.thread(other)):
            raise ChangedError(request_id, question)


def find_question(
    tx: Transaction, request_id: str, wanted: str = "", *, asker: str | None = None
) -> tuple[Case, Sequence[Case]]:
    """The request behind `request_id` as it stands, and everything that was asked under the id, oldest first.

    Args:
        wanted: `digest_of` the question that is meant where several have the id; else it is the first, and of
            those whose ids are used again the first that waits.
        asker: Whose is meant where several agents have asked under the id; two may both call theirs `DBG-001`.

    Raises:
        TeamError: `INVALID_REQUEST_ID`.
    """
    asked = _judged(tx, request_id)
    own = [case for case in asked if case.asker == asker] or asked
    meant = (case for case in own if (digest_of(case.question.message) == wanted if wanted else case.is_open))
    if not own:
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"no request {request_id}",
            "List the open ones with: team-console requests --open",
            request_id=request_id,
        )
    found = next(meant, own[0]) if wanted or own[0].kind in REUSED_IDS else own[0]
    return found, asked


def _judged(tx: Transaction, request_id: str) -> list[Case]:
    """Every request that was asked under this id, judged with all that bears on it."""
    if not request_id:
        raise TeamError(Code.INVALID_REQUEST_ID, "the request id is empty", "Quote the id of the request.")
    thread = tx.thread(request_id)
    messages = with_bearing(thread, tx.everything)
    cases = judge(messages, tx.config, tx.recorded, tx.now)
    return [case for message in thread if (case := cases.get(message)) is not None and case.request_id == request_id]


def close_question(tx: Transaction, question: Message, *, actor: str) -> None:
    """Answering implies having read: the question is read and archived for whoever answered it."""
    live = tx.get(question.message_id)
    if live is not None and live.is_unread_by(actor):
        mark_as_read(tx, live, actor)


# guard: first-answer-wins
def refuse_decided(case: Case) -> None:
    """Refuse what has an answer that counts.

    Raises:
        TeamError: `ALREADY_ANSWERED`, with who and when.
    """
    if case.verdict is None or case.is_open:
        return
    word = case.state if case.kind is not RequestKind.QUESTION else RequestState.ANSWERED
    error = already_answered(case.request_id, case.verdict.message, word)
    if case.ending is not None:
        until = f" until {to_text(case.ending.due_at, milliseconds=False)}" if case.ending.due_at else ""
        error.message += f"; {case.ends} was asked to stop and has{until} to answer"
        error.hint = "AGENT_DESTROYED follows when it has answered, or after that time."
    raise error


def _refuse_over(tx: Transaction, case: Case) -> None:
    """Refuse what its asker took back or waits for no longer, and what a later request replaced (requirement 81).

    An agent may say that it stops, or not, to each order it was given: what it agreed to is done in any case.
    """
    request_id, question = case.request_id, case.question.message
    later = case.superseded_by
    if case.kind is RequestKind.SHUTDOWN and case.taken_back is None and question.status != Status.RECALLED:
        return
    if case.state is RequestState.SUPERSEDED and later is not None:
        newer = thread_of(later)
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"{request_id} was superseded by {newer}",
            f"Read and answer the newer {'plan' if case.kind is RequestKind.PLAN else 'request'}: {newer}",
            request_id=request_id,
            superseded_by=newer,
        )
    if case.state is RequestState.WITHDRAWN:
        notice = case.taken_back.message if case.taken_back is not None else None
        why = str(notice.payload.get("reason") or "taken back") if notice is not None else case.reason or "taken back"
        at = notice.created if notice is not None else to_text(case.withdrawn_at) if case.withdrawn_at else ""
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"{request_id} needs no answer any more: {why:.200}",
            f"{case.asker} withdrew it{f' at {at}' if at else ''}; nothing was written.",
            request_id=request_id,
            withdrawn_at=at or None,
            reason=why,
        )
    if case.kind in SUPERSEDING and tx.get(question.message_id) is None:
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"{request_id} is not open any more: it left the queue unanswered, because a later one took its place",
            f"If it still matters, let {case.asker} hand it in again.",
            request_id=request_id,
        )


def opened_kind(message: Message) -> RequestKind | None:
    """The kind of request that this message opens."""
    kind = parse_message(message).kind
    return kind.opens if kind is not None else None


def live_question(snapshot: Snapshot, request_id: str, wanted: str = "") -> Message | None:
    """The question of this id in the queue, of several that with the digest `wanted`; None when there is none."""
    asked = [
        message
        for message in snapshot.messages
        if opened_kind(message) and parse_message(message).request_id == request_id
    ]
    first = asked[0] if asked else None
    return next((question for question in asked if wanted and digest_of(question) == wanted), first)


def refuse_damaged(snapshot: Snapshot, request_id: str) -> None:
    """Refuse, by a look without the lock, a request whose record in the queue is damaged.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    if request_id in snapshot.damaged and live_question(snapshot, request_id) is None:
        text = f"the record of request {request_id} in the queue is damaged, so it cannot be answered"
        hint = "'team-console check' names file and line; repair it, or ask the sender to ask again."
        raise TeamError(Code.STORE_UNREADABLE, text, hint, request_id=request_id)


# Answers: the body of the message that answers a request, checked against what the request lets its answerer say.


def answer_type(kind: RequestKind) -> str:
    """The kind of message that answers a request: its own where it has one, else a plain message."""
    return RESPONSES.get(kind, "message")


def words_as_answer(question: Message, kind: RequestKind, verdict: Verdict) -> Verdict:
    """Words said to the only question of a request are its answer.

    Raises:
        TeamError: `INVALID_FIELD` where there are several questions and the words name none.
    """
    if kind is not RequestKind.QUESTION or verdict.approve is not None or not verdict.text:
        return verdict
    asked = questions_of(question.payload)
    if len(asked) != 1:
        text = f"{parse_message(question).request_id} asks {len(asked)} questions, and the words name none of them"
        _refuse(text, "Answer each: --option HEADER=LABEL or --text HEADER=WORDS.")
    return replace(verdict, approve=True, text=None, answers={asked[0].text: verdict.text})


def answer_body(question: Message, kind: RequestKind, verdict: Verdict, language: str) -> dict[str, Any]:
    """The payload that answers `question`, without its summary.

    Raises:
        TeamError: `INVALID_FIELD` for an answer that does not fit the request, with what would.
    """
    request_id = parse_message(question).request_id
    if kind is RequestKind.QUESTION and verdict.approve and verdict.answers is None:
        _refuse(f"{request_id} is a question, which a yes does not answer", _how_to_answer(question))
    if verdict.approve is None and kind not in IN_WORDS:
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
    body: dict[str, Any] = {"request_id": parse_message(question).request_id}
    if verdict.approve is not None:
        body["approve"] = verdict.approve
    if content := verdict.content(language):
        body["content"] = content
    if verdict.remarks:
        body[REMARKS] = [remark.as_recorded for remark in verdict.remarks]
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
        return phrase(language, refused, parse_message(question).subject or "?")[:120]
    done = "answered" if verdict.approve is None else _DONE.get(kind, ("approved", "rejected"))[not verdict.approve]
    chosen = answers_text({"answers": verdict.answers}) if verdict.answers else ""
    what = (chosen or verdict.content(language)).strip().partition("\n")[0] or question.summary
    line = phrase(language, "{} {}: {}", phrase(language, kind.capitalize()), phrase(language, done), what)
    return line.rstrip(":： ")[:120]


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
