"""Joining of a real client to the team of a scenario, by the command that everybody uses."""

from __future__ import annotations

from tests.proofs.clients.scenario import AGENT, Scenario


def join_claude(scenario: Scenario, name: str = AGENT) -> None:
    """Sessions of Claude Code in the project of the scenario are `name`."""
    scenario.verb("join", name, "--for", "claude", "--project")


def join_codex(scenario: Scenario, name: str = AGENT) -> None:
    """Sessions of Codex are `name`."""
    scenario.verb("join", name, "--for", "codex", "--user")
