"""Deciding on what was seen: when it changed meanwhile, the form shows what is new and asks again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace
from team_console.console.tui.evidence import EvidenceRequest, gather
from team_console.console.tui.main import MainScreen
from team_console.console.tui.pending_decisions import PendingDecision, PendingWrite
from team_console.store.contract.team import attachment_of
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import (
    modes_of,
    permission_of,
    questions_of,
)
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.shown_when_decided import Seen, digest_of, seen_of
from team_console.store.protocol.titles import message_title
from team_console.store.service import requests
from team_console.store.service.decision import Decision
from team_console.store.views.differences import line_difference
from team_console.store.views.evidence import Evidence, shown_text
from team_console.store.views.rows import RequestRow
from team_console.widgets.form_results import AskAgain


def pending_write(words: str, decision: Decision) -> PendingWrite:
    """Return the write of a decision, in safe words."""
    recorded = (decision.action, decision.request_id)
    return PendingWrite(decision.request_id, words, partial(requests.decide, verdict=decision), recorded=recorded)


def decision_in_view(screen: MainScreen, request_id: str, seen: Seen, *, with_others: bool = False) -> Decision:
    """Return what is decided with the last key that decided, as far as it is known before what was chosen.

    Raises:
        TeamError: Nothing of the request was on the screen when that key was pressed.
    """
    frame, key = screen.frames.decided
    caller = screen.caller
    return Decision(
        request_id,
        None,
        seen=screen.cache.as_painted(seen, frame),
        by=caller.actor,
        key=key,
        is_signed=caller.team.config().must_be_signed(caller.actor),
        is_with_others=with_others,
    )


class SeenRequest:
    """A request as it was shown to whoever decides on it; what a form shows anew is seen from then on.

    `decide` runs in a thread; the form is looked at between two of its calls.

    Attributes:
        row: The request as it was shown last.
    """

    def __init__(self, screen: MainScreen, row: RequestRow, seen: Seen, about: Callable[[RequestRow], str]) -> None:
        """Begin with what was `seen`; `about` makes what the form says of a request, as safe text."""
        self._screen, self._seen, self._about = screen, seen, about
        self.row = row
        self._content = screen.pane.listing.sources.content_of(row.question)
        self._evidence_request = screen.pane.listing.sources.evidence_request(row)
        known = screen.cache.evidence.get(row.key)
        self._evidence = known.evidence if known is not None and known.seen == seen else None

    def decide(self, make: Callable[[Decision], PendingDecision]) -> PendingDecision:
        """Check the decision that `make` makes in view of what was seen, or write it without an undo delay.

        Raises:
            AskAgain: It changed; nothing was written.
            TeamError: It is refused.
        """
        return self._prepare_in_view(make, self._screen.pending_decisions.prepare)

    def check(self, make: Callable[[Decision], PendingDecision]) -> PendingDecision:
        """Check it alone, because more is asked before it is written; raises as `decide` does."""
        return self._prepare_in_view(make, self._screen.pending_decisions.check)

    def _prepare_in_view(
        self,
        make: Callable[[Decision], PendingDecision],
        prepare: Callable[[PendingDecision], PendingDecision],
    ) -> PendingDecision:
        """Make a decision in view of what was seen and prepare it; raise where evidence or question changed."""
        if self._evidence is not None and self._evidence_request is not None:
            # Without the lock, and before it is taken.
            now = gather(self._screen.caller.team, self._evidence_request)
            if tuple(now.lines) != tuple(self._evidence.lines):
                raise self._ask_again(self.row.question, self._evidence_request, now)
        self._screen.keep_painted()
        try:
            return prepare(make(decision_in_view(self._screen, self.row.request_id, self._seen)))
        except ChangedError as error:
            raise self._ask_about_change(error.now) from error

    def _ask_about_change(self, question: Message | None) -> AskAgain:
        """Return what asks again about a question that changed, or says why it cannot be decided on here."""
        if question is None:
            return AskAgain((), why="it is gone; nothing was written")
        attachment, why = attachment_of(question), ""
        if attachment is not None and attachment != attachment_of(self.row.question):
            why = "it changed, and its new text is stored beside the queue; nothing was written"
        elif _choices_of(question) != _choices_of(self.row.question):
            why = "it changed, and with it what you can choose; nothing was written"
        if why:
            return AskAgain(self._difference_to(question, self._evidence), why=why)
        evidence_request, evidence = self._evidence_request, None
        if evidence_request is not None:
            row = replace(self.row, question=question)
            evidence_request = replace(evidence_request, message=question, row=row, text=question.content)
            if self._evidence is not None:
                evidence = gather(self._screen.caller.team, evidence_request)
        return self._ask_again(question, evidence_request, evidence)

    def _ask_again(
        self, question: Message, evidence_request: EvidenceRequest | None, evidence: Evidence | None
    ) -> AskAgain:
        """Show what changed since the form opened, and count it as seen; the form takes no key before."""
        diff = self._difference_to(question, evidence)
        self.row = replace(self.row, question=question, title=message_title(question))
        self._evidence_request, self._evidence = evidence_request, evidence
        before, lines = (evidence.before, evidence.lines) if evidence is not None else ((), iter(()))
        self._seen = seen_of(question, before=before, evidence=lines)
        return AskAgain(diff, token=digest_of(question), about=self._about(self.row))

    def _difference_to(self, question: Message, evidence: Evidence | None) -> tuple[str, ...]:
        content = self._content if attachment_of(question) is not None else None
        before = shown_text(self.row.question, self._evidence, self._content)
        return line_difference(before, shown_text(question, evidence, content))


def _choices_of(question: Message) -> object:
    """Return the choices that a form offers for the question, and whom it is about."""
    payload = question.payload
    return modes_of(payload), permission_of(payload).suggestions, questions_of(payload), parse_message(question).subject
