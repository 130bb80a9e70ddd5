"""Reading: one thing on the whole screen, one after the other, searched, in an editor, piped to a command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from team_console.console.decisions import Workspace
from team_console.console.editor import pipe_text, view_text
from team_console.console.selection import Subject
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_line, safe_text


def read(workspace: Workspace, subject: Subject) -> None:
    """Give what is under the cursor the whole screen, or the list its place again."""
    workspace.pane.draw_now()
    workspace.pane.read(not subject.is_reading)


def next_hit(workspace: Workspace, subject: Subject, direction: int = 1) -> None:
    """Go to the next place with the words looked for; while reading without any, to the next thing."""
    pane = workspace.pane
    if not ((direction > 0 and pane.go_on()) or pane.next_hit(direction)):
        last = "That was the last one." if subject.is_reading else "No more matches. / searches for other words."
        workspace.toast(last, severity="warning")


def previous_thing(workspace: Workspace, subject: Subject) -> None:
    """Go to the thing before the one that is read."""
    if not workspace.pane.step(-1):
        workspace.toast("That was the first one.", severity="warning")


def next_heading(workspace: Workspace, subject: Subject, direction: int = 1) -> None:
    """Go to the next heading, or the one before."""
    workspace.pane.draw_now()
    workspace.pane.detail.next_heading(direction)


def editor(workspace: Workspace, subject: Subject) -> None:
    """Show the text in the human's own editor."""
    _hand_over(workspace, partial(view_text, workspace.app))


def pipe(workspace: Workspace, subject: Subject) -> None:
    """Ask for a command, and hand it the text."""
    from team_console.widgets.forms import Confirm

    text = _text_of(workspace)
    form = Confirm[str](
        "Pipe the text",
        ("The command runs in your shell and reads the text as its input.",),
        lambda command: command,
        verb="Run",
        field="command",
        required=True,
        wanted="less, wc -w, grep rollback, glow -p ...",
        draft=workspace.drafts.get("pipe"),
    )

    def then(command: str) -> None:
        workspace.drafts.keep("pipe", {"words": command})
        _hand_over(workspace, lambda text: pipe_text(workspace.app, text, command), text)

    workspace.ask(form, None, then=then)


def _text_of(workspace: Workspace) -> str:
    """What is read, as it was written; made safe, because an editor or a pager may hand it to the terminal."""
    workspace.pane.draw_now()
    document = workspace.pane.detail.document
    return safe_text(document.source).rstrip("\n") + "\n" if document is not None and document.source else ""


def _hand_over(workspace: Workspace, do: Callable[[str], str], text: str | None = None) -> None:
    text = _text_of(workspace) if text is None else text
    if not text:
        workspace.toast("There is no text here.", severity="warning")
        return
    try:
        said = do(text)
    except TeamError as error:
        workspace.toast(f"✗ {safe_line(error.message, 200)}. {safe_line(error.hint, 200)}", severity="error")
        return
    if said:
        workspace.toast(said)


HANDLERS: dict[str, Callable[[Workspace, Subject], None]] = {
    "read": read,
    "next_hit": next_hit,
    "previous_hit": partial(next_hit, direction=-1),
    "previous_thing": previous_thing,
    "next_heading": next_heading,
    "previous_heading": partial(next_heading, direction=-1),
    "editor": editor,
    "pipe": pipe,
}
