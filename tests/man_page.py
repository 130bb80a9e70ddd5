"""The man page, made from the parsers and the tables of the reference; `python -m tests.readme` writes it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from team_console import __version__
from team_console.console.cli.help_and_config import ENVIRONMENT, EXIT_STATUSES, FILES
from team_console.console.cli.main import BY_NAME, PROGRAM, VERBS, Verb, parser_for

PAGE = Path(__file__).resolve().parents[1] / "docs" / f"{PROGRAM}.1"


def man_page() -> str:
    """The page in the man macros that groff and mandoc understand."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH TEAM\\-CONSOLE 1 "" "{PROGRAM} {__version__}" "User Commands"'
    yield from (
        ".SH NAME",
        f"{PROGRAM} \\- decide what AI agents ask, in one terminal screen".replace("team-", "team\\-"),
    )
    yield from (".SH SYNOPSIS", f".B {PROGRAM}", "[\\fB\\-t\\fR \\fILOCATION\\fR] [\\fB\\-\\-as\\fR \\fINAME\\fR]")
    yield from ("[\\fB\\-\\-json\\fR] [\\fB\\-\\-read\\-only\\fR]", "[\\fIVERB\\fR ...]")
    yield from (".SH DESCRIPTION", "Without a verb it opens the console on the nearest team above the current folder.")
    yield _text("A location is a folder, PATH.db or postgresql://USER@HOST/DATABASE.")
    yield from (".SH OPTIONS", *_arguments(parser_for(None)._actions))
    for group in dict.fromkeys(verb.group for verb in VERBS if verb.group):
        yield f".SH {group.upper()}"
        for verb in (verb for verb in VERBS if verb.group == group):
            description = parser_for(verb).description or ""
            yield from (f".SS {verb.name}", ".nf", *map(_text, description.splitlines()), ".fi")
            yield from _arguments(own_arguments(verb))
    for title, rows in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES), ("EXIT STATUS", EXIT_STATUSES)):
        yield f".SH {title}"
        for name, meaning in rows.items():
            yield from (".TP", f".B {_text(name)}", _text(meaning))
    yield from (".SH EXAMPLES", "The first example of each verb; the others are at the verbs.", ".P", ".nf")
    yield from (_text(examples(verb.name)[0]) for verb in VERBS if verb.group)
    yield ".fi"
    yield from (".SH SEE ALSO", _text(f"{PROGRAM} help keys, {PROGRAM} help settings, {PROGRAM} help json VERB"))


def examples(verb: str) -> list[str]:
    """The commands that the help of a verb shows."""
    lines = (BY_NAME[verb].command.description).splitlines()
    return [line.strip() for line in lines if line.startswith("  ") and f"{PROGRAM} " in line]


def own_arguments(verb: Verb) -> list[argparse.Action]:
    """The arguments of a verb that not every verb takes."""
    everywhere = {tuple(action.option_strings) for action in parser_for(None)._actions}
    return [action for action in parser_for(verb)._actions if tuple(action.option_strings) not in everywhere]


def value_of(action: argparse.Action) -> str:
    """What stands for the value of an argument: the words it may be, or a name."""
    if action.choices:
        return "|".join(map(str, action.choices))
    return action.metavar if isinstance(action.metavar, str) else action.dest


def _arguments(actions: Iterable[argparse.Action]) -> Iterator[str]:
    for action in actions:
        value = "" if action.nargs == 0 else value_of(action)
        flags = ", ".join(f"\\fB{_text(flag)}\\fR" for flag in action.option_strings)
        yield from (".TP", f"{flags} \\fI{_text(value)}\\fR".lstrip() if value else flags)
        yield _text((action.help or "").replace("%%", "%"))


def _text(text: str) -> str:
    """Plain text as roff writes it: nothing of it is a request or an escape."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
