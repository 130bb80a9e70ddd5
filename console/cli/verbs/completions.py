"""`completions`: the completion script for a shell, made from the verbs' own options."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.call import Call


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the shell, and say how to install the script."""
    parser.description = (
        "Print a completion script. To install it:\n\n"
        "  bash: team-console completions bash > ~/.local/share/bash-completion/completions/team-console\n"
        "  zsh:  team-console completions zsh > ~/.zfunc/_team-console     (a folder in $fpath)\n"
        "  fish: team-console completions fish > ~/.config/fish/completions/team-console.fish"
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def run(call: Call) -> int:
    """Print the script."""
    from team_console.console.cli.manual.completion_scripts import script

    call.out.say(script(call.options.shell).rstrip("\n"))
    return 0
