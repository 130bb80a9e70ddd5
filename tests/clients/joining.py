"""Joining of a real client to the team of a stage."""

from __future__ import annotations

import json

from tests.clients.stage import AGENT, Stage
from tests.conftest import COMMAND

_LIMITS = {"PermissionRequest": 600, "SessionEnd": 2}


def join_claude(stage: Stage, name: str = AGENT) -> None:
    """Claude Code's sessions in the project of the stage are `name`."""
    words = " ".join([*COMMAND, "-t", str(stage.team), "--as", name, "hook", "--client", "claude-code"])
    events = (
        *("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"),
        *("PermissionRequest", "PermissionDenied", "Stop", "SubagentStart", "SubagentStop", "TeammateIdle"),
    )
    hooks = {event: [{"matcher": "", "hooks": [_hook(words, _LIMITS.get(event, 60))]}] for event in events}
    hooks["Stop"][0]["hooks"].append({**_hook(f"{words} --wake", 86400), "asyncRewake": True})
    folder = stage.place.home / ".claude"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))


def join_codex(stage: Stage, name: str = AGENT) -> None:
    """Codex's sessions are `name`."""
    words = " ".join([*COMMAND, "-t", str(stage.team), "--as", name, "hook", "--client", "codex"])
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop")
    hooks = {event: [{"matcher": "", "hooks": [_hook(words, _LIMITS.get(event, 60))]}] for event in events}
    (stage.place.home / ".codex" / "hooks.json").write_text(json.dumps({"hooks": hooks}))


def _hook(command: str, seconds: int) -> dict[str, object]:
    return {"type": "command", "command": f"{command} --timeout {seconds}", "timeout": seconds}
