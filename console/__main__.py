"""The command `team-console`, also `python -m console`."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from team_console import __version__
from team_console.console.spared_imports import load_msgspec

_COLLECT_AFTER = 50_000


def main() -> int:
    """Run the command line with the arguments of this process; returns its exit status.

    Imports allocate much that stays, so the collector's small first threshold would only cost time. A client's hook
    has a start of its own: it is called for every event, and most of them need nothing. So has `--version`, by which
    scripts see whether we are there.
    """
    if sys.argv[1:] == ["--version"] and _say_version():
        return 0
    gc.set_threshold(_COLLECT_AFTER)
    try:
        if "hook" in sys.argv:
            from team_console.console.clients.quick.start import is_hook, run_hook

            if is_hook(sys.argv[1:]):
                return run_hook(sys.argv[1:], prepare=load_msgspec)
        load_msgspec()
        from team_console.console.cli.main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


def _say_version() -> bool:
    """Print it; False where standard output takes nothing, which the command line then tells."""
    try:
        text = f"team-console {__version__}\n".encode()
        return os.write(1, text) == len(text)
    except OSError:
        return False


def command() -> int:
    """Run the command line and end the process; returns its exit status where that has to be left to Python.

    What Python would take apart piece by piece, the system takes back at once: a tenth of a send. Where threads still
    run, and where the output does not take what is left, it ends as any program does.
    """
    status = main()
    try:
        if "threading" not in sys.modules or sys.modules["threading"].active_count() == 1:
            atexit._run_exitfuncs()
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
            os._exit(status)
    except (OSError, ValueError):
        pass
    return status


if __name__ == "__main__":
    sys.exit(command())
