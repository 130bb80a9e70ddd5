"""The real clients: which versions, where they are, and how they are installed, outside of the checkout."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

CLAUDE_VERSION = os.environ.get("TESTED_CLAUDE_VERSION", "2.1.332")
CODEX_VERSION = os.environ.get("TESTED_CODEX_VERSION", "0.171.0")
QWEN_VERSION = os.environ.get("TESTED_QWEN_VERSION", "0.15.10")
"""The pinned versions, unless the environment names others: `TESTED_CLAUDE_VERSION=2.1.340 make clients`."""
VERSIONS = f"Claude Code {CLAUDE_VERSION}, Codex {CODEX_VERSION} and Qwen Code {QWEN_VERSION}"
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
"""What the packages' names call the machines that the clients are built for."""


def folder() -> Path:
    """Where the clients are installed: a folder of the user's cache, never the checkout."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "team-console-clients" / f"claude-{CLAUDE_VERSION}-codex-{CODEX_VERSION}"


def qwen_folder() -> Path:
    """Where Qwen Code is installed, beside the others."""
    return folder().parent / f"qwen-{QWEN_VERSION}"


def claude() -> Path | None:
    """The program of Claude Code; None when it is not installed."""
    path = folder() / "node_modules" / _claude_package() / "claude"
    return path if path.exists() else None


def codex() -> Path | None:
    """The program of Codex; None when it is not installed."""
    package = folder() / "node_modules" / "@openai" / f"codex-linux-{_machine()}"
    return next(package.glob("vendor/*/bin/codex"), None)


def qwen() -> Path | None:
    """The program of Qwen Code, which Node runs; None when it is not installed."""
    path = qwen_folder() / "node_modules" / ".bin" / "qwen"
    return path if path.exists() and shutil.which("node") else None


def missing() -> list[str]:
    """The names of the clients that are not installed."""
    known = (("Claude Code", claude()), ("Codex", codex()), ("Qwen Code", qwen()))
    return [name for name, path in known if path is None]


def install() -> int:
    """Install the pinned versions where they are missing; returns an exit status and says what is there."""
    if not missing():
        print(f"{VERSIONS} are in {folder().parent}")
        return 0
    problem = _unfit() or _run_npm()
    if problem:
        print(f"the real clients are not installed: {problem}", file=sys.stderr)
        return 1
    print(f"installed {VERSIONS} in {folder().parent}")
    return 0


def _unfit() -> str:
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return "they run here on Linux, x86-64 and arm64"
    return "" if shutil.which("npm") else "npm is missing (Debian: apt install npm)"


def _run_npm() -> str:
    wanted = {
        folder(): [f"{_claude_package()}@{CLAUDE_VERSION}", f"@openai/codex@{CODEX_VERSION}"],
        qwen_folder(): [f"@qwen-code/qwen-code@{QWEN_VERSION}"],
    }
    for place, packages in wanted.items():
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}\n')
        words = ["npm", "install", "--no-fund", "--no-audit", "--no-save", "--loglevel=error", *packages]
        done = subprocess.run(words, cwd=place, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            return f"npm ended with status {done.returncode}"
    return f"npm left out {' and '.join(missing())}" if missing() else ""


def _claude_package() -> str:
    return f"@anthropic-ai/claude-code-linux-{_machine()}"


def _machine() -> str:
    return _MACHINES.get(platform.machine(), "x64")
