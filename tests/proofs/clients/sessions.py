"""Sessions of the real clients: a terminal, a home of their own, a clean environment, the scripted model as vendor."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.equipment.terminal import Terminal
from tests.proofs.clients import packages

READY = "auto mode on"
"""What Claude Code shows in its usual mode once it takes a prompt."""
MANUAL = "? for shortcuts"
"""The same in manual mode."""
_KEY = "sk-ant-api03-made-up-for-tests-and-of-no-use-anywhere-00000000"
_PATH = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client lives in a test.

    Attributes:
        home: Its user's folder.
        project: The folder it works in.
        vendor: Address of the scripted model.
    """

    home: Path
    project: Path
    vendor: str

    def environment(self, **more: str) -> dict[str, str]:
        """All the client gets to see, whatever the environment of the tests holds."""
        return {
            "HOME": str(self.home),
            "PATH": _PATH,
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
            "TMPDIR": "/var/tmp",  # what a project is in lies below /tmp, and must not be taken for scratch space
            **more,
        }


class Claude:
    """Claude Code in a place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        settings = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
            "projects": {str(place.project): {"hasTrustDialogAccepted": True}},
        }
        (place.home / ".claude.json").write_text(json.dumps(settings))

    def start(self, *arguments: str, teams: bool = False, mode: str = "auto") -> Terminal:
        """Start it on a terminal, interactive."""
        return _terminal(self._command(mode, arguments), self.place, self._environment(teams))

    def run(self, prompt: str, *arguments: str, mode: str = "auto") -> subprocess.CompletedProcess[str]:
        """Run it without a terminal until it is through with `prompt`."""
        return _run(self._command(mode, ["-p", prompt, *arguments]), self.place, self._environment(False))

    def _command(self, mode: str, arguments: Sequence[str]) -> list[str]:
        program = packages.claude()
        assert program is not None
        return [str(program), "--permission-mode", mode, *arguments]

    def _environment(self, teams: bool) -> dict[str, str]:
        more = {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"} if teams else {}
        return self.place.environment(
            ANTHROPIC_BASE_URL=self.place.vendor,
            ANTHROPIC_API_KEY=_KEY,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            DISABLE_AUTOUPDATER="1",
            **more,
        )


class Codex:
    """Codex in a place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.folder = place.home / ".codex"
        self.folder.mkdir()
        (self.folder / "config.toml").write_text(
            f'model = "scripted"\nmodel_provider = "loopback"\napproval_policy = "on-request"\n'
            f"[model_providers.loopback]\nname = 'loopback'\nbase_url = '{place.vendor}/v1'\n"
            f"wire_api = 'responses'\nenv_key = 'LOOPBACK_KEY'\n"
            f'[projects."{place.project}"]\ntrust_level = "trusted"\n'
            # One that is killed leaves an empty .git where its sandbox may write: /tmp was a project then.
            f"[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n"
        )

    def start(self, *arguments: str, path: str = "", in_server: bool = False) -> Terminal:
        """Start it on a terminal, interactive; `path` is looked at first for programs.

        Args:
            in_server: Whether its sessions live in its background server, as those of users do; it asks then whether
                to trust our hooks.
        """
        program = packages.codex()
        assert program is not None
        environment = self.place.environment(LOOPBACK_KEY="made-up", PATH=f"{path}:{_PATH}")
        command = [str(program), *([] if in_server else ["--dangerously-bypass-hook-trust"]), *arguments]
        return _terminal(command, self.place, environment)

    def stop_server(self) -> None:
        """End the server and its updater, which outlive every terminal."""
        for pid in processes_with(f"{self.folder}/"):
            os.kill(pid, signal.SIGKILL)

    def run(self, prompt: str, *, again: bool = False) -> subprocess.CompletedProcess[str]:
        """Run it without a terminal until it is through with `prompt`; `again` in its last session."""
        program = packages.codex()
        assert program is not None
        last = ["resume", "--last"] if again else []
        command = [str(program), "--dangerously-bypass-hook-trust", "exec", "--skip-git-repo-check", *last, prompt]
        return _run(command, self.place, self.place.environment(LOOPBACK_KEY="made-up"))


class Qwen:
    """Qwen Code in a place."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def start(self, *arguments: str) -> Terminal:
        """Start it on a terminal, interactive."""
        return _terminal([*self._command(), *arguments], self.place, self._environment())

    def run(self, prompt: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it without a terminal until it is through with `prompt`."""
        return _run([*self._command(), *arguments, "-p", prompt], self.place, self._environment())

    def _command(self) -> list[str]:
        program, node = packages.qwen(), shutil.which("node")
        assert program is not None
        assert node is not None
        return [node, str(program), "--auth-type", "openai", "--model", "scripted"]

    def _environment(self) -> dict[str, str]:
        return self.place.environment(OPENAI_BASE_URL=f"{self.place.vendor}/v1", OPENAI_API_KEY="made-up")


def _terminal(command: Sequence[str], place: Place, environment: Mapping[str, str]) -> Terminal:
    return Terminal([*_cleanly(environment), *command], cwd=place.project, columns=140, lines=50)


def _run(command: Sequence[str], place: Place, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*_cleanly(environment), *command],
        cwd=place.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _cleanly(environment: Mapping[str, str]) -> list[str]:
    """`env -i`: nothing of the tests' own environment reaches a client."""
    return ["env", "-i", *(f"{key}={value}" for key, value in environment.items())]


def processes_with(*texts: str) -> list[int]:
    """The processes in whose command lines all these texts stand."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if all(text in line for text in texts):
            found.append(int(process.name))
    return found
