"""The human's own editor on a text, while the console steps aside: `VISUAL`, else `EDITOR`, else `vi`."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from team_console.store.model.errors import Code, TeamError
from textual.app import App, SuspendNotSupported

_MOST_BYTES = 16 * 1024 * 1024


def edit_text(app: App[Any], text: str, *, suffix: str) -> str:
    """What the human made of `text`; it stands in a file of its own whose name ends in `suffix` meanwhile.

    Raises:
        TeamError: `SPAWN_FAILED` when there is no such editor, it failed, or the terminal cannot be given away;
            `INVALID_FIELD` for what it left that is not text. Nothing is taken over then.
    """
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="team-console-") as folder:
        path = Path(folder, f"edit{suffix}")
        path.write_bytes(text.encode("utf-8", "replace"))
        try:
            with app.suspend(), _spared():
                status, trouble = _run([*command, str(path)])
        except SuspendNotSupported:
            hint = "Answer on the command line: team-console approve REQUEST --edited FILE"
            raise TeamError(Code.SPAWN_FAILED, "this terminal cannot be given to an editor", hint) from None
        if trouble:
            what = f"the editor {command[0]} cannot be run: {trouble}"
            raise TeamError(Code.SPAWN_FAILED, what, "Set EDITOR to the editor you use.")
        if status != 0:
            what = f"the editor ended with status {status}; nothing of what it left was taken"
            raise TeamError(Code.SPAWN_FAILED, what, "Edit it again, or decide on it as it is.")
        return _text_of(path)


def editor_command() -> list[str]:
    """The words of the editor's command line.

    Raises:
        TeamError: `SPAWN_FAILED` for a variable that no shell could read.
    """
    name = next((name for name in ("VISUAL", "EDITOR") if os.environ.get(name, "").strip()), None)
    try:
        return shlex.split(os.environ[name]) if name is not None else ["vi"]
    except ValueError as error:
        raise TeamError(Code.SPAWN_FAILED, f"{name} cannot be read: {error}", "Set it to a command.") from None


def _run(command: list[str]) -> tuple[int, str]:
    """Its exit status, and why it could not be run. Nothing is raised: a suspended app comes back only after that."""
    try:
        return subprocess.run(command, check=False).returncode, ""
    except (OSError, ValueError) as error:
        return -1, getattr(error, "strerror", None) or str(error)


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise TeamError(Code.CONTENT_TOO_LARGE, "the edited text is too large", "Make it shorter.")
        return data.decode("utf-8")
    except OSError as error:
        raise TeamError(Code.INVALID_FIELD, f"the edited text is gone: {error.strerror}", "Edit it again.") from error
    except UnicodeDecodeError as error:
        what = f"the edited text is not UTF-8 at byte {error.start}"
        raise TeamError(Code.INVALID_FIELD, what, "Let the editor write UTF-8.") from error


@contextmanager
def _spared() -> Iterator[None]:
    """Ctrl-C and ctrl-\\ in the editor are the editor's: they reach every program of the terminal.

    A handler, not `SIG_IGN`: what is ignored here would be ignored in the editor, too.
    """
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
