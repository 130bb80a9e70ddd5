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
        words = sys.argv[1:]
        # guard: hook-start-of-its-own
        if is_call_of("hook", words):
            from team_console.console.clients.start import run_hook

            return run_hook(words)
        if is_call_of("mcp", words) and sys.stdin is not None and sys.stdout is not None:
            from team_console.console.mcp.start import run_mcp

            return run_mcp(words, _run)
        return _run(words)
    except KeyboardInterrupt:
        return 130


def is_call_of(verb: str, words: Sequence[str]) -> bool:
    """Return whether these arguments call a verb that reads them itself."""
    if verb not in words or "--help" in words or "-h" in words:
        return False
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = not skip and word in ("-t", "--team", "--as")
            continue
        return word == verb
    return False


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
