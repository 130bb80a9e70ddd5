"""Commands of the human's own: a line of `config.toml` on a key, with what is read as quoted words of a shell."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from team_console.console.preferences import OwnCommand, command_for_shell
from team_console.console.selection import ActionContext, is_page
from team_console.console.tui.main import MainScreen
from team_console.console.tui.terminal_programs import run_in_terminal, view_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line, safe_text

_LONGEST_RUN = 60.0
"""Seconds after which a command whose output is shown is ended."""
_MOST_TEXT = 100_000
"""Characters that fit into one argument of a program on every system."""
_LINES = 6
"""Lines of the output that stand in a toast."""


def run_own(screen: MainScreen, context: ActionContext, command: OwnCommand) -> None:
    """Run a command on what is read."""
    if is_page():
        screen.toast("Commands of your own run in a terminal, not in a browser.", severity="warning")
        return
    try:
        values = _placeholder_values(screen, context, command)
    except TeamError as error:
        screen.toast(f"✗ {error.message}. {error.hint}", severity="warning")
        return
    if command.output == "terminal":
        screen.try_to(lambda: _run_in_terminal(screen, command, values))
        return
    is_paged = command.output == "pager"

    def then(text: str) -> None:
        if is_paged:
            screen.try_to(lambda: view_text(screen.app, text + "\n", pager=True))
        elif command.output == "toast":
            screen.toast(_toast_of(text))

    screen.background.run(partial(_output_of, command, values), then, opens_form=is_paged)


def _placeholder_values(screen: MainScreen, context: ActionContext, command: OwnCommand) -> dict[str, str]:
    """Return the values of the placeholders.

    Raises:
        TeamError: `INVALID_FIELD` for one that stands for nothing here, or for what a program would take for an option.
    """
    text, selection = screen.pane.presenter.text_read(), context.selection
    known = {
        "id": safe_line(selection.subject),
        "agent": safe_line(next(iter(selection.agents), "")),
        "text": text[:_MOST_TEXT],
        "file": text,
    }
    for name in command.placeholders:
        if not known[name].strip():
            raise TeamError(Code.INVALID_FIELD, f"nothing here is its {{{name}}}", "Choose another row.")
        # guard: own-command-no-option
        if name != "file" and known[name].startswith("-"):
            hint = "Use {file} in its place." if name == "text" else "Another program wrote it."
            raise TeamError(Code.INVALID_FIELD, f"its {{{name}}} begins with -, as an option does", hint)
    return {name: known[name] for name in command.placeholders}


def _shell_line(command: OwnCommand, values: dict[str, str], folder: str) -> str:
    """Return the command for the shell: each value one word, whatever is in it."""
    words = dict(values)
    if "file" in words:
        path = Path(folder, "text.md")
        path.write_bytes(words["file"].encode("utf-8", "replace"))
        words["file"] = str(path)
    given = "".join(f"team_console_{name}={_word(value)}\n" for name, value in words.items())
    return given + command_for_shell(command.run)


def _word(value: str) -> str:
    """Return a value as one word of the shell."""
    # guard: own-command-quoted
    return shlex.quote(value)


def _output_of(command: OwnCommand, values: dict[str, str]) -> str:
    """Return its output, made safe; runs in a thread.

    Raises:
        TeamError: `SPAWN_FAILED` when it could not be run, failed, or took too long.
    """
    with tempfile.TemporaryDirectory(prefix="team-console-") as folder:
        line = ["/bin/sh", "-c", _shell_line(command, values, folder)]
        try:
            done = subprocess.run(
                line, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LONGEST_RUN, check=False
            )
        except subprocess.TimeoutExpired:
            what = f"{safe_line(command.run, 60)} took more than {_LONGEST_RUN:.0f} s and was ended"
            raise TeamError(Code.SPAWN_FAILED, what, 'Give long ones output = "terminal".') from None
        except OSError as error:
            raise TeamError(Code.SPAWN_FAILED, f"the shell cannot be run: {error.strerror}", "Try again.") from None
    said = safe_text((done.stdout or done.stderr).decode("utf-8", "replace").strip("\n"))
    if done.returncode:
        last = said.rpartition("\n")[2] or "it said nothing"
        what = f"{safe_line(command.run, 60)} ended with status {done.returncode}: {safe_line(last, 200)}"
        raise TeamError(Code.SPAWN_FAILED, what, "Run it in a shell to see all of it.")
    return said


def _run_in_terminal(screen: MainScreen, command: OwnCommand, values: dict[str, str]) -> str:
    with tempfile.TemporaryDirectory(prefix="team-console-") as folder:
        return run_in_terminal(screen.app, _shell_line(command, values, folder))


def _toast_of(text: str) -> str:
    lines = text.split("\n")
    more = f"\nand {len(lines) - _LINES} more lines" if len(lines) > _LINES else ""
    return "\n".join(line[:200] for line in lines[:_LINES]) + more if text else "The command ended, and said nothing."
