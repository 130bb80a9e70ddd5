"""Decide on what was seen: when that changed, the form shows what is new and asks again."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from team_console.console.decisions import Agreed
from team_console.console.evidence import Wish, gather
from team_console.console.main import MainScreen
from team_console.console.modes.pane import wish_of
from team_console.store.attachments import attachment_of
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import modes_of, permission_of, questions_of
from team_console.store.protocol.verdicts import Seen, seen_of
from team_console.store.views.evidence import Evidence, shown_text
from team_console.store.views.proposals import difference
from team_console.store.views.rows import RequestRow
from team_console.widgets.form import AskAgain


class SeenRequest:
    """A request as it was shown to whoever decides on it; what a form shows anew is seen from then on.

    `decide` runs in a thread; the form is looked at between two of its calls.
    """

    def __init__(self, screen: MainScreen, row: RequestRow, seen: Seen | str) -> None:
        self._screen, self._question, self._seen = screen, row.question, seen
        self._content = screen.pane.content_of(row.question)
        self._wish = wish_of(screen.pane, row)
        known = screen.shelf.evidence.get(row.key)
        self._evidence = known.evidence if known is not None and known.seen == seen else None

    def decide(self, make: Callable[[Seen | str], Agreed]) -> Agreed:
        """Check the decision that `make` makes of what was seen, or write it where there is no grace.

        Raises:
            AskAgain: It changed; nothing was written.
            TeamError: It is refused.
        """
        if self._evidence is not None and self._wish is not None:  # without the lock, and before it is taken
            now = gather(self._screen.caller.team, self._wish)
            if tuple(now.lines) != tuple(self._evidence.lines):
                raise self._ask_again(self._question, self._wish, now)
        seen = self._seen
        try:
            return self._screen.unwritten.prepare(
                make(self._screen.shelf.as_painted(seen.question, seen) if isinstance(seen, Seen) else seen)
            )
        except ChangedError as error:
            raise self._changed(error.now) from error

    def _changed(self, question: Message | None) -> AskAgain:
        if question is None:
            return AskAgain((), may_go_on=False, why="it is gone; nothing was written")
        whole, why = attachment_of(question), ""
        if whole is not None and whole != attachment_of(self._question):
            why = "it changed, and its new text is stored beside the queue; nothing was written"
        elif _ways_of(question) != _ways_of(self._question):
            why = "it changed, and with it what you can choose; nothing was written"
        if why:
            return AskAgain(self._diff(question, self._evidence), may_go_on=False, why=why)
        wish = self._wish
        if wish is not None:
            row = replace(wish.row, question=question) if wish.row is not None else None
            wish = replace(wish, message=question, row=row, text=question.content)
        is_known = wish is not None and self._evidence is not None
        evidence = gather(self._screen.caller.team, wish) if wish is not None and is_known else None
        return self._ask_again(question, wish, evidence)

    def _ask_again(self, question: Message, wish: Wish | None, evidence: Evidence | None) -> AskAgain:
        """What is new, and from here on seen: the form shows it before it takes another key."""
        diff = self._diff(question, evidence)
        self._question, self._wish, self._evidence = question, wish, evidence
        before, lines = (evidence.before, evidence.lines) if evidence is not None else ((), iter(()))
        self._seen = seen_of(question, before=before, evidence=lines)
        return AskAgain(diff)

    def _diff(self, question: Message, evidence: Evidence | None) -> tuple[str, ...]:
        content = self._content if attachment_of(question) is not None else None
        before = shown_text(self._question, self._evidence, self._content)
        return difference(before, shown_text(question, evidence, content))


def _ways_of(question: Message) -> object:
    """What a form lets its human choose from."""
    payload = question.payload
    return modes_of(payload), permission_of(payload).suggestions, questions_of(payload)
