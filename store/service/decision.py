"""One decision on one request: what is decided, on what, by whom, in view of what.

The screen, the command line, the API, SendMessage and MCP make this value and hand it to `requests.decide`; there is
no other way to a verdict. It knows nothing of forms or options of a command.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import asdict
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import FieldDict, Fields
from team_console.store.model.safe import is_blank
from team_console.store.protocol.client_requests import ONCE
from team_console.store.protocol.phrases import phrase
from team_console.store.protocol.remarks import Remark, remark_words
from team_console.store.protocol.seen import Face, Seen

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
        given = (
            *(self.request_id, self.seen.question, self.seen.sha256, self.action, self.approve, self.text),
            *(
                self.suggestion,
                self.scope,
                self.number,
                self.mode,
                self.updated,
                self.answers,
                self.notes,
                self.agent_name,
            ),
            [asdict(remark) for remark in self.remarks],
        )
        return hashlib.sha256(json.dumps(given, sort_keys=True, default=_plain).encode()).hexdigest()

    def content(self, language: str) -> str:
        """Return the words the asker reads, ours among them in the team's language."""
        offered = phrase(language, "{}: {}", phrase(language, "Suggestion"), self.suggestion)
        words = self.text, offered if self.suggestion else "", remark_words(self.remarks, language)
        return "\n\n".join(filter(None, words))


def _plain(value: object) -> object:
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
