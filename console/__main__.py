"""The command `team-console`, also `python -m console`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from team_console import __version__


def command() -> int:
    """Run the command line with the arguments of this process; returns its exit status.

    A client's hook has a start of its own: it is called for every event, and most of them need nothing. So have
    `mcp`, whose client does not wait for it, and `--version`, by which scripts see whether we are there.
    """
    if sys.argv[1:] == ["--version"] and _say_version():
        return 0
    try:
        if "hook" in sys.argv:
            from team_console.console.clients.start import is_hook, run_hook

            # guard: hook-start-of-its-own
            if is_hook(sys.argv[1:]):
                return run_hook(sys.argv[1:])
        if "mcp" in sys.argv:
            from team_console.console.mcp.start import is_mcp, run_mcp

            if is_mcp(sys.argv[1:]):
                return run_mcp(sys.argv[1:], _run)
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


def _run(words: Sequence[str]) -> int:
    from team_console.console.cli.main import run

    return run(words)


def _say_version() -> bool:
    """Print it; False where standard output takes nothing, which the command line then tells."""
    try:
        text = f"team-console {__version__}\n".encode()
        return os.write(1, text) == len(text)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(command())
