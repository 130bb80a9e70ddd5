"""Act on what was seen: when the request or what stood beside it changed, the form shows what is new and asks again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace
from team_console.console.app.workspace import Workspace
from team_console.console.evidence.gathering import gather
from team_console.console.evidence.wish import Wish
from team_console.console.panes.beside import Gathered, wish_of
from team_console.store.attachments import attachment_of
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import modes_of, permission_of, questions_of
from team_console.store.protocol.seen import Seen, seen_of
from team_console.store.views.evidence import Evidence, shown_text
from team_console.store.views.proposals import difference
from team_console.store.views.rows import RequestRow
from team_console.widgets.forms.changed import AskAgain

ResultT = TypeVar("ResultT")


class SeenRequest:
    """A request as it was shown to whoever decides on it; what a form shows anew is seen from then on.

    `act` runs in a thread; the form is looked at between two of its calls.
    """

    def __init__(self, workspace: Workspace, row: RequestRow, seen: Seen | str) -> None:
        self._team, self._shelf = workspace.caller.team, workspace.pane.shelf
        self._question = row.question
        self._content = workspace.pane.content_of(row.question)
        self._wish = wish_of(workspace.pane, row)
        known = workspace.pane.shelf.evidence.get(row.key)
        is_shown = isinstance(known, Gathered) and known.seen == seen
        self._evidence: Evidence | None = known.evidence if isinstance(known, Gathered) and is_shown else None
        self._seen = seen

    def act(self, do: Callable[[Seen | str], ResultT]) -> ResultT:
        """Do it with what was seen.

        Raises:
            AskAgain: It changed; nothing was written.
            TeamError: The desk's own.
        """
        self._look_again()
        try:
            seen = self._seen
            return do(self._shelf.as_painted(seen.question, seen) if isinstance(seen, Seen) else seen)
        except ChangedError as error:
            raise self._changed(error) from error

    def _look_again(self) -> None:
        """Refuse evidence that is not what was shown; without the lock, and before it is taken."""
        if self._evidence is None or self._wish is None:
            return
        now = gather(self._team, self._wish)
        if tuple(now.lines) != tuple(self._evidence.lines):
            raise self._ask_again(self._question, self._wish, now)

    def _changed(self, error: ChangedError) -> AskAgain:
        question = error.now
        if question is None:
            return AskAgain((), may_go_on=False, why="it is gone; nothing was written")
        whole = attachment_of(question)
        if whole is not None and whole != attachment_of(self._question):
            why = "it changed, and its new text is stored beside the queue; nothing was written"
            return AskAgain(self._diff(question, self._evidence), may_go_on=False, why=why)
        if _ways_of(question) != _ways_of(self._question):
            why = "it changed, and with it what you can choose; nothing was written"
            return AskAgain(self._diff(question, self._evidence), may_go_on=False, why=why)
        wish = _with(self._wish, question) if self._wish is not None else None
        evidence = gather(self._team, wish) if wish is not None and self._evidence is not None else None
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
        return difference(
            shown_text(self._question, self._evidence, self._content), shown_text(question, evidence, content)
        )


def _with(wish: Wish, question: Message) -> Wish:
    """The wish for another version of the question."""
    row = replace(wish.row, question=question) if wish.row is not None else None
    return replace(wish, message=question, row=row, text=question.content)


def _ways_of(question: Message) -> object:
    """What a form lets its human choose from."""
    payload = question.payload
    return modes_of(payload), permission_of(payload).suggestions, questions_of(payload)
