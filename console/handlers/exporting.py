"""Writes the rows of the history to a new file, in the format its name asks for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from team_console.console.app.workspace import Workspace
from team_console.console.input.subject import Subject
from team_console.console.panes.history import HistoryPane
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.history import CSV_FIELDS, csv_row, csv_text, history_json, log_line


def export(workspace: Workspace, subject: Subject) -> None:
    """Ask for a file name and write what the list shows."""
    from team_console.widgets.forms.confirm import Confirm

    if not isinstance(workspace.pane, HistoryPane):
        return
    if workspace.read_only:
        workspace.toast("export: the console is read-only and writes no file", severity="warning")
        return
    messages = workspace.pane.messages()
    more = "" if workspace.pane.at_end else " Not all of the history is read yet; G reads on."
    form = Confirm[Path](
        "Export",
        (
            f"{counted(len(messages), 'message')} as shown, newest first, to a new file.{more}",
            "Its name says the format.",
        ),
        partial(write_export, messages),
        verb=f"Write {len(messages):,}",
        field="file",
        required=True,
        draft={"words": "history.csv"},
    )
    workspace.ask(form, lambda path: f"✓ {counted(len(messages), 'message')} in {safe_line(path, 200)}")


def write_export(messages: Sequence[Message], name: str) -> Path:
    """Write `messages` to the new file `name`, private to the user; returns its path.

    Raises:
        TeamError: `INVALID_FIELD` for another format, a file that exists or a place that cannot be written.
    """
    if "\0" in name:
        raise TeamError(Code.INVALID_FIELD, "no file has a NUL in its name", "Choose another name.")
    path = Path(os.path.expanduser(name)).absolute()
    form = _FORMATS.get(path.suffix)
    if form is None:
        names = ", ".join(_FORMATS)
        raise TeamError(Code.INVALID_FIELD, f"{path.name}: no format is called that", f"End the name in {names}.")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(form(messages))
        except BaseException:  # half of a file would pass for the whole, and keep the next try from its name
            path.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise TeamError(Code.INVALID_FIELD, f"{path} exists", "Nothing is written over; choose another name.") from None
    except OSError as error:
        raise TeamError(Code.INVALID_FIELD, f"{path}: {error.strerror}", "Choose another place.") from error
    return path


def _csv(messages: Sequence[Message]) -> str:
    return csv_text(CSV_FIELDS, map(csv_row, messages))


def _json(messages: Sequence[Message]) -> str:
    return json.dumps(history_json(messages), ensure_ascii=False, indent=1, default=str) + "\n"


def _log(messages: Sequence[Message]) -> str:
    return "".join(f"{log_line(message)}\n" for message in messages)


_FORMATS: Mapping[str, Callable[[Sequence[Message]], str]] = {".csv": _csv, ".json": _json, ".log": _log}

HANDLERS = {"export": export}
