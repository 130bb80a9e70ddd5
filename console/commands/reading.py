"""Reading: one thing on the whole screen, one after the other, searched, in an editor, piped to a command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from team_console.console.editor import run_in_terminal, view_text
from team_console.console.main import MainScreen
from team_console.console.selection import Subject
from team_console.widgets.forms import Confirm


def read(screen: MainScreen, subject: Subject) -> None:
    """Give what is under the cursor the whole screen, or the list its place again."""
    screen.pane.draw_now()
    screen.pane.read(not subject.is_reading)


def next_hit(direction: int, screen: MainScreen, subject: Subject) -> None:
    """Go to the next place with the words looked for; while reading without any, to the next thing."""
    pane = screen.pane
    if not ((direction > 0 and pane.go_on()) or pane.next_hit(direction)):
        last = "That was the last one." if subject.is_reading else "No more matches. / searches for other words."
        screen.toast(last, severity="warning")


def previous_thing(screen: MainScreen, subject: Subject) -> None:
    """Go to the thing before the one that is read."""
    if not screen.pane.step(-1):
        screen.toast("That was the first one.", severity="warning")


def next_heading(direction: int, screen: MainScreen, subject: Subject) -> None:
    """Go to the next heading, or the one before."""
    screen.pane.draw_now()
    screen.pane.detail.next_heading(direction)


def editor(screen: MainScreen, subject: Subject) -> None:
    """Show the text in the human's own editor."""
    _hand_over(screen, partial(view_text, screen.app), screen.text_read())


def pipe(screen: MainScreen, subject: Subject) -> None:
    """Ask for a command, and hand it the text."""
    text = screen.text_read()
    form = Confirm[str](
        "Pipe the text",
        ("The command runs in your shell and reads the text as its input.",),
        lambda command: command,
        verb="Run",
        field="command",
        required=True,
        wanted="less, wc -w, grep rollback, glow -p ...",
        draft=screen.drafts.get("pipe"),
    )

    def then(command: str) -> None:
        screen.drafts.keep("pipe", {"words": command})
        _hand_over(screen, lambda text: run_in_terminal(screen.app, command, text), text)

    screen.ask(form, then)


def _hand_over(screen: MainScreen, do: Callable[[str], str], text: str) -> None:
    if text:
        screen.try_to(lambda: do(text))
    else:
        screen.toast("There is no text here.", severity="warning")
