"""`completions`: the completion script for a shell, made from the verbs' own options."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path

from team_console.console.cli.call import Call
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import home
from team_console.store.model.safe import safe_line

_PLACES = {
    "bash": ("XDG_DATA_HOME", ".local/share", "bash-completion/completions/team-console"),
    "zsh": ("ZDOTDIR", "", ".zfunc/_team-console"),
    "fish": ("XDG_CONFIG_HOME", ".config", "fish/completions/team-console.fish"),
}
"""Where a shell looks for its script: the variable of the base folder, that folder below home, the path in it."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the shell, and whether to install the script."""
    parser.description = (
        "Print a completion script, or install it for your user:\n\n"
        "  team-console completions bash --install\n"
        "  team-console completions zsh --install      # then, once, in ~/.zshrc: fpath+=~/.zfunc before compinit\n"
        "  team-console completions fish --install"
    )
    parser.add_argument("shell", choices=tuple(_PLACES), help="the shell")
    parser.add_argument("--install", action="store_true", help="write it where the shell looks for it")


def run(call: Call) -> int:
    """Print the script, or write it."""
    from team_console.console.cli.manual.completion_scripts import script

    text = script(call.options.shell)
    if not call.options.install:
        call.out.say(text.rstrip("\n"))
        return 0
    if call.options.read_only:
        raise TeamError(Code.READ_ONLY, "--install writes a file", "Leave --read-only out.")
    path = _place(call.options.shell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        shown = safe_line(f"{path}: {error.strerror}", 1000)
        raise TeamError(Code.STORE_FAILED, shown, "Print the script and put it where you want it.") from None
    shown = safe_line(str(path), 1000)
    if call.out.as_json:
        call.out.json({"success": True, "action": "completions", "path": shown})
    else:
        call.out.say(f"written: {shown}; new shells have it")
    return 0


def _place(shell: str) -> Path:
    variable, usual, rest = _PLACES[shell]
    base = os.environ.get(variable)
    return (Path(base) if base and os.path.isabs(base) else home() / usual) / rest
