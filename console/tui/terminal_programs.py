"""Programs of the human's own on a text, while the console steps aside: an editor, a pager, a command to pipe to."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from team_console.store.model.errors import Code, TeamError
from textual.app import App, SuspendNotSupported

_MOST_BYTES = 16 * 1024 * 1024


def edit_text(app: App[Any], text: str, suffix: str) -> str:
    """Return `text` as the human edited it, meanwhile in a file of its own whose name ends in `suffix`.

    Raises:
        TeamError: `SPAWN_FAILED` when there is no such editor, it failed, or the terminal cannot be given away;
            `INVALID_FIELD` for what it left that is not text. Nothing is taken over then.
    """
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="team-console-") as folder:
        path = Path(folder, f"edit{suffix}")
        path.write_bytes(text.encode("utf-8", "replace"))
        status = _run(app, [*command, str(path)])
        if status != 0:
            what = f"the editor ended with status {status}; nothing of what it left was taken"
            raise TeamError(Code.SPAWN_FAILED, what, "Edit it again, or decide on it as it is.")
        return _text_of(path)


def edit_file(app: App[Any], path: Path) -> None:
    """Let the human edit a file in place; raises as for `edit_text`."""
    if status := _run(app, [*editor_command(), str(path)]):
        raise TeamError(Code.SPAWN_FAILED, f"the editor ended with status {status}", "Edit it again.")


def view_text(app: App[Any], text: str, *, pager: bool = False) -> str:
    """Show safe `text` in the human's own editor, in `PAGER` where none is set; returns what there is to say of it.

    Args:
        pager: Show it in the pager, whether an editor is set or not.

    Raises:
        TeamError: `SPAWN_FAILED` as for `edit_text`.
    """
    command = editor_command(*(("PAGER",) if pager else ("VISUAL", "EDITOR", "PAGER")), usual="less")
    with tempfile.TemporaryDirectory(prefix="team-console-") as folder:
        path = Path(folder, "text.md")
        path.write_bytes(text.encode())
        _run(app, [*command, str(path)])
        is_changed = not path.exists() or path.read_bytes() != text.encode()
    return "What you changed was not taken: a, then ^e, edits it before it is approved." if is_changed else ""


def run_in_terminal(app: App[Any], command: str, text: str | None = None) -> str:
    """Run a command line of the human's in a shell that has the terminal, with safe `text` as its input, if any.

    Returns what there is to say of it.

    Raises:
        TeamError: `SPAWN_FAILED` when there is no shell, or the terminal cannot be given away.
    """
    status = _run(app, ["/bin/sh", "-c", command], text)
    return f"The command ended with status {status}." if status else ""


def editor_command(*names: str, usual: str = "vi") -> list[str]:
    """Return the words of the command line in the first of these variables that is set, by default `VISUAL` and
    `EDITOR`.

    Raises:
        TeamError: `SPAWN_FAILED` for a variable that no shell could read.
    """
    known = (name for name in names or ("VISUAL", "EDITOR") if os.environ.get(name, "").strip())
    name = next(known, None)
    try:
        return shlex.split(os.environ[name]) if name is not None else [usual]
    except ValueError as error:
        raise TeamError(Code.SPAWN_FAILED, f"{name} cannot be read: {error}", "Set it to a command.") from None


def _run(app: App[Any], command: list[str], text: str | None = None) -> int:
    """Give the terminal to a command, with `text` as its input; its exit status.

    Raises:
        TeamError: `SPAWN_FAILED` when it cannot be run, or the terminal cannot be given away.
    """
    try:
        with app.suspend(), _signals_ignored():
            try:
                status = subprocess.run(command, input=None if text is None else text.encode(), check=False).returncode
                if text is not None:  # what it said would be gone with the next picture
                    print("\n[enter: back to the console]", end="", flush=True)
                    sys.__stdin__.readline() if sys.__stdin__ is not None else None
                return status
            except (OSError, ValueError) as error:  # raised below: a suspended app would never come back
                trouble = getattr(error, "strerror", None) or str(error)
    except SuspendNotSupported:
        hint = "Use the command line: team-console show REQUEST, or team-console approve REQUEST --edited FILE"
        raise TeamError(Code.SPAWN_FAILED, "this terminal cannot be given to another program", hint) from None
    what = f"{command[0]} cannot be run: {trouble}"
    raise TeamError(Code.SPAWN_FAILED, what, "Set EDITOR or PAGER to a program that there is.")


def _text_of(path: Path) -> str:
    """Return the text that the editor left; raise `TeamError` for one that is too large or not UTF-8."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise TeamError(Code.CONTENT_TOO_LARGE, "the edited text is too large", "Make it shorter.")
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TeamError(Code.INVALID_FIELD, "the editor left no text in UTF-8", "Edit it again.") from error


@contextmanager
def _signals_ignored() -> Iterator[None]:
    """Ctrl-C and ctrl-\\ in the editor are the editor's: they reach every program of the terminal.

    A handler, not `SIG_IGN`: what is ignored here would be ignored in the editor, too.
    """
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
