"""`config`: where the user's own settings are, what holds now, and what is wrong with them."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser

from msgspec.structs import asdict
from team_console.console.cli.call import Call
from team_console.console.cli.manual.settings_reference import settings_text
from team_console.console.cli.printing.output import is_terminal, to_json
from team_console.console.cli.reference import CONFIG, config_schema, team_schema
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_line

_MISTAKES = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "The console's settings of one user: theme, keys, columns, sorting, notices of new decisions.\n"
        "path says where the file is, show prints what holds now as a whole file to start from,\n"
        "check lists every mistake with its line and leaves with 1 when there is one, and\n"
        "schema prints the JSON Schema of the file for an editor; schema team that of messenger-config.yaml."
    )
    parser.epilog = "The settings:\n\n" + "\n".join(settings_text(CONFIG))
    parser.add_argument(
        *("what",), nargs="?", choices=("path", "show", "check", "schema"), default="show", help="(default: show)"
    )
    parser.add_argument(
        "of", nargs="?", choices=("user", "team"), help="whose settings the schema is of (default: user)"
    )


def run(call: Call) -> int:
    """Do one of the four."""
    from team_console.console.input.actions import usual_keys
    from team_console.console.preferences.file import config_path, load
    from team_console.console.preferences.show import as_toml

    path, what = safe_line(str(config_path()), 1000), call.options.what
    if what == "schema":
        schema = team_schema() if call.options.of == "team" else config_schema()
        call.out.say(to_json(schema, indent=2 if is_terminal(sys.stdout) else None))
        return 0
    if call.options.of:
        raise TeamError(Code.USAGE, f"{what} is of the user's settings alone", "Only schema knows those of a team.")
    if what == "path":
        if call.out.as_json:
            call.out.json({"path": path, "exists": os.path.exists(config_path())})
        else:
            call.out.say(path)
        return 0
    checked = load(usual_keys())
    if what == "show" and not call.out.as_json:
        call.out.say(as_toml(checked.preferences, usual_keys()).rstrip("\n"))
        call.out.warn([f"{path}:{mistake.line}: {mistake.message}" for mistake in checked.mistakes])
        return 0
    if call.out.as_json:
        mistakes = [asdict(mistake) for mistake in checked.mistakes]
        call.out.json({"path": path, "exists": checked.exists, "mistakes": mistakes})
    else:
        for mistake in checked.mistakes:
            call.out.say(f"{path}:{mistake.line}: {mistake.message}. {mistake.hint}".rstrip())
        if not checked.mistakes:
            call.out.say(f"{path}: no mistakes" if checked.exists else f"{path} is not there; the defaults hold")
        else:
            call.out.say(counted(len(checked.mistakes), "mistake"))
    return _MISTAKES if what == "check" and checked.mistakes else 0
