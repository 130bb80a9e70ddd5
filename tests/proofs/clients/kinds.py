"""The real clients side by side: how a session of each joins and begins, asks for a command, and shows its dialog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from tests.equipment.terminal import Terminal
from tests.proofs.clients.scenario import AGENT, Scenario
from tests.proofs.clients.sessions import MANUAL, READY, Claude, Codex, Qwen, processes_with
from tests.proofs.clients.turns import Call

PIPES = "Bash(mkfifo *)"
"""A rule for what the scripted models like to do: in auto mode nobody is asked for it without one."""
CODEX_READY = "Ask Codex to do anything"
_QWEN_READY = "Type your message"
_TRUST = "Untrusted MCP server"
"""What later versions of Qwen Code ask before they start a server that a project's settings name."""


def join_claude(scenario: Scenario, name: str = AGENT, *, ask_for: str = PIPES) -> Claude:
    """Let sessions of Claude Code in the project of the scenario be `name`, and ask for these actions."""
    claude = Claude(scenario.place)
    scenario.verb("join", name, "--for", "claude", "--project", "--ask-for", ask_for)
    return claude


def join_codex(scenario: Scenario, name: str = AGENT) -> Codex:
    """Let sessions of Codex be `name`."""
    codex = Codex(scenario.place)
    scenario.verb("join", name, "--for", "codex", "--user")
    return codex


def join_qwen(scenario: Scenario, name: str = AGENT) -> Qwen:
    """Let sessions of Qwen Code in the project of the scenario be `name`."""
    scenario.verb("join", name, "--for", "qwen")
    return Qwen(scenario.place)


def start_claude(
    scenario: Scenario, *arguments: str, mode: str = "auto", ask_for: str = PIPES, teams: bool = False
) -> Terminal:
    """Start a session of the agent, ready for a prompt."""
    claude = join_claude(scenario, ask_for=ask_for)
    client = scenario.watch(claude.start(*arguments, mode=mode, teams=teams))
    scenario.wait_for(client, {"default": MANUAL, "plan": "plan mode on"}.get(mode, READY))
    return client


def start_codex(scenario: Scenario, name: str = AGENT, *, path: str = "") -> Terminal:
    """Start a session of an agent, ready for a prompt; `path` is looked at first for programs."""
    client = scenario.watch(join_codex(scenario, name).start(path=path))
    scenario.wait_for(client, CODEX_READY)
    return client


def start_qwen(scenario: Scenario) -> Terminal:
    """Start a session of the agent, ready for a prompt."""
    client = scenario.watch(join_qwen(scenario).start("--approval-mode", "default"))
    scenario.wait(lambda: _QWEN_READY in client.text or _TRUST in client.text, "prompt")
    if _TRUST in client.text:
        scenario.press_until(client, "\r", lambda: _QWEN_READY in client.text)
    return client


def bash(command: str) -> Call:
    """A shell command that Claude Code asks for."""
    return Call("Bash", {"command": command, "description": "what the test wants"})


def escalated(command: str) -> Call:
    """A shell command that Codex asks for."""
    more = {"sandbox_permissions": "require_escalated", "justification": "the test wants it"}
    return Call("exec_command", {"cmd": command, **more})


def shell(command: str) -> Call:
    """A shell command that Qwen Code asks for."""
    return Call("run_shell_command", {"command": command, "description": "as the test wants", "is_background": False})


def wakers(scenario: Scenario) -> list[int]:
    """Return the processes that wait for mail."""
    return processes_with("hook", "--wake", str(scenario.team))


class Kind(NamedTuple):
    """One client.

    Attributes:
        named: What its requests call it.
        start: Begins a session that asks the team.
        manual: Begins one that asks for everything by itself, as without a rule of ours.
        command: A shell command that it asks for.
        dialog: What stands in its own dialog, which `accept` answers with yes.
        question: Its tool that asks the human a question.
    """

    named: str
    start: Callable[[Scenario], Terminal]
    manual: Callable[[Scenario], Terminal]
    command: Callable[[str], Call]
    dialog: str
    accept: str
    question: str = ""


CLAUDE = Kind(
    *("claude-code", start_claude, partial(start_claude, mode="default", ask_for="none"), bash),
    *("Do you want to proceed?", "\r", "AskUserQuestion"),
)
CODEX = Kind("codex", start_codex, start_codex, escalated, "Would you like to run the following command?", "y")
QWEN = Kind("qwen-code", start_qwen, start_qwen, shell, "Allow execution", "\r", "ask_user_question")
KINDS: Mapping[str, Kind] = {"claude": CLAUDE, "codex": CODEX, "qwen": QWEN}
