"""Finds the programs we compare ourselves with, and installs them when asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "build" / "benchmark-peers"
"""A virtual environment of its own: what peers depend on never meets what we depend on."""
AGENT_MAIL = ROOT / "build" / "benchmark-agent-mail"
"""And one for mcp_agent_mail alone, which brings 130 packages (half a gigabyte)."""


_PROGRAMS = {"neomutt": "neomutt", "inotifywait": "inotify-tools"}
"""Programs of the system -> the Debian package that has them."""


@dataclass(frozen=True, slots=True)
class Peers:
    """What is there; None for what is not.

    Attributes:
        python: Interpreter whose packages are the peers' (group `bench` of pyproject.toml).
        clawteam: ClawTeam's command.
        neomutt: The mail client.
    """

    python: Path | None
    clawteam: Path | None
    neomutt: Path | None

    def has(self, module: str) -> bool:
        """Whether `module` can be imported by the peers' interpreter."""
        if self.python is None:
            return False
        return subprocess.run((self.python, "-c", f"import {module}"), capture_output=True).returncode == 0


def find_peers() -> Peers:
    """Look in our own environment for peers, and on PATH; nothing is installed."""
    python, clawteam, neomutt = FOLDER / "bin/python", FOLDER / "bin/clawteam", shutil.which("neomutt")
    return Peers(
        python=python if python.exists() else None,
        clawteam=clawteam if clawteam.exists() else None,
        neomutt=Path(neomutt) if neomutt else None,
    )


def set_up() -> int:
    """Install what is missing and say what could not be; returns an exit status."""
    problems = [problem for problem in (_install_packages(), _install_programs()) if problem]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def _install_packages() -> str:
    """Install each group of packages into its environment; says what failed."""
    return "; ".join(filter(None, (_install("bench", FOLDER), _install("bench-agent-mail", AGENT_MAIL))))


def _install(group: str, folder: Path) -> str:
    python = folder / "bin/python"
    steps: list[tuple[str | Path, ...]] = [
        (sys.executable, "-m", "venv", folder),
        (python, "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1"),
        (python, "-m", "pip", "install", "--quiet", "--group", f"{ROOT / 'pyproject.toml'}:{group}"),
    ]
    print(f"installing the packages of group {group} into {folder}")
    for step in steps:
        if subprocess.run(step).returncode:
            return f"'{' '.join(map(str, step))}' failed; what it installs is left out of comparisons"
    return ""


def _install_programs() -> str:
    missing = [package for program, package in _PROGRAMS.items() if shutil.which(program) is None]
    if not missing:
        return ""
    names = " ".join(missing)
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return f"missing; install with your system's packages (Debian: apt install {names})"
    print(f"installing {names}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (("apt-get", "update", "-qq"), ("apt-get", "install", "-qq", "--no-install-recommends", *missing)):
        if subprocess.run(step, env=environment, stdout=subprocess.DEVNULL).returncode:
            return f"'{' '.join(step)}' failed; {names} left out of comparisons"
    return ""
