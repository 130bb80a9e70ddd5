"""Which verbs there are, what each is for, and which module does it: the only place a new verb is named."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

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
        module: Module under `team_console.console.cli` with the verbs of one group, imported only when one of them is
            used: `add_NAME_arguments` and `do_NAME`.
    """

    name: str
    group: str
    help: str
    module: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the verb's own options and arguments."""
        getattr(self._loaded(), f"add_{self.name.strip('_')}_arguments")(parser)

    @property
    def run(self) -> Callable[[Call], int]:
        """Does the verb; returns the exit status."""
        run: Callable[[Call], int] = getattr(self._loaded(), f"do_{self.name.strip('_')}")
        return run

    def _loaded(self) -> ModuleType:
        return import_module(f"team_console.console.cli.{self.module}")


_TEAM = "Start a team"
_AGENTS = "Connect agents"
_TALK = "Talk"
_DECIDE = "Ask and decide"
_LOOK = "Look"
_ROUTE = "Deliver"
_TOOLS = "The program itself"

VERBS: tuple[Verb, ...] = (
    Verb("demo", _TEAM, "watch a simulated team at work, in a temporary folder", "tools"),
    Verb("init", _TEAM, "make a new team in a folder, a database file or on a server", "team"),
    Verb("member", _TEAM, "add, change, remove or list the members in the team's settings", "team"),
    Verb("migrate", _TEAM, "copy a team with its history to a folder, a database file or a server", "team"),
    Verb("join", _AGENTS, "let a real agent join: Claude Code, Codex, an MCP client or a shell", "agents"),
    Verb("leave", _AGENTS, "take out again what join put into the settings of clients", "agents"),
    Verb("instructions", _AGENTS, "print what the model of an agent must know to be a member", "agents"),
    Verb("mcp", _AGENTS, "serve the tools of an agent to an MCP client", "agents"),
    Verb("hook", _AGENTS, "answer one event of Claude Code or Codex on standard input", "agents"),
    Verb("sendmessage", _AGENTS, "take SendMessage JSON on standard input, one document or several", "talk"),
    Verb("route", _AGENTS, "take one orchestrator JSON document on standard input", "deliver"),
    Verb("send", _TALK, "send a message, one delivery per recipient", "talk"),
    Verb("broadcast", _TALK, "send one message to every member; says how many deliveries first", "talk"),
    Verb("receive", _TALK, "take an agent's pending messages: shown, archived and marked read", "talk"),
    Verb("ack", _TALK, "acknowledge delivered or claimed messages as read", "talk"),
    Verb("plan", _DECIDE, "hand in a plan for approval; prints the request id", "decide"),
    Verb("ask", _DECIDE, "put a question to the human, with options; --wait prints the answer", "decide"),
    Verb("verdict", _DECIDE, "say how one request stands; --wait waits until it is decided", "decide"),
    Verb("approve", _DECIDE, "answer an open request with yes: once, always, or edited", "decide"),
    Verb("reject", _DECIDE, "answer an open request with no, and say why", "decide"),
    Verb("askback", _DECIDE, "ask the asker something about an open request, which stays open", "decide"),
    Verb("grant", _DECIDE, "let the same permission be answered again as you decided, until an end", "decide"),
    Verb("grants", _DECIDE, "list the grants; recall one", "decide"),
    Verb("answer", _DECIDE, "choose options of a question, or answer in own words", "decide"),
    Verb("withdraw", _DECIDE, "take back an open request of one's own", "decide"),
    Verb("shutdown", _DECIDE, "ask agents to stop; --all asks one after the other", "decide"),
    Verb("show", _LOOK, "show a whole message or request with its thread", "look"),
    Verb("evidence", _LOOK, "print what a human signed for a request, and the command that checks it", "look"),
    Verb("requests", _LOOK, "list the requests: who asked whom, how long ago, what was answered", "look"),
    Verb("decisions", _LOOK, "list who decided what, on what, and what proves it", "look"),
    Verb("roster", _LOOK, "list the agents: role, state, unread messages, last seen", "look"),
    Verb("status", _LOOK, "show the team on one screen: condition, what needs you, problems", "look"),
    Verb("inbox", _LOOK, "list an agent's messages without touching them", "look"),
    Verb("history", _LOOK, "print archived and live messages as log, JSON or CSV", "look"),
    Verb("digest", _LOOK, "tell what happened since a moment: decided, done, failed, waiting", "look"),
    Verb("watch", _LOOK, "print one line per change, for pipes and logs", "look"),
    Verb("check", _LOOK, "list what departs from the protocols or is damaged", "look"),
    Verb("deliver", _ROUTE, "push due messages to their agents; --loop goes on", "deliver"),
    Verb("failures", _ROUTE, "list what could not be delivered, with its errors", "deliver"),
    Verb("retry", _ROUTE, "try failed messages again", "deliver"),
    Verb("redirect", _ROUTE, "give undelivered messages to another agent", "deliver"),
    Verb("discard", _ROUTE, "take dead letters out of the queue, into the history", "deliver"),
    Verb("recall", _ROUTE, "take back messages that nobody has got yet", "deliver"),
    Verb("clear", _ROUTE, "archive and remove what ended long ago", "deliver"),
    Verb("serve", _TOOLS, "show the console in a browser on this machine, behind a token", "tools"),
    Verb("config", _TOOLS, "show or check your own settings; print schemas of settings for editors", "tools"),
    Verb(
        "help", _TOOLS, "explain a verb, keys, settings, files, variables, exit codes, or the JSON of a verb", "tools"
    ),
    Verb("completions", _TOOLS, "print or install the completion script for bash, zsh or fish", "tools"),
    Verb("_complete", "", "print words for a completion script", "tools"),
)

BY_NAME = {verb.name: verb for verb in VERBS}
