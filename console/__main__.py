"""The command `team-console`, also `python -m console`."""

from __future__ import annotations

import gc
import sys

_COLLECT_AFTER = 50_000


def main() -> int:
    """Run the command line with the arguments of this process; returns its exit status.

    Imports allocate much that stays, so the collector's small first threshold would only cost time.
    """
    gc.set_threshold(_COLLECT_AFTER)
    try:
        from team_console.console.cli.main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
