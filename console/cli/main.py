"""Runs one command line: finds the verb in the table of verbs, does it, and turns every ending into an exit status."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module

from msgspec import Struct
from team_console import __version__
from team_console.console.cli.arguments import EVERYWHERE, Parser, VerbCommand, add_argument
from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.streams import OutputLost, columns
from team_console.console.split_verb import split_verb
from team_console.store.model.errors import Code, TeamError, system_failure
from team_console.store.model.names import nearest

PROGRAM = "team-console"

# The verbs: which there are, by heading, and which module does each.


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


_VERBS_BY_HEADING = {
    "Start a team": {
        "open_console.demo": "watch a simulated team at work, in a temporary folder",
        "team.init": "make a new team in a folder, a database file or on a server",
        "team.member": "add, change, remove or list the members in the team's settings",
        "team.migrate": "copy a team with its history to a folder, a database file or a server",
    },
    "Connect agents": {
        "joining.join": "connect an agent: Claude Code, Codex, Qwen Code, an MCP client or a shell",
        "joining.leave": "undo join: remove its entries from the settings of clients",
        "agents.instructions": "print what the model of an agent must know to be a member",
        "agents.mcp": "serve the tools of an agent to an MCP client",
        "agents.hook": "answer one event of Claude Code, Codex or Qwen Code on standard input",
        "agents.sendmessage": "read SendMessage JSON on standard input, one document or several",
        "agents.route": "read one orchestrator JSON document on standard input",
    },
    "Talk": {
        "sending.send": "send a message, one delivery per recipient",
        "sending.broadcast": "send one message to every member; shows first who will get it",
        "receiving.receive": "take an agent's pending messages: each is printed, archived and marked read",
        "receiving.ack": "acknowledge delivered or claimed messages as read",
    },
    "Ask and decide": {
        "asking.plan": "submit a plan for approval; prints the request id",
        "asking.ask": "ask the human a question, with options; --wait prints the answer",
        "asking.verdict": "show the state of one request; --wait waits until it is decided",
        "decide.approve": "approve open requests: once, always, or edited",
        "decide.reject": "reject open requests, with a reason",
        "decide.askback": "ask the asker about an open request, which stays open",
        "decide.grant": "answer the same permission again as you decided, for a limited time",
        "decide.grants": "list the grants; recall one",
        "decide.answer": "answer a question with its options or in your own words",
        "asking.withdraw": "take back an open request of your own",
        "asking.shutdown": "ask agents to stop; --all asks one after the other",
    },
    "Look": {
        "show.show": "show a whole message or request with its thread",
        "look.requests": "list the requests: who asked whom, how long ago, the answer",
        "look.roster": "list the agents: role, state, unread messages, last seen",
        "look.status": "show the team on one screen: condition, what needs you, problems",
        "look.inbox": "list an agent's messages without changing them",
        "look.history": "print archived and live messages as log, JSON or CSV",
        "decisions.decisions": "list the decisions: who decided what, and what proves it",
        "decisions.evidence": "print what a human signed for a request, and the command that checks it",
        "look.digest": "show what happened since a time: decided, done, failed, waiting",
        "watching.watch": "print one line for each change, for pipes and logs",
        "checking.check": "list damage, and departures from the protocols",
    },
    "Deliver": {
        "deliver.deliver": "push due messages to their agents; --loop continues",
        "deliver.failures": "list messages that could not be delivered, with their errors",
        "deliver.retry": "try failed messages again",
        "deliver.redirect": "send undelivered messages to another agent",
        "deliver.discard": "move dead letters from the queue to the history",
        "deliver.recall": "take back messages that nobody has received yet",
        "team.clear": "archive old finished messages and remove them from the queue",
    },
    "The program itself": {
        "open_console.serve": "show the console in a browser on this machine, behind a token",
        "help_and_config.config": "show or check your own settings; print schemas of settings for editors",
        "help_and_config.help": "explain a verb, keys, settings, files, variables, exit codes, or the JSON of a verb",
        "completions.completions": "print or install the completion script for bash, zsh or fish",
    },
    "": {
        "completions._complete": "print what a shell may complete a command line with",
    },
}
"""Heading in the help -> module and name of each verb -> what it does: the only place a new verb is named.

A verb whose imports cost its neighbours a start is done by another module than they are."""


def _verbs() -> Iterator[Verb]:
    """Yield the verbs of the table, in its order."""
    for heading, verbs in _VERBS_BY_HEADING.items():
        for place, does in verbs.items():
            module, _, name = place.partition(".")
            yield Verb(name, heading, does, module)


VERBS = tuple(_verbs())
BY_NAME = {verb.name: verb for verb in VERBS}


def find_verb(name: str) -> Verb:
    """Return the verb called `name`.

    Raises:
        TeamError: `USAGE`, with what was most likely meant as a hint: a team's place, one of several verbs, or a verb
            by another program's word or by its letters.
    """
    if name in BY_NAME:
        return BY_NAME[name]
    several = [verbs for words, verbs in _AMBIGUOUS_WORDS.items() if name.lower() in words.split()]
    meant = VERB_OF_WORD.get(name.lower()) or nearest(name, [verb.name for verb in VERBS if verb.group])
    if "/" in name or "." in name:
        hint = f"To open the team there: {PROGRAM} -t {shlex.quote(name)}"
    elif several:
        hint = f"Did you mean {' or '.join(repr(f'{PROGRAM} {verb}'.rstrip()) for verb in several[0])}?"
    else:
        hint = f"Did you mean '{PROGRAM} {meant}'?" if meant else f"{PROGRAM} --help lists the verbs."
    raise UsageError(f"there is no verb {name!r}", hint)


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


# Parser and help of a verb.


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
                add_argument(group, one)
    everywhere = parser.add_argument_group("everywhere")
    for one in EVERYWHERE:
        add_argument(everywhere, one)
    return parser


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


# One command line, from its words to its exit status.

_INTERRUPTED = 130
_BROKEN_PIPE = 141
"""Exit statuses, as a shell has them for a program that a signal ended."""


def run(argv: Sequence[str]) -> int:
    """Do what `argv` asks. Never raises; no traceback reaches the user unless `TEAM_CONSOLE_DEBUG` asks for it.

    Returns:
        The exit status.
    """
    call = Call(as_json="--json" in _options(argv))
    try:
        status = _status_of(argv, call)
        call.flush()
        return status
    except BrokenPipeError:
        call.abandon()
        return _BROKEN_PIPE
    except OutputLost as error:
        call.abandon()
        call.note(f"{error}; what was asked for is done, only its result could not be printed")
        return 1
    except KeyboardInterrupt:
        call.abandon()
        return _INTERRUPTED


def _status_of(argv: Sequence[str], call: Call) -> int:
    """Do what `argv` asks, or print why not; returns the exit status.

    Raises:
        BrokenPipeError, OutputLost: Nobody can be told.
    """
    try:
        return _dispatch(argv, call)
    except SystemExit as ending:  # argparse after --help, or a signal that ends the demo
        return ending.code if isinstance(ending.code, int) else 0
    except (OutputLost, BrokenPipeError):
        raise
    except Exception as error:
        refused = _user_error(error)
        if refused is None:
            return _report_defect(error, call)
        # A script that reads the three keys of the source reads them in any case.
        if split_verb(argv)[0] == "receive":
            refused.facts |= {"messages": [], "count": 0, "status_message": refused.message}
        call.failure(refused)
        return refused.exit_code


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
            from team_console.console.cli.open_console import open_console  # 10 ms: what reads ahead of the screen

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


def _report_defect(error: Exception, call: Call) -> int:
    """Log a defect of ours and say so in one line; its own words may quote a message, so they are not printed.

    Returns:
        The exit status.
    """
    import traceback  # with what follows 2 ms, for a defect

    from team_console.console.defects import defect_error

    if os.environ.get("TEAM_CONSOLE_DEBUG"):
        traceback.print_exc(file=sys.stderr)
    defect = defect_error(error, where="the command line")
    if call.as_json:
        call.json(defect)
    else:
        call.note(f"team-console: unexpected {defect['message']}", f"  {defect['hint']}")
    return 1
