"""Deciding with a form: what it hands in is checked at once, waits for its grace, and is bound to what was shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from team_console.console.app.unwritten import Act, Agreed, Outcome
from team_console.console.app.workspace import Workspace
from team_console.console.display.wording import written
from team_console.store.service.caller import Caller, Receipt

if TYPE_CHECKING:
    from team_console.store.views.rows import RequestRow
    from team_console.widgets.forms.form import Form


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
