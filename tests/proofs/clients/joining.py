"""Joining of a real client to the team of a scenario, by the command that everybody uses."""

from __future__ import annotations

from tests.proofs.clients.scenario import AGENT, Scenario

PIPES = "Bash(mkfifo *)"
"""A rule for what the scripted models like to do: in auto mode nobody is asked for it without one."""


def join_claude(scenario: Scenario, name: str = AGENT, *, ask_for: str = PIPES) -> None:
    """Sessions of Claude Code in the project of the scenario are `name`, and ask for these actions."""
    scenario.verb("join", name, "--for", "claude", "--project", "--ask-for", ask_for)


def join_qwen(scenario: Scenario, name: str = AGENT) -> None:
    """Sessions of Qwen Code in the project of the scenario are `name`."""
    scenario.verb("join", name, "--for", "qwen")


def join_codex(scenario: Scenario, name: str = AGENT) -> None:
    """Sessions of Codex are `name`."""
    scenario.verb("join", name, "--for", "codex", "--user")
