"""The command `team-console`, also `python -m console`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line with the arguments of this process; returns its exit status."""
    from console.cli.main import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
