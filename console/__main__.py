"""The command `team-console`, also `python -m console`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from team_console import __version__
from team_console.console.split_verb import split_verb

_COLLECTED_AFTER = (100_000, 2, 2)
"""New objects after which the collector looks for unused ones; each third time also among older ones. After Python's
own 700 it takes a seventh of the processor time of a key in the console; so it takes next to none, and 10 MB more
memory."""


def command() -> int:
    """Run the command line with the arguments of this process; returns its exit status.

    A client's hook has a start of its own: it is called for every event, and most of them need nothing. So have
    `mcp`, whose client does not wait for it, and `--version`, by which scripts see whether we are there.
    """
    gc.set_threshold(*_COLLECTED_AFTER)
    if sys.argv[1:] == ["--version"] and _say_version():
        return 0
    try:
        words = sys.argv[1:]
        verb = verb_of(words)
        # guard: hook-start-of-its-own
        if verb == "hook":
            from team_console.console.clients.hook_start import run_hook

            return run_hook(words)
        if verb == "mcp" and sys.stdin is not None and sys.stdout is not None:
            from team_console.console.mcp.start import run_mcp

            return run_mcp(words, _run)
        return _run(words)
    except KeyboardInterrupt:
        return 130


def verb_of(words: Sequence[str]) -> str:
    """Return the verb that reads these arguments itself; empty where its help is asked for, or there is none."""
    return "" if {"-h", "--help"} & {*words} else split_verb(words)[0] or ""


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
