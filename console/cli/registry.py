"""Which verbs there are, what each is for, and which module does it: the only place a new verb is named."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from team_console.console.cli.call import Call


class Verb(Struct, frozen=True):
    """One verb of the command line.

    Attributes:
        name: The word the user types.
        group: Heading in the help; empty for a verb that help and completions leave out.
        help: What it does, in one line.
        module: Module under `team_console.console.cli.verbs`, imported only when the verb is used; behind a colon
            what of it, where it holds several verbs.
    """

    name: str
    group: str
    help: str
    module: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the verb's own options and arguments."""
        self._load().add_arguments(parser)

    @property
    def run(self) -> Callable[[Call], int]:
        """Does the verb; returns the exit status."""
        run: Callable[[Call], int] = self._load().run
        return run

    def _load(self) -> Any:
        module, _, name = self.module.partition(":")
        loaded = import_module(f"team_console.console.cli.verbs.{module}")
        return getattr(loaded, name) if name else loaded


_TEAM = "Start a team"
_AGENTS = "Connect agents"
_TALK = "Talk"
_DECIDE = "Ask and decide"
_LOOK = "Look"
_ROUTE = "Deliver"
_TOOLS = "The program itself"

VERBS: tuple[Verb, ...] = (
    Verb("demo", _TEAM, "watch a simulated team at work, in a temporary folder", "demo"),
    Verb("init", _TEAM, "make a new team in a folder, a database file or on a server", "init"),
    Verb("member", _TEAM, "add, change, remove or list the members in the team's settings", "member"),
    Verb("migrate", _TEAM, "copy a team with its history to a folder, a database file or a server", "migrate"),
    Verb("join", _AGENTS, "let a real agent join: Claude Code, Codex, an MCP client or a shell", "join"),
    Verb("leave", _AGENTS, "take out again what join put into the settings of clients", "leave"),
    Verb("instructions", _AGENTS, "print what the model of an agent must know to be a member", "instructions"),
    Verb("mcp", _AGENTS, "serve the tools of an agent to an MCP client", "mcp"),
    Verb("hook", _AGENTS, "answer one event of Claude Code or Codex on standard input", "hook"),
    Verb("sendmessage", _AGENTS, "take SendMessage JSON on standard input, one document or several", "sendmessage"),
    Verb("route", _AGENTS, "take one orchestrator JSON document on standard input", "route"),
    Verb("send", _TALK, "send a message, one delivery per recipient", "send"),
    Verb("broadcast", _TALK, "send one message to every member; says how many deliveries first", "broadcast"),
    Verb("receive", _TALK, "take an agent's pending messages: shown, archived and marked read", "receive"),
    Verb("ack", _TALK, "acknowledge delivered or claimed messages as read", "ack"),
    Verb("plan", _DECIDE, "hand in a plan for approval; prints the request id", "plan"),
    Verb("ask", _DECIDE, "put a question to the human, with options; --wait prints the answer", "ask"),
    Verb("verdict", _DECIDE, "say how one request stands; --wait waits until it is decided", "verdict"),
    Verb("approve", _DECIDE, "answer an open request with yes: once, always, or edited", "approve"),
    Verb("reject", _DECIDE, "answer an open request with no, and say why", "reject"),
    Verb("answer", _DECIDE, "choose options of a question, or answer in own words", "answer"),
    Verb("withdraw", _DECIDE, "take back an open request of one's own", "withdraw"),
    Verb("shutdown", _DECIDE, "ask agents to stop; --all asks one after the other", "shutdown"),
    Verb("show", _LOOK, "show a whole message or request with its thread", "show"),
    Verb("evidence", _LOOK, "print what a human signed for a request, and the command that checks it", "evidence"),
    Verb("requests", _LOOK, "list the requests: who asked whom, how long ago, what was answered", "requests"),
    Verb("decisions", _LOOK, "list who decided what, on what, and what proves it", "decisions"),
    Verb("roster", _LOOK, "list the agents: role, state, unread messages, last seen", "roster"),
    Verb("status", _LOOK, "show the team on one screen: condition, what needs you, problems", "status"),
    Verb("inbox", _LOOK, "list an agent's messages without touching them", "inbox"),
    Verb("history", _LOOK, "print archived and live messages as log, JSON or CSV", "history"),
    Verb("watch", _LOOK, "print one line per change, for pipes and logs", "watch"),
    Verb("check", _LOOK, "list what departs from the protocols or is damaged", "check"),
    Verb("deliver", _ROUTE, "push due messages to their agents; --loop goes on", "deliver"),
    Verb("failures", _ROUTE, "list what could not be delivered, with its errors", "failures"),
    Verb("retry", _ROUTE, "try failed messages again", "remedies:retry"),
    Verb("redirect", _ROUTE, "give undelivered messages to another agent", "remedies:redirect"),
    Verb("discard", _ROUTE, "take dead letters out of the queue, into the history", "remedies:discard"),
    Verb("recall", _ROUTE, "take back messages that nobody has got yet", "remedies:recall"),
    Verb("clear", _ROUTE, "archive and remove what ended long ago", "clear"),
    Verb("config", _TOOLS, "show or check your own settings; print schemas of settings for editors", "config"),
    Verb("help", _TOOLS, "explain a verb, keys, settings, files, variables, exit codes, or the JSON of a verb", "help"),
    Verb("completions", _TOOLS, "print or install the completion script for bash, zsh or fish", "completions"),
    Verb("_complete", "", "print words for a completion script", "complete"),
)

BY_NAME = {verb.name: verb for verb in VERBS}
