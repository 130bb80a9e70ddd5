"""Joining of a real client to the team of a stage, by the command that everybody uses."""

from __future__ import annotations

from tests.clients.stage import AGENT, Stage


def join_claude(stage: Stage, name: str = AGENT) -> None:
    """Sessions of Claude Code in the project of the stage are `name`."""
    stage.verb("join", name, "--for", "claude", "--project")


def join_codex(stage: Stage, name: str = AGENT) -> None:
    """Sessions of Codex are `name`."""
    stage.verb("join", name, "--for", "codex", "--user")
