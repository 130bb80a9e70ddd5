"""Deciding with a form: what it hands in is checked at once, waits for its grace, and is bound to what was shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from team_console.console.app.unwritten import Act, Agreed, Outcome
from team_console.console.app.workspace import Workspace
from team_console.console.display.wording import written
from team_console.store.desk import requests
from team_console.store.desk.caller import Caller, Receipt
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.views.rows import RequestRow
from team_console.widgets.forms.standing import SubjectChangedError

if TYPE_CHECKING:
    from team_console.widgets.forms.form import Form


class Bound(Struct):
    """What a form is bound to: a request as it was shown. After a refusal because it changed, as it is then.

    Attributes:
        seen: The fingerprint of `question`.
    """

    request_id: str
    question: Message
    seen: str

    @classmethod
    def to(cls, row: RequestRow, seen: str) -> Bound:
        """The request of a row."""
        return cls(row.request_id, row.question, seen)


def agree(workspace: Workspace, agreed: Agreed, bound: Bound | None = None) -> Agreed:
    """Check what a form hands in, or write it where there is no grace; runs in a thread.

    Raises:
        TeamError: It is refused; a `SubjectChangedError` when the request changed.
    """
    try:
        return workspace.unwritten.prepare(agreed)
    except TeamError as error:
        question = _changed(workspace, error, bound)
        if bound is None or question is None:
            raise
        before, bound.question, bound.seen = bound.question, question, requests.fingerprint(question)
        raise SubjectChangedError(error, before=before.content, now=question.content) from error


def _changed(workspace: Workspace, error: TeamError, bound: Bound | None) -> Message | None:
    """The request as it is now, when that it changed is why it was refused."""
    if bound is None or error.code is not Code.INVALID_REQUEST_ID:
        return None
    question = requests.live_question(workspace.caller.team.snapshot(), bound.request_id)
    return question if question is not None and requests.fingerprint(question) != bound.seen else None


def ask(workspace: Workspace, form: Form[Agreed]) -> None:
    """Ask with `form`; what it hands in waits for its grace, and the cursor goes on to the next thing."""

    def then(agreed: Agreed) -> None:
        workspace.step_on()
        workspace.unwritten.take(agreed)

    workspace.ask(form, None, then=then)


def at_once(workspace: Workspace, agreed: Agreed) -> None:
    """Decide without a form."""

    def then(prepared: Agreed) -> None:
        workspace.step_on()
        workspace.unwritten.take(prepared)

    workspace.background.run(lambda: workspace.unwritten.prepare(agreed), None, then=then)


def single(
    subject: str,
    verb: str,
    words: str,
    do: Callable[[Caller], Receipt],
    *,
    told: Callable[[Receipt], str],
    purpose: str,
) -> Agreed:
    """One act: `verb` is said of its row, `words` of it elsewhere, `told` once it is written."""
    act = Act(subject, words, do)
    return Agreed(verb, (act,), lambda outcomes: told(outcomes[0].result), (purpose,))


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
