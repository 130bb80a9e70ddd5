"""Runs one command line: finds the verb, does it, and turns every ending into an exit status."""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any, NoReturn

from msgspec import Struct
from team_console import __version__
from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.output import OutputLost, columns
from team_console.console.command_words import split_verb
from team_console.store.model.errors import Code, TeamError, system_failure
from team_console.store.model.names import nearest

# The verbs: which there are, by group, what each takes, and which module does it.

YEAR, DAY = 31_536_000.0, 86_400.0
"""Seconds of the longest wait, and of what must end within a day."""


class Arg(Struct, frozen=True):
    """One option or argument of a verb, as `argparse` takes it.

    Attributes:
        names: Its names with spaces between them.
        source: What a shell completes it from: `files`, or what `_complete` can list, such as `agents`.
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


class Verb(Struct, frozen=True):
    """One verb of the command line.

    Attributes:
        name: The word the user types.
        group: Heading in the help; empty for a verb that help and completions leave out.
        help: What it does, in one line.
        module: The module that does it.
    """

    name: str
    group: str
    help: str
    module: str

    @property
    def command(self) -> VerbCommand:
        """The verb's arguments and function; imports its module."""
        module = import_module(f"team_console.console.cli.{self.module}")
        command: VerbCommand = getattr(module, f"do_{self.name.strip('_')}")
        return command


_GROUPS: dict[tuple[str, str], dict[str, str]] = {
    ("Start a team", "team"): {
        "demo": "watch a simulated team at work, in a temporary folder",
        "init": "make a new team in a folder, a database file or on a server",
        "member": "add, change, remove or list the members in the team's settings",
        "migrate": "copy a team with its history to a folder, a database file or a server",
    },
    ("Connect agents", "joining"): {
        "join": "connect an agent: Claude Code, Codex, Qwen Code, an MCP client or a shell",
        "leave": "undo join: remove its entries from the settings of clients",
    },
    ("Connect agents", "agents"): {
        "instructions": "print what the model of an agent must know to be a member",
        "mcp": "serve the tools of an agent to an MCP client",
        "hook": "answer one event of Claude Code, Codex or Qwen Code on standard input",
        "sendmessage": "read SendMessage JSON on standard input, one document or several",
        "route": "read one orchestrator JSON document on standard input",
    },
    ("Talk", "talk"): {
        "send": "send a message, one delivery per recipient",
        "broadcast": "send one message to every member; shows first who will get it",
        "receive": "take an agent's pending messages: each is printed, archived and marked read",
        "ack": "acknowledge delivered or claimed messages as read",
    },
    ("Ask and decide", "decide"): {
        "plan": "submit a plan for approval; prints the request id",
        "ask": "ask the human a question, with options; --wait prints the answer",
        "verdict": "show the state of one request; --wait waits until it is decided",
        "approve": "approve open requests: once, always, or edited",
        "reject": "reject open requests, with a reason",
        "askback": "ask the asker about an open request, which stays open",
        "grant": "answer the same permission again as you decided, for a limited time",
        "grants": "list the grants; recall one",
        "answer": "answer a question with its options or in your own words",
        "withdraw": "take back an open request of your own",
        "shutdown": "ask agents to stop; --all asks one after the other",
    },
    ("Look", "show"): {
        "show": "show a whole message or request with its thread",
    },
    ("Look", "look"): {
        "requests": "list the requests: who asked whom, how long ago, the answer",
        "roster": "list the agents: role, state, unread messages, last seen",
        "status": "show the team on one screen: condition, what needs you, problems",
        "inbox": "list an agent's messages without changing them",
        "history": "print archived and live messages as log, JSON or CSV",
    },
    ("Look", "decisions"): {
        "decisions": "list the decisions: who decided what, and what proves it",
        "evidence": "print what a human signed for a request, and the command that checks it",
    },
    ("Look", "digest"): {
        "digest": "show what happened since a time: decided, done, failed, waiting",
    },
    ("Look", "watching"): {
        "watch": "print one line for each change, for pipes and logs",
    },
    ("Look", "checking"): {
        "check": "list damage, and departures from the protocols",
    },
    ("Deliver", "deliver"): {
        "deliver": "push due messages to their agents; --loop continues",
    },
    ("Deliver", "failures"): {
        "failures": "list messages that could not be delivered, with their errors",
        "retry": "try failed messages again",
        "redirect": "send undelivered messages to another agent",
        "discard": "move dead letters from the queue to the history",
        "recall": "take back messages that nobody has received yet",
    },
    ("Deliver", "clear"): {
        "clear": "archive old finished messages and remove them from the queue",
    },
    ("The program itself", "tools"): {
        "serve": "show the console in a browser on this machine, behind a token",
        "config": "show or check your own settings; print schemas of settings for editors",
        "help": "explain a verb, keys, settings, files, variables, exit codes, or the JSON of a verb",
        "completions": "print or install the completion script for bash, zsh or fish",
    },
    ("", "tools"): {"_complete": "print what a shell may complete a command line with"},
}
"""Heading and module of each group, and its verbs: the only place a new verb is named.

A verb whose imports cost its neighbours a start has a module of its own."""

VERBS = tuple(
    Verb(name, group, does, module) for (group, module), verbs in _GROUPS.items() for name, does in verbs.items()
)
BY_NAME = {verb.name: verb for verb in VERBS}


_INTERRUPTED = 130
_BROKEN_PIPE = 141
"""Exit statuses, as a shell has them for a program that a signal ended."""


def run(argv: Sequence[str]) -> int:
    """Do what `argv` asks. Never raises; no traceback reaches the user unless `TEAM_CONSOLE_DEBUG` asks for it."""
    out = Call(as_json="--json" in _options(argv))
    try:
        try:
            status = _dispatch(argv, out)
            out.flush()
            return status
        except SystemExit as ending:  # argparse after --help, or a signal that ends the demo
            out.flush()
            return ending.code if isinstance(ending.code, int) else 0
        except (OutputLost, BrokenPipeError, KeyboardInterrupt):
            raise
        except Exception as error:
            refused = _user_error(error)
            if refused is None:
                return _report_defect(error, out)
            # A script that reads the three keys of the source reads them in any case.
            if split_verb(argv)[0] == "receive":
                refused.facts |= {"messages": [], "count": 0, "status_message": refused.message}
            out.failure(refused)
            out.flush()
            return refused.exit_code
    except BrokenPipeError:
        out.abandon()
        return _BROKEN_PIPE
    except OutputLost as error:
        out.abandon()
        out.note(f"{error}; what was asked for is done, only its result could not be printed")
        return 1
    except KeyboardInterrupt:
        out.abandon()
        return _INTERRUPTED


def _dispatch(argv: Sequence[str], call: Call) -> int:
    """Read the command line and do its verb, or open the console without one; returns the exit status.

    Raises:
        TeamError: `USAGE`; what the verb raises.
    """
    for word in argv:  # in a message lone surrogates would end up that no other reader accepts
        if not word.isascii() and any("\ud800" <= item <= "\udfff" for item in word):
            text = f"argument {word!r} is not text in the encoding of this terminal"
            raise UsageError(text, "Give it as UTF-8, or hand the content in on standard input with '-'.")
    name, rest = split_verb(argv)
    if name is None and {"-h", "--help"} & {*_options(rest)}:
        call.write(overview())
        return 0
    verb = find_verb(name) if name is not None else None
    call.options = parser_for(verb).parse_args(rest)
    if call.options.version:
        call.say(f"team-console {__version__}")
        return 0
    try:
        if verb is None:
            from team_console.console.cli.opening import open_console  # 10 ms: what reads ahead of the screen

            return open_console(call)
        return verb.command.run(call) or 0
    finally:
        call.close()


def _options(argv: Sequence[str]) -> Sequence[str]:
    """Return words that can be options: nothing behind `--` is one."""
    return argv[: argv.index("--")] if "--" in argv else argv


def _user_error(error: Exception) -> TeamError | None:
    """Return the error object for what a user can do something about; None for a defect of ours."""
    if isinstance(error, MemoryError):
        hint = "Free some, or raise the limit; try again."
        return TeamError(Code.STORE_FAILED, "there is not enough memory", hint)
    return error if isinstance(error, TeamError) else system_failure(error)


def _report_defect(error: Exception, out: Call) -> int:
    """Log a defect of ours and say so in one line; its own words may quote a message, so they are not printed."""
    import traceback  # with what follows 2 ms, for a defect

    from team_console.console.faults import refusal

    if os.environ.get("TEAM_CONSOLE_DEBUG"):
        traceback.print_exc(file=sys.stderr)
    out.report_defect(refusal(error, where="the command line"))
    return 1


# Arguments: global flags before or after the verb, the verb's own options after it.

PROGRAM = "team-console"


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are the user's one error object."""

    _given: tuple[str, ...] = ()

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments.

        Raises:
            TeamError: `USAGE`, always.
        """

        meant = meant_option(self, message, self._given)
        raise UsageError(message, meant or self._next_step(message))

    def _next_step(self, message: str) -> str:
        """Return the next step: what lists missing ids, the choice that was meant, or how the verb is called."""
        missing = message.partition("arguments are required: ")[2].split(", ")[0]
        if missing in _FOUND_BY:
            listing = _IDS_LISTED_BY.get(self.prog.rpartition(" ")[2]) if missing == "ID" else None
            return f"{PROGRAM} {listing or _FOUND_BY[missing]} lists them."
        if message.startswith("argument -t/--team"):
            return f"For example: {PROGRAM} -t ./team status"
        given, _, offered = message.partition("invalid choice: ")[2].partition(" (choose from ")
        if meant := nearest(given.strip("'"), re.findall(r"'([^']+)'", offered)):
            return f"Did you mean {meant}?"
        example = next((line for line in (self.description or "").splitlines() if line.startswith("  ")), "")
        if not example:
            return f"{self.prog} --help lists what it takes."
        shown = f"For example: {example.partition('  #')[0].strip()}"
        is_unknown_option = message.startswith("unrecognized arguments: -")
        return f"{shown}. {self.prog} --help lists its options." if is_unknown_option else shown

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse `args`, remembered for the hint of a mistake."""
        self._given = tuple(args or ())
        return super().parse_known_args(args, namespace)


def find_verb(name: str) -> Verb:
    """Return the verb called `name`.

    Raises:
        TeamError: `USAGE`, with the nearest verb as a hint.
    """
    if name in BY_NAME:
        return BY_NAME[name]

    several = next((verbs for words, verbs in _AMBIGUOUS_WORDS.items() if name.lower() in words.split()), None)
    meant = meant_verb(name)
    hint = f"Did you mean '{PROGRAM} {meant}'?" if meant else f"{PROGRAM} --help lists the verbs."
    if several is not None:
        hint = f"Did you mean {' or '.join(repr(f'{PROGRAM} {verb}'.rstrip()) for verb in several)}?"
    if "/" in name or "." in name:
        hint = f"To open the team there: {PROGRAM} -t {shlex.quote(name)}"
    raise UsageError(f"there is no verb {name!r}", hint)


def parser_for(verb: Verb | None) -> Parser:
    """Return a parser that knows the global flags and, with a verb, its own options."""
    formatter = partial(argparse.RawDescriptionHelpFormatter, width=columns() - 2)
    parser = Parser(prog=PROGRAM, allow_abbrev=False, formatter_class=formatter)
    if verb is not None:
        command = verb.command
        parser.prog += f" {verb.name}"
        parser.description, parser.epilog = command.description, command.epilog
        for item in command.arguments:
            group = parser.add_mutually_exclusive_group() if isinstance(item, tuple) else parser
            for one in item if isinstance(item, tuple) else (item,):
                _add_argument(group, one)
    everywhere = parser.add_argument_group("everywhere")
    for one in EVERYWHERE:
        _add_argument(everywhere, one)
    return parser


def _add_argument(group: argparse._ActionsContainer, one: Arg) -> None:
    action = group.add_argument(*one.names.split(), help=one.help, **one.options)
    action.complete_from = one.source  # type: ignore[attr-defined]


EVERYWHERE = (
    arg("-t --team", "the team (default: TEAM_CONSOLE_TEAM, else the nearest)", metavar="LOCATION", source="files"),
    arg("--as", "who acts (default: TEAM_CONSOLE_AS, else the lead)", dest="actor", metavar="NAME", source="agents"),
    flag("--json", "print one JSON object, or several with one on each line", dest="as_json"),
    flag("--read-only", "write nothing: no lock, no file"),
    flag("--version", "print the version and exit"),
)
"""The flags that every verb takes."""
REQUEST = arg("request", "the request id", metavar="REQUEST", source="requests")


def agent_arguments(help: str) -> tuple[Arg, Arg]:
    """Let an agent be named as `NAME` or `--agent NAME`; `Call.agent` has it."""
    return (
        arg("named", help, nargs="?", metavar="NAME", source="agents"),
        arg("--agent", "the same", metavar="NAME", source="agents"),
    )


_MORE = """\
More: team-console help VERB, and help keys, settings, config, files, environment, exit-codes, json VERB"""


def overview() -> str:
    """Return the text of `team-console --help`."""
    lines = [
        f"usage: {PROGRAM} [-t LOCATION] [--as NAME] [--json] [--read-only] [VERB ...]",
        "",
        "One terminal screen for the human who leads AI agents. Without a verb it opens the console.",
        "You act as the team's lead, `ceo` unless you chose another name with init --lead.",
    ]
    for group in dict.fromkeys(verb.group for verb in VERBS if verb.group):
        lines += ["", f"{group}:"]
        lines += [f"  {verb.name:<13}{verb.help}" for verb in VERBS if verb.group == group]
    everywhere = parser_for(None)._actions
    rows = [
        (", ".join(action.option_strings) + (f" {action.metavar}" if action.metavar else ""), action.help)
        for action in everywhere
    ]
    return "\n".join([*lines, "", "Everywhere:", *(f"  {flags:<25}{text}" for flags, text in rows), "", _MORE])


# Hints for what was typed wrongly: the verb or option that was meant, and values that begin with a dash.

_OTHER_WORDS = {
    "approve": "accept allow agree yes ok",
    "reject": "deny decline refuse no",
    "answer": "reply respond",
    "shutdown": "stop kill end",
    "roster": "agents who team",
    "history": "log logs archive",
    "watch": "tail follow",
    "inbox": "messages mail",
    "recall": "cancel undo",
    "init": "new create",
    "check": "doctor heal repair",
    "requests": "plans questions permission permissions request todo",
    "send": "message msg write tell",
    "ask": "question",
    "receive": "read get pull fetch",
    "discard": "delete remove rm",
}
"""Words that other programs use for what a verb does; spelling alone would take `reply` for `retry`."""
VERB_OF_WORD = {word: verb for verb, words in _OTHER_WORDS.items() for word in words.split()}
_AMBIGUOUS_WORDS = {
    "list ls": ("requests", "roster", "inbox NAME"),
    "open start run console ui tui": ("", "demo"),
    "exit quit": ("leave NAME", "help exit-codes"),
    "error errors codes status-codes": ("help exit-codes",),
    "setting settings": ("help settings", "config show"),
    "key keys shortcuts": ("help keys",),
    "version": ("--version",),
}
"""Words that can mean one of several verbs; without a verb the console opens."""
_FOUND_BY = {
    "REQUEST": "requests --open",
    "ID|REQUEST": "requests",
    "AGENT": "roster",
    "NAME": "roster",
    "ID": "history --json",
}
"""The verb that lists the values of an argument."""
_IDS_LISTED_BY = {"ack": "inbox NAME", **dict.fromkeys(("retry", "redirect", "discard"), "failures")}
"""The verb that lists the messages that another verb takes, where it is not the history."""
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


def meant_verb(name: str) -> str | None:
    """Return the verb that `name` was most likely meant to be, or None."""
    return VERB_OF_WORD.get(name.lower()) or nearest(name, [verb.name for verb in VERBS if verb.group])


def meant_option(parser: Parser, message: str, given: Sequence[str]) -> str | None:
    """Return the nearest valid option where argparse refused `given` with `message`; None when none is near."""
    options = [name for action in parser._actions for name in action.option_strings]
    if "expected one argument" in message:
        refused = message.removeprefix("argument ").partition(":")[0].split("/")
        for option, value in pairwise(given):
            if option in refused and value.startswith("-") and value not in options:  # it was taken for an option
                return f"A value that begins with a dash is given as {shlex.join([f'{option}={value}'])}"
    words = (word.partition("=")[0] for word in given if word.startswith("--"))
    unknown = [word for word in words if word not in options and len(word) >= 4]
    return next(filter(None, (_meant_by(word, parser, options) for word in unknown)), None)


def _meant_by(word: str, parser: Parser, options: Sequence[str]) -> str | None:
    """Return the next step for one option that there is not, by the name of others, its beginning or its letters; None
    where nothing is near.
    """
    same = (name for names in map(str.split, _SAME_OPTIONS) if word in names for name in names)
    meant_by_others = next((name for name in same if name in options), None)
    if meant_by_others is not None:
        return f"Did you mean {meant_by_others}?"
    alone = next((item.metavar for item in parser._actions if item.metavar == word[2:].upper()), None)
    if alone is not None:
        return f"{alone} is given without {word}: {parser.prog} {alone}"
    near = [name for name in options if name.startswith(word)]
    if len(near) != 1:
        from difflib import get_close_matches  # 1 ms, for a mistake

        near = get_close_matches(word.lower(), options, n=1, cutoff=_NEAR)
    return f"Did you mean {near[0]}?" if near else None
