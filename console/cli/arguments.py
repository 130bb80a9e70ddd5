"""Declares what verbs take (`@verb(arg(...), flag(...))`), and parses it; a mistake becomes one next step."""

from __future__ import annotations

import argparse
import math
import re
import shlex
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from msgspec import Struct
from team_console.console.cli.call import Call, UsageError
from team_console.store.model.names import nearest

YEAR, DAY = 31_536_000.0, 86_400.0
"""In seconds: the most that an option may say, and the most for what a person waits for."""


class Arg(Struct, frozen=True):
    """One option or argument of a verb, as `argparse` takes it.

    Attributes:
        names: Its names with spaces between them.
        source: What a shell completes it from: `files`, or what `completions.py` can list, such as `agents`.
        options: The other parameters of `ArgumentParser.add_argument`.
    """

    names: str
    help: str
    source: str
    options: dict[str, Any]


def arg(names: str, help: str, *, source: str = "", **options: Any) -> Arg:
    """Declare an argument; `options` are those of `add_argument`."""
    return Arg(names, help, source, options)


def flag(names: str, help: str, **options: Any) -> Arg:
    """Declare an option without a value."""
    return arg(names, help, action="store_true", **options)


def seconds(name: str, help: str, most: float = YEAR, *, zero: bool = False, **options: Any) -> Arg:
    """Declare an option that takes a number of seconds above 0, or 0 where `zero` is something, up to `most`."""

    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (0 <= value <= most and (value or zero)):
            said = text if math.isnan(value) else f"{value:g}"
            raise UsageError(f"{name} {said} is not a number of seconds", f"For example {name} 30.")
        return value

    return arg(name, help, type=number, metavar="SECONDS", **options)


EVERYWHERE = (
    arg("-t --team", "the team (default: TEAM_CONSOLE_TEAM, else the nearest)", metavar="LOCATION", source="files"),
    arg("--as", "who acts (default: TEAM_CONSOLE_AS, else the lead)", dest="actor", metavar="NAME", source="agents"),
    flag("--json", "print one JSON object, or several with one on each line", dest="as_json"),
    flag("--read-only", "write nothing: no lock, no file"),
    flag("--version", "print the version and exit"),
)
"""The flags that every verb takes, before or behind its name."""
REQUEST = arg("request", "the request id", metavar="REQUEST", source="requests")


def agent_arguments(help: str) -> tuple[Arg, Arg]:
    """Let an agent be named as `NAME` or `--agent NAME`; `Call.agent` has it."""
    return (
        arg("named", help, nargs="?", metavar="NAME", source="agents"),
        arg("--agent", "the same", metavar="NAME", source="agents"),
    )


class VerbCommand(Struct, frozen=True):
    """What a verb takes and does.

    Attributes:
        run: Does it; returns the exit status, or None for 0.
        arguments: Its own; those in a tuple exclude each other.
        more: What the description goes on with.
        epilog: What the help ends with.
    """

    run: Callable[[Call], int | None]
    arguments: tuple[Arg | tuple[Arg, ...], ...]
    more: str
    epilog: str

    @property
    def description(self) -> str:
        """The text of `--help` above the arguments."""
        return (self.run.__doc__ or "").replace("\n    ", "\n").rstrip() + self.more


def verb(
    *arguments: Arg | tuple[Arg, ...], more: str = "", epilog: str = ""
) -> Callable[[Callable[[Call], int | None]], VerbCommand]:
    """Make a function the command of a verb that takes `arguments`."""
    return lambda run: VerbCommand(run, arguments, more, epilog)


# Parsing: `argparse`, with a next step for whatever it refuses.


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are the user's one error object."""

    _given: tuple[str, ...] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse `args`, remembered for the hint of a mistake."""
        self._given = tuple(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments.

        Args:
            message: What `argparse` says of them; the hint is made of its words, for it has no other form.

        Raises:
            TeamError: `USAGE`, always.
        """
        raise UsageError(message, self._meant_option(message) or self._next_step(message))

    def _next_step(self, message: str) -> str:
        """Return what lists missing ids, the choice that was meant, or how the verb is called."""
        missing = message.partition("arguments are required: ")[2].split(", ")[0]
        if missing in _LISTED_BY:
            by_verb = _MESSAGES_LISTED_BY.get(self.prog.rpartition(" ")[2]) if missing == "ID" else None
            return f"team-console {by_verb or _LISTED_BY[missing]} lists them."
        if message.startswith("argument -t/--team"):
            return "For example: team-console -t ./team status"
        given, _, offered = message.partition("invalid choice: ")[2].partition(" (choose from ")
        # Up to 3.11 Python puts the choices in quotes, later it does not.
        if meant := nearest(given.strip("'"), re.findall(r"[^\s',()]+", offered)):
            return f"Did you mean {meant}?"
        examples = [line for line in (self.description or "").splitlines() if line.startswith("  ")]
        if not examples:
            return f"{self.prog} --help lists what it takes."
        shown = f"For example: {examples[0].partition('  #')[0].strip()}"
        is_unknown_option = message.startswith("unrecognized arguments: -")
        return f"{shown}. {self.prog} --help lists its options." if is_unknown_option else shown

    def _meant_option(self, message: str) -> str | None:
        """Return how an option was meant that was refused with `message`; None when none is near."""
        options = [name for action in self._actions for name in action.option_strings]
        if "expected one argument" in message:
            refused = message.removeprefix("argument ").partition(":")[0].split("/")
            for option, value in pairwise(self._given):
                if option in refused and value.startswith("-") and value not in options:  # it was taken for an option
                    return f"A value that begins with a dash is given as {shlex.join([f'{option}={value}'])}"
        names = [word.partition("=")[0] for word in self._given if word.startswith("--")]
        unknown = [name for name in names if name not in options and len(name) >= 4]
        return next(filter(None, (self._meant_by(name, options) for name in unknown)), None)

    def _meant_by(self, name: str, options: Sequence[str]) -> str | None:
        """Return how an option that there is not was meant: by another program's name for one of `options`, by that of
        an argument, by its beginning or by its letters; None where nothing is near.
        """
        for names in map(str.split, _SAME_OPTIONS):
            known = [other for other in names if other in options]
            if name in names and known:
                return f"Did you mean {known[0]}?"
        argument = name.removeprefix("--").upper()
        if any(action.metavar == argument for action in self._actions):
            return f"{argument} is given without {name}: {self.prog} {argument}"
        near = [option for option in options if option.startswith(name)]
        if len(near) != 1:
            from difflib import get_close_matches  # 1 ms, for a mistake

            near = get_close_matches(name.lower(), options, n=1, cutoff=_NEAR)
        return f"Did you mean {near[0]}?" if near else None


_LISTED_BY = {
    "REQUEST": "requests --open",
    "ID|REQUEST": "requests",
    "AGENT": "roster",
    "NAME": "roster",
    "ID": "history --json",
}
"""Name of an argument -> the verb that lists its values."""
_MESSAGES_LISTED_BY = {"ack": "inbox NAME", **dict.fromkeys(("retry", "redirect", "discard"), "failures")}
"""Verb that takes ids of messages -> the verb that lists them, where it is not the history."""
_SAME_OPTIONS = (
    "--note --reason --comment",
    "--content --text --message --body",
    "--summary --title --subject",
    "--to --recipient --agent",
    "--option --choice",
    "--open --status --state",
)
"""Options that verbs use for one thing, with the words that other programs have for it."""
_NEAR = 0.75
"""Likeness of an option that was meant; with less `--reason` becomes `--read-only`."""


def add_argument(group: argparse._ActionsContainer, one: Arg) -> None:
    """Add an argument to a parser, or to a group of it."""
    action = group.add_argument(*one.names.split(), help=one.help, **one.options)
    action.complete_from = one.source  # type: ignore[attr-defined]
