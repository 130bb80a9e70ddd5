"""The verbs: which there are, by group, what each takes, and which module does it.

A group is a module of `team_console.console.cli`, imported when one of its verbs is used. It has a `@verb` for each:
`do_NAME`, below the arguments that it takes; the docstring is the description that `--help` prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError

if TYPE_CHECKING:
    from team_console.console.cli.call import Call


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
            raise TeamError(Code.USAGE, f"{name} {said} is not a number of seconds", f"For example {name} 30.")
        return value

    return arg(name, help, type=number, metavar="SECONDS", **options)


class Command(Struct, frozen=True):
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
        """What `--help` says above the arguments."""
        return (self.run.__doc__ or "").replace("\n    ", "\n") + self.more


def verb(
    *arguments: Arg | tuple[Arg, ...], more: str = "", epilog: str = ""
) -> Callable[[Callable[[Call], int | None]], Command]:
    """Make a function the command of a verb that takes `arguments`."""
    return lambda run: Command(run, arguments, more, epilog)


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
    def command(self) -> Command:
        """What it takes and does; imports its module."""
        module = import_module(f"team_console.console.cli.{self.module}")
        command: Command = getattr(module, f"do_{self.name.strip('_')}")
        return command


_GROUPS = {
    ("Start a team", "team"): {
        "demo": "watch a simulated team at work, in a temporary folder",
        "init": "make a new team in a folder, a database file or on a server",
        "member": "add, change, remove or list the members in the team's settings",
        "migrate": "copy a team with its history to a folder, a database file or a server",
    },
    ("Connect agents", "joining"): {
        "join": "let a real agent join: Claude Code, Codex, an MCP client or a shell",
        "leave": "undo join: remove what it put into the settings of clients",
    },
    ("Connect agents", "agents"): {
        "instructions": "print what the model of an agent must know to be a member",
        "mcp": "serve the tools of an agent to an MCP client",
        "hook": "answer one event of Claude Code or Codex on standard input",
        "sendmessage": "take SendMessage JSON on standard input, one document or several",
        "route": "take one orchestrator JSON document on standard input",
    },
    ("Talk", "talk"): {
        "send": "send a message, one delivery per recipient",
        "broadcast": "send one message to every member; shows first who will get it",
        "receive": "take an agent's pending messages: each is printed, archived and marked read",
        "ack": "acknowledge delivered or claimed messages as read",
    },
    ("Ask and decide", "decide"): {
        "plan": "hand in a plan for approval; prints the request id",
        "ask": "put a question to the human, with options; --wait prints the answer",
        "verdict": "show how one request stands; --wait waits until it is decided",
        "approve": "answer an open request with yes: once, always, or edited",
        "reject": "answer an open request with no, and say why",
        "askback": "ask the asker something about an open request, which stays open",
        "grant": "answer the same permission again as you decided, for a limited time",
        "grants": "list the grants; recall one",
        "answer": "answer a question with its options or in your own words",
        "withdraw": "take back an open request of your own",
        "shutdown": "ask agents to stop; --all asks one after the other",
    },
    ("Look", "look"): {
        "show": "show a whole message or request with its thread",
        "evidence": "print what a human signed for a request, and the command that checks it",
        "requests": "list the requests: who asked whom, how long ago, what was answered",
        "decisions": "list the decisions: who decided what, and what proves it",
        "roster": "list the agents: role, state, unread messages, last seen",
        "status": "show the team on one screen: condition, what needs you, problems",
        "inbox": "list an agent's messages without touching them",
        "history": "print archived and live messages as log, JSON or CSV",
        "digest": "show what happened since a time: decided, done, failed, waiting",
        "watch": "print one line for each change, for pipes and logs",
        "check": "list damage, and what breaks the rules of the protocols",
    },
    ("Deliver", "router"): {
        "deliver": "push due messages to their agents; --loop goes on",
    },
    ("Deliver", "deliver"): {
        "failures": "list what could not be delivered, with its errors",
        "retry": "try failed messages again",
        "redirect": "send undelivered messages to another agent",
        "discard": "move messages that failed for good out of the queue, into the history",
        "recall": "take back messages that nobody has received yet",
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
