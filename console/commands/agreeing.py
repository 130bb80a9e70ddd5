"""Deciding with a form: what it hands in is checked at once, waits for its grace, and is bound to what was shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace
from team_console.console.decisions import Act, Agreed, Outcome, Workspace
from team_console.console.evidence import Wish, gather
from team_console.console.modes.pane import Gathered, wish_of
from team_console.console.words import written
from team_console.store.attachments import attachment_of
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import modes_of, permission_of, questions_of
from team_console.store.protocol.verdicts import Seen, seen_of
from team_console.store.service.caller import Caller, Receipt
from team_console.store.views.evidence import Evidence, shown_text
from team_console.store.views.proposals import difference
from team_console.store.views.rows import RequestRow
from team_console.widgets.form import AskAgain

if TYPE_CHECKING:
    from team_console.widgets.form import Form


def agree(workspace: Workspace, agreed: Agreed) -> Agreed:
    """Check what a form hands in, or write it where there is no grace; runs in a thread.

    Raises:
        TeamError: It is refused.
    """
    return workspace.unwritten.prepare(agreed)


def ask(workspace: Workspace, form: Form[Agreed], *, about: RequestRow | None = None) -> None:
    """Ask with `form`; what it hands in waits for its grace, and the cursor goes on to the next thing.

    A form that asks `about` one request says what becomes of that while it is open.
    """

    def then(agreed: Agreed) -> None:
        workspace.step_on(agreed.subjects)
        workspace.unwritten.take(agreed)

    workspace.ask(form, None, then=then, about=about)


def at_once(workspace: Workspace, agreed: Agreed) -> None:
    """Decide without a form."""

    def then(prepared: Agreed) -> None:
        workspace.step_on(prepared.subjects)
        workspace.unwritten.take(prepared)

    workspace.background.run(lambda: workspace.unwritten.prepare(agreed), None, then=then)


def single(
    subject: str,
    verb: str,
    words: str,
    do: Callable[[Caller], Receipt],
    *,
    told: Callable[[Receipt], str],
    purposes: tuple[str, ...] = (),
) -> Agreed:
    """One act: `verb` is said of its row, `words` of it elsewhere, `told` once it is written."""
    act = Act(subject, words, do)
    return Agreed(verb, (act,), lambda outcomes: told(outcomes[0].result), purposes)


def receipts_of(outcomes: Sequence[Outcome]) -> list[Receipt]:
    """What was written."""
    return [outcome.result for outcome in outcomes if isinstance(outcome.result, Receipt)]


def told_of_many(what: str) -> Callable[[Sequence[Outcome]], str]:
    """Makes the toast of several acts, such as `asked to stop`."""

    def told(outcomes: Sequence[Outcome]) -> str:
        return written(what, *receipts_of(outcomes))

    return told


def nothing(caller: Caller) -> Any:
    """Writes nothing: for what begins only after its grace."""


# Act on what was seen: when the request or what stood beside it changed, the form shows what is new and asks again.

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
